"""Plans over the roadmap: a route is proposed at once, the denoiser verifies it, trees cross its gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chronoforest.patience import OutOfTime
from chronoforest.planning.gaps import Gaps, OpenGap, PartOf
from chronoforest.planning.limits import within
from chronoforest.planning.plan_search import PlanSearch
from chronoforest.planning.preparation import Prepared
from chronoforest.planning.proposing import Proposer
from chronoforest.planning.result import PlanResult
from chronoforest.planning.verifying import Verifier
from chronoforest.roadmap.verify import Questions, Verdict
from chronoforest.roadmap.ways import Joined
from chronoforest.routing.acceptance import unmet
from chronoforest.search.memory import ForestMemory
from chronoforest.types import (
    Pair,
    Problem,
    RoundObserver,
    RoundStats,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
    TreePicture,
)


class RoadmapSearch(PlanSearch):
    """One call of `plan` over the roadmap: what proposes its route, what verifies it, and its gaps.

    What the roadmap does not connect is left out, until trees that are grown across its gaps join it.
    """

    def __init__(
        self,
        prepared: Prepared,
        problem: Problem,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
        joined: Joined | None = None,
    ) -> None:
        """joined: the roadmap with the problem's anchors in it, if it is at hand."""
        super().__init__(problem, seed)
        self.prepared = prepared
        self.proposer = Proposer(prepared, problem, order, joined)
        self.verifier = Verifier(self.proposer, self.rng)
        self.gaps = Gaps(prepared, problem, memory, seed)

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """Verify a round at a time until every leg is verified or given up, or time is over."""
        while (questions := self.questions(stop, on_round, on_snapshot)) is not None:
            try:
                with within(stop, self.started):
                    (verdicts,) = self.prepared.checker.together([questions])
            except OutOfTime:
                return
            self.take(verdicts)

    def questions(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> Questions | None:
        """End a round: what to ask next about all pieces of the open legs; None when nothing is left to ask,
        or the criterion says so. Gaps are crossed once nothing else is left."""

        def end_round(pairs: tuple[Pair, ...]) -> None:
            self._record(pairs)
            self._tell(on_round, on_snapshot)

        end_round(self.verifier.asked)
        while (questions := self.verifier.questions()) is None:
            if stop(self.rounds) or not self._crosses_gap(stop, end_round):
                return None
            end_round(())
        return None if stop(self.rounds) else questions

    def take(self, verdicts: Sequence[Verdict]) -> None:
        """Take in the answers: ways that are refuted get dearer and the route is solved anew."""
        self.verifier.take(verdicts)

    def _crosses_gap(self, stop: StopCriterion, end_round: Callable[[tuple[Pair, ...]], None]) -> bool:
        """Let trees cross one of the gaps, and start over where they do."""
        part = PartOf(stop, self.rounds, self.seconds)
        roads = self.proposer.roads
        is_crossed = self.gaps.cross(roads, self._open_gaps(), part, lambda leg: end_round((leg,)))
        if is_crossed:
            self.proposer.start_over()
        return is_crossed

    def _open_gaps(self) -> list[OpenGap]:
        now = self.proposer
        return self.gaps.open(now.roads, unmet(now.route, now.found), now.left_out)

    @property
    def _num_expanded(self) -> int:
        return self.verifier.num_asked + self.gaps.num_expanded

    def _record(self, asked: tuple[Pair, ...]) -> None:
        now = self.proposer
        self.rounds.append(
            RoundStats(
                round_index=len(self.rounds),
                route=now.route,
                route_cost=now.route.cost(now.cost),
                pairs=asked,
                accepted=now.proposed.met,
                num_expanded=self._num_expanded,
                num_nodes=sum(len(way.segments) for way in now.found.values()) + self.gaps.num_nodes,
                seconds=self.seconds,
                num_refuted=self.verifier.num_refuted.total(),
                solver_seconds=now.solver.seconds,
            )
        )

    def _trees(self) -> tuple[TreePicture, ...]:
        """What was realised along the route, and what grew across gaps."""
        return (*self.proposer.proposed.pictures(), *self.gaps.trees)

    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round."""
        proposed = self.proposer.proposed
        return Snapshot(
            problem=self.problem,
            stats=self.rounds[-1],
            trees=self._trees(),
            bridge_cost=self.proposer.cost,
            meetings={},
            paths=proposed.paths,
            proposed=proposed.proposed,
        )

    def result(self, preset: str, variant: str) -> PlanResult:
        """The routes, each leg with what speaks for it."""
        proposed, left_out = self.proposer.proposed, self.proposer.left_out
        return PlanResult(
            problem=self.problem,
            routes=proposed.plans(),
            unmet=proposed.unmet,
            rounds=tuple(self.rounds),
            num_expanded=self._num_expanded,
            seconds=self.seconds,
            seed=self.seed,
            variant=variant,
            preset=preset,
            certificate=proposed.certificate(self.proposer.cost),
            trees=self._trees(),
            meetings=np.zeros((0, self.problem.anchors.shape[1])),
            support=self.prepared.support,
            left_out=tuple(self.problem.names[row] for row in left_out),
            gaps=self.gaps.told(self.proposer.roads, self._open_gaps()),
        )
