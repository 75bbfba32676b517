"""The planner: checks a problem, lets a search plan for it, returns the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from chronoforest.data.frames import Frame
from chronoforest.errors import ChronoForestError, InvalidParameter, UnknownVariant
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.anchors import AnchorCheck
from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.criteria import MaxExpansions, MaxRounds, MaxSeconds, checked_stop
from chronoforest.planning.flights import (
    IN_FLIGHT,
    Finished,
    Flights,
    Outcome,
    ResultObserver,
    Task,
)
from chronoforest.planning.inputs import check_memory, check_observers, check_problem, with_seeds
from chronoforest.planning.plan_search import PlanSearch
from chronoforest.planning.preparation import Prepared, prepare
from chronoforest.planning.result import PlanResult
from chronoforest.planning.roadmap_search import RoadmapSearch
from chronoforest.planning.timing import step_times
from chronoforest.planning.variants import VARIANTS, PlannerParams
from chronoforest.roadmap.ways import Joined, Roadmap
from chronoforest.routing.solver import order_from_names
from chronoforest.search.memory import ForestMemory
from chronoforest.typed import check_whole
from chronoforest.types import (
    PlanningModels,
    Problem,
    RoundObserver,
    SnapshotObserver,
    StopCriterion,
)

MOST_ROUNDS = 20
"""Rounds over the roadmap for one leg: trees that join what it does not do so in a few, or in vain."""


__all__ = ["MaxExpansions", "MaxRounds", "MaxSeconds", "Planner", "checked_stop"]


class Planner:
    """Plans for one world from its learned models; the same seed gives the same plan.

    Problems, results and messages are in the user's coordinates. They are turned into the plane of the models
    here, in `plan` and `check`, and back in `plan`; what is watched meanwhile is in the plane.
    """

    def __init__(
        self,
        models: PlanningModels,
        params: PlannerParams,
        name: str = "custom",
        frame: Frame | None = None,
        roadmap: Roadmap | None = None,
        can_verify: bool = True,
        can_refute: bool = True,
    ) -> None:
        """roadmap: of these models, if it is at hand; the first plan makes it otherwise. can_verify: the
        denoiser is good enough to be asked about ways over it; without it they stay proposed. can_refute: so
        good that what it does not realise is doubted; without it that stays proposed, too."""
        self.models = models
        self.params = params
        self.name = name
        self.frame = frame or Frame()
        self.can_verify, self.can_refute = can_verify, can_refute
        self._roadmap = roadmap
        self._prepared: dict[str, Prepared] = {}
        self._prepared_from: tuple[PlanningModels, PlannerParams] = models, params

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: all but what is prepared, which is made again there."""
        return {**self.__dict__, "_prepared": {}}

    def plan(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        stop: StopCriterion | float | None = None,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
        variant: str = DEFAULT_VARIANT,
        order: Sequence[Sequence[str]] | None = None,
        memory: ForestMemory | None = None,
    ) -> PlanResult:
        """Routes through all waypoints, complete when every leg is met before the budget ends.

        stop: ends planning early with the best partial plan, a number after so many seconds; on_round: sees
        every round, on_snapshot also its trees, meetings and bridges; order: names per agent, to plan for a
        given order; memory: reuses trees of earlier calls whose anchors did not move.
        """
        self.check(problem, seed=seed, variant=variant, order=order)
        stop = checked_stop(stop)
        check_observers(on_round=on_round, on_snapshot=on_snapshot)
        check_memory(memory)
        with self._computing():
            search = self._begin(problem.moved(self.frame.to_local), variant, order, memory, seed)
            watch = None if on_round is None else lambda stats, _: on_round(stats, problem)
            search.run(stop or self._default_stop(problem, variant), watch, on_snapshot)
            return self._told(search.result(self.name, variant), problem)

    def plan_many(
        self,
        problems: Iterable[Problem],
        *,
        seeds: int | Iterable[int] = 0,
        stop: StopCriterion | float | None = None,
        on_result: ResultObserver | None = None,
        variant: str = DEFAULT_VARIANT,
    ) -> list[Outcome]:
        """A plan for every problem, each as `plan` makes it with its seed, or the error that `plan` raises.

        The denoiser is asked about many problems at once. seeds: one for each problem, or one for all; stop:
        for each problem, whose seconds are its share of the time; on_result: is told the number of a problem
        and its plan or error, as they finish.
        """
        check_observers(on_result=on_result)
        outcomes: dict[int, Outcome] = {}
        for number, outcome in self.plan_each(problems, seeds, stop=stop, variant=variant):
            outcomes[number] = outcome
            if on_result is not None:
                on_result(number, outcome)
        return [outcomes[number] for number in sorted(outcomes)]

    def plan_each(
        self,
        problems: Iterable[Problem],
        seeds: int | Iterable[int] = 0,
        *,
        stop: StopCriterion | float | None = None,
        variant: str = DEFAULT_VARIANT,
    ) -> Iterator[Finished]:
        """The number of a problem and its plan or error, as they finish; nothing is kept, so that any number
        of problems fits in memory. Otherwise as `plan_many`."""
        self._check_variant(variant, has_order=False)
        tasks = self._tasks(with_seeds(problems, seeds), checked_stop(stop), variant)

        def finish(task: Task, search: PlanSearch) -> PlanResult:
            return self._told(search.result(self.name, variant), task.problem)

        return self._advanced(Flights(tasks, finish))

    def _tasks(
        self, asked: Sequence[tuple[Problem, int]], stop: StopCriterion | None, variant: str
    ) -> Iterator[Task | Finished]:
        """Every problem with its seed as a task, or why it is refused; anchors are joined to the roadmap for
        many problems at once."""
        for first in range(0, len(asked), IN_FLIGHT):
            some = asked[first : first + IN_FLIGHT]
            local = [self._local(problem, seed, variant) for problem, seed in some]
            joined = iter(self._joined([one for one in local if isinstance(one, Problem)], variant))
            for number, ((problem, seed), one) in enumerate(zip(some, local, strict=True), start=first):
                if isinstance(one, Problem):
                    begin = partial(self._begin, one, variant, None, None, seed, next(joined))
                    yield Task(number, problem, seed, begin, stop or self._default_stop(one, variant))
                else:
                    yield number, one

    def _local(self, problem: Problem, seed: int, variant: str) -> Problem | ChronoForestError:
        """A problem in the plane of the models, or why it is refused."""
        try:
            self.check(problem, seed=seed, variant=variant)
        except ChronoForestError as error:
            return error
        return problem.moved(self.frame.to_local)

    def _joined(self, problems: Sequence[Problem], variant: str) -> Sequence[Joined | None]:
        """The roadmap with the anchors of each problem in it, for a variant that plans over it."""
        if not VARIANTS[variant].uses_roadmap:
            return [None] * len(problems)
        return self.prepared(variant).join.each([problem.anchors for problem in problems])

    def _advanced(self, flights: Flights) -> Iterator[Finished]:
        while True:
            with self._computing():
                finished = flights.advance()
            if finished is None:
                return
            yield from finished

    def _told(self, result: PlanResult, problem: Problem) -> PlanResult:
        """The result in the coordinates of the problem, with times along its routes."""
        routes = (
            replace(
                route,
                path=self.frame.to_user(route.path),
                times=self.frame.seconds(step_times(route, self.models.distance, self.params.assembly)),
            )
            for route in result.routes
        )
        return replace(result, problem=problem, routes=tuple(routes), frame=self.frame)

    def snapped(self, problem: Problem) -> tuple[Problem, tuple[str, ...]]:
        """The problem with every anchor that lies outside the support moved to the nearest place in it, and a
        sentence about each that was moved."""
        check_problem(problem)
        return self._anchors.snapped(problem)

    @property
    def _anchors(self) -> AnchorCheck:
        """An anchor may lie as far from recordings as they lie apart where they are thin; but if that is more
        than the room that plans keep, there may be a wall between."""
        thin = min(self.models.gap, self.params.assembly.keep_margin)
        return AnchorCheck(self.models, self.frame, max(self.params.anchor_tolerance, thin))

    def _begin(
        self,
        problem: Problem,
        variant: str,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
        joined: Joined | None = None,
    ) -> PlanSearch:
        """The search for a problem that has been checked; joined: to the roadmap, if it is at hand."""
        prepared = self.prepared(variant)
        if VARIANTS[variant].uses_roadmap:
            return RoadmapSearch(prepared, problem, order, memory, seed, joined)
        return ClosedLoop(prepared, problem, order, memory, seed)

    def _computing(self) -> AbstractContextManager[None]:
        """What surrounds the work of a plan."""
        return nullcontext()

    def prepared(self, variant: str) -> Prepared:
        """The models as a variant uses them, made when it first plans and kept for its later plans."""
        if self._prepared_from[0] is not self.models or self._prepared_from[1] is not self.params:
            self._prepared, self._prepared_from = {}, (self.models, self.params)
            self._roadmap = None
        if variant not in self._prepared:
            chosen = VARIANTS[variant]
            chosen = replace(
                chosen,
                verifies=chosen.verifies and self.can_verify,
                refutes=chosen.refutes and self.can_refute,
            )
            ready = prepare(self.models, self.params, chosen, self._roadmap)
            self._prepared[variant], self._roadmap = ready, ready.roadmap
        return self._prepared[variant]

    def check(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        variant: str = DEFAULT_VARIANT,
        order: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Refuse what `plan` could not plan for, before any work."""
        check_problem(problem)
        self._check_variant(variant, has_order=order is not None)
        check_whole("seed", seed)
        self._anchors.refuse_unsupported(problem)
        self._anchors.refuse_crowded(problem)
        if order is not None:
            order_from_names(order, problem)

    def _check_variant(self, variant: str, has_order: bool) -> None:
        if variant not in VARIANTS:
            raise UnknownVariant(variant, choices=VARIANTS)
        if VARIANTS[variant].needs_order and not has_order:
            raise InvalidParameter(f"variant {variant!r} needs `order`, for example [['S1', 'W1', 'G1']]")

    def _default_stop(self, problem: Problem, variant: str) -> MaxRounds:
        params = VARIANTS[variant].adapt(self.params)
        num_legs = problem.num_waypoints + problem.num_agents
        most = min(params.max_rounds, MOST_ROUNDS) if VARIANTS[variant].uses_roadmap else params.max_rounds
        return MaxRounds(most + params.rounds_per_leg * (num_legs - 1))
