"""The planner: checks a problem, runs the closed loop on it, returns the result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownVariant
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.anchors import AnchorCheck
from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.preparation import Prepared, prepare
from chronoforest.planning.result import PlanResult
from chronoforest.planning.roadmap_search import RoadmapSearch
from chronoforest.planning.timing import step_times
from chronoforest.planning.variants import VARIANTS, PlannerParams
from chronoforest.roadmap.ways import Roadmap
from chronoforest.routing.solver import order_from_names
from chronoforest.search.memory import ForestMemory
from chronoforest.typed import check_seconds, check_whole
from chronoforest.types import (
    PlanningModels,
    Problem,
    RoundObserver,
    RoundStats,
    SnapshotObserver,
    StopCriterion,
)

MOST_ROUNDS = 20
"""Rounds over the roadmap for one leg: trees that join what it does not do so in a few, or in vain."""


@dataclass(frozen=True)
class MaxRounds:
    """Stop after so many rounds."""

    count: int

    def __post_init__(self) -> None:
        check_whole("count", self.count)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        return len(rounds) >= self.count


@dataclass(frozen=True)
class MaxExpansions:
    """Stop once so many leaves were promoted, or none in `patience` rounds: then the count may never come."""

    count: int
    patience: int = 20

    def __post_init__(self) -> None:
        check_whole("count", self.count)
        check_whole("patience", self.patience, least=1)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        spent = [stats.num_expanded for stats in rounds]
        is_stuck = len(spent) > self.patience and spent[-1] == spent[-1 - self.patience]
        return bool(spent) and (spent[-1] >= self.count or is_stuck)


@dataclass(frozen=True)
class MaxSeconds:
    """Stop once so much time went by."""

    seconds: float

    def __post_init__(self) -> None:
        check_seconds("seconds", self.seconds)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether it is spent."""
        return bool(rounds) and self.is_over(rounds[-1].seconds)

    def is_over(self, seconds: float) -> bool:
        """Whether planning shall end within its round; asked before every denoising step."""
        return seconds >= self.seconds


def checked_stop(stop: StopCriterion | float | None) -> StopCriterion | None:
    """A criterion as it is; a number means seconds."""
    if stop is None or callable(stop):
        return stop
    if isinstance(stop, (int, float, np.number)) and not isinstance(stop, bool):
        return MaxSeconds(float(stop))
    raise InvalidParameter(
        f"stop must be seconds such as 2.0, or a criterion such as MaxRounds(10), got {stop!r:.40}"
    )


def check_problem(problem: object) -> None:
    """Refuse what is no problem."""
    if not isinstance(problem, Problem):
        example = "Problem(starts=[[0, 0]], goals=[[9, 9]])"
        raise InvalidProblem(f"problem must be a Problem, such as {example}, got {problem!r:.60}")


def check_observers(on_round: object, on_snapshot: object, memory: object) -> None:
    """Refuse observers that cannot be called and a memory that is none, before any work."""
    for name, observer in (("on_round", on_round), ("on_snapshot", on_snapshot)):
        if observer is not None and not callable(observer):
            raise InvalidParameter(
                f"{name} must be a function that is called every round, got {observer!r:.40}"
            )
    if memory is not None and not isinstance(memory, ForestMemory):
        raise InvalidParameter(
            f"memory must be a ForestMemory() that is kept between plans, got {memory!r:.40}"
        )


class PlanSearch(Protocol):
    """One call of `plan` in progress."""

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """Search until there is nothing left to ask or the criterion says so."""

    def result(self, preset: str, variant: str, seed: int) -> PlanResult:
        """What was found so far."""


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
    ) -> None:
        """roadmap: of these models, if it is at hand; the first plan makes it otherwise. can_verify: the
        denoiser is good enough to be asked about ways over it; without it they stay proposed."""
        self.models = models
        self.params = params
        self.name = name
        self.frame = frame or Frame()
        self.can_verify = can_verify
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
        check_observers(on_round, on_snapshot, memory)
        with self._computing():
            search = self._begin(problem.moved(self.frame.to_local), variant, order, memory, seed)
            watch = None if on_round is None else lambda stats, _: on_round(stats, problem)
            search.run(stop or self._default_stop(problem, variant), watch, on_snapshot)
            return self._told(search.result(self.name, variant, seed), problem)

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
        return AnchorCheck(self.models, self.frame, self.params.anchor_tolerance)

    def _begin(
        self,
        problem: Problem,
        variant: str,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> PlanSearch:
        """The search for a problem that has been checked."""
        begin = RoadmapSearch if VARIANTS[variant].uses_roadmap else ClosedLoop
        return begin(self.prepared(variant), problem, order, memory, seed)

    def _computing(self) -> AbstractContextManager[None]:
        """What surrounds the work of a plan."""
        return nullcontext()

    def prepared(self, variant: str) -> Prepared:
        """The models as a variant uses them, made when it first plans and kept for its later plans."""
        if self._prepared_from[0] is not self.models or self._prepared_from[1] is not self.params:
            self._prepared, self._prepared_from = {}, (self.models, self.params)
            self._roadmap = None
        if variant not in self._prepared:
            chosen = VARIANTS[variant] if self.can_verify else replace(VARIANTS[variant], verifies=False)
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
