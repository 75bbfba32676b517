"""The planner: checks a problem, lets a search plan for it, returns the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.anchors import AnchorCheck, asked, check_arguments, check_problem, with_seeds
from chronoforest.planning.assembly import step_times
from chronoforest.planning.loop import (
    BatchParams,
    MaxExpansions,
    MaxRounds,
    MaxSeconds,
    Outcome,
    Search,
    checked_stop,
    in_turns,
)
from chronoforest.planning.result import PlanResult
from chronoforest.planning.sources import Source
from chronoforest.planning.sources.forest import ForestSource
from chronoforest.planning.sources.roadmap import RoadmapSource
from chronoforest.planning.timetable import departure
from chronoforest.planning.variants import PlannerParams, Prepared, Variant, find_variant, prepare
from chronoforest.planning.verification import Verification, checked_path, verification
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.routing.solver import Order, order_from_names
from chronoforest.search.tree import ForestMemory
from chronoforest.typed import check_whole
from chronoforest.types import (
    Plan,
    PlanningModels,
    Problem,
    RoundObserver,
    SnapshotObserver,
    StopCriterion,
)

ResultObserver = Callable[[int, Outcome], None]
"""Sees the number of every problem and its plan or error."""

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
        """roadmap: of this world, made of the models by the first plan where it is not given; can_verify: the
        denoiser is good enough to be asked about ways over it; without it they stay proposed. can_refute: so
        good that what it does not realise is doubted; without it that stays proposed, too."""
        self.models = models
        self.params = params
        self.name = name
        self.frame = frame or Frame()
        self.can_verify, self.can_refute = can_verify, can_refute
        self.batch = BatchParams()
        self._roadmap = roadmap
        self._prepared: dict[Variant, Prepared] = {}
        self._prepared_from: tuple[PlanningModels, PlannerParams] = models, params

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: all but what is prepared, which is made again there."""
        return {**self.__dict__, "_prepared": {}}

    def plan(
        self,
        problem: Any = None,
        goals: Any = None,
        waypoints: Any = None,
        *,
        starts: Any = None,
        order: Order | Mapping[str, str] | str | None = None,
        snap: bool = False,
        depart: str | datetime | None = None,
        seed: int = 0,
        seconds: float | None = None,
        stop: StopCriterion | None = None,
        variant: str | Variant = DEFAULT_VARIANT,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
        memory: ForestMemory | None = None,
    ) -> PlanResult:
        """Routes through all waypoints, complete when every leg is met before the budget ends.

        problem: a `Problem`, a dict of its parts, or its starts; starts, goals, waypoints: instead of it, as
        `Problem` takes them. order: names or labels of each agent's stops, flat for one agent, to plan for a
        given order, or where single waypoints must be, as {"W1": "agent 2", "W3": "first"}; snap: stops where
        nothing was recorded move to the nearest place where something was; depart: a date and time, with
        which arrivals are times of the clock. seconds, stop: end planning early with the best plan so far;
        variant: by its name or as a value; on_round: sees every round, on_snapshot also its trees, meetings
        and bridges; memory: reuses trees of earlier calls whose stops did not move.
        """
        fix, order = (order, None) if isinstance(order, str | Mapping) else (None, order)
        problem, variant = asked(problem, starts, goals, waypoints, fix), find_variant(variant)
        problem, notices = self.snapped(problem) if snap else (problem, ())
        depart = departure(depart)
        if depart and not self.frame.has_clock:
            raise InvalidParameter("depart needs recordings with a clock; these count steps")
        self.check(problem, seed=seed, variant=variant, order=order)
        stop = checked_stop(stop, seconds)
        check_arguments(memory, on_round=on_round, on_snapshot=on_snapshot)
        watch = None if on_round is None else lambda stats, _: on_round(stats, problem)
        with self._computing():
            search = self._search(problem, seed, stop, variant, order, memory)
            search.on_round, search.on_snapshot = watch, on_snapshot
            search.run()
            result = self._result(search, problem, variant.name)
            return replace(result, depart=depart, notices=notices)

    def verify(self, path: Any, *, seed: int = 0) -> Verification:
        """Which pieces of any path [t, 2] in the user's coordinates recorded motion covers: the test that
        `plan` gives the ways which it proposes itself."""
        check_whole("seed", seed)
        points = checked_path(path, self.frame)
        with self._computing():
            prepared = self.prepared(DEFAULT_VARIANT)
            return verification(points, prepared, self.frame, np.random.default_rng(seed))

    def plan_many(
        self,
        problems: Iterable[Problem],
        *,
        seeds: int | Iterable[int] = 0,
        seconds: float | None = None,
        stop: StopCriterion | None = None,
        on_result: ResultObserver | None = None,
        variant: str | Variant = DEFAULT_VARIANT,
    ) -> list[Outcome]:
        """A plan for every problem, each as `plan` makes it with its seed, or the error that `plan` raises.

        The denoiser is asked about many problems at once. seeds: one for each problem, or one for all;
        seconds, stop: for each problem, its share of the time; on_result: sees the number of a problem
        and its plan or error, as they finish.
        """
        check_arguments(on_result=on_result)
        outcomes: dict[int, Outcome] = {}
        for number, outcome in self.plan_each(problems, seeds, seconds=seconds, stop=stop, variant=variant):
            outcomes[number] = outcome
            if on_result is not None:
                on_result(number, outcome)
        return [outcomes[number] for number in sorted(outcomes)]

    def plan_each(
        self,
        problems: Iterable[Problem],
        seeds: int | Iterable[int] = 0,
        *,
        seconds: float | None = None,
        stop: StopCriterion | None = None,
        variant: str | Variant = DEFAULT_VARIANT,
    ) -> Iterator[tuple[int, Outcome]]:
        """The number of a problem and its plan or error, as they finish; nothing is kept, so that any number
        of problems fits in memory. Otherwise as `plan_many`."""
        chosen = find_variant(variant)
        self._check_variant(chosen, has_order=False)
        return self._computed(with_seeds(problems, seeds), checked_stop(stop, seconds), chosen)

    def _computed(
        self, wanted: list[tuple[Problem, int]], stop: StopCriterion | None, variant: Variant
    ) -> Iterator[tuple[int, Outcome]]:
        """Each plan made within what surrounds such work; what is done between them is the caller's."""

        def begin(problem: Problem, seed: int) -> Search:
            self.check(problem, seed=seed, variant=variant)
            return self._search(problem, seed, stop, variant)

        tasks = ((lambda one=one: begin(*one)) for one in wanted)
        searches = in_turns(tasks, self.batch)
        while True:
            with self._computing():
                finished = next(searches, None)
                if finished is None:
                    return
                number, found = finished
                if isinstance(found, Search):
                    outcome: Outcome = self._result(found, wanted[number][0], variant.name)
                else:
                    outcome = found
                del finished, found  # what is handed out needs no search any more
            yield number, outcome

    def _search(
        self,
        problem: Problem,
        seed: int,
        stop: StopCriterion | None,
        variant: Variant,
        order: Order | None = None,
        memory: ForestMemory | None = None,
    ) -> Search:
        """A search for a problem, in the plane of the models."""
        local = problem.moved(self.frame.to_local)
        source = self._source(local, variant, order, memory, seed)
        return Search(source, local, seed, stop or self._default_stop(problem, variant))

    def _result(self, search: Search, problem: Problem, variant: str) -> PlanResult:
        """The plan of a search in the coordinates of the problem, with times along its routes."""
        result = search.result(self.name, variant)
        routes = tuple(self._timed(route) for route in result.routes)
        return replace(result, problem=problem, routes=routes, frame=self.frame)

    def _timed(self, route: Plan) -> Plan:
        """A route in the user's coordinates, with times by how long recordings took, or by the distance."""
        legs = []
        for leg in route.legs:
            proposed = None if leg.proposed is None else self.frame.to_user(leg.proposed)
            took = None if leg.took is None else tuple(self.frame.seconds(np.array(leg.took)).tolist())
            legs.append(replace(leg, took=took, proposed=proposed))
        distance = self.models.distance if self.models.has_networks else None
        steps = step_times(route, distance, self.params.assembly)
        times = self.frame.seconds(steps) if len(steps) else steps
        return replace(route, path=self.frame.to_user(route.path), times=times, legs=tuple(legs))

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

    def _source(
        self,
        problem: Problem,
        variant: Variant,
        order: Order | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> Source:
        """Where evidence for a problem comes from."""
        kind = RoadmapSource if variant.uses_roadmap else ForestSource
        return kind(self.prepared(variant), problem, order, memory, seed)

    def _computing(self) -> AbstractContextManager[None]:
        """What surrounds the work of a plan."""
        return nullcontext()

    def prepared(self, variant: str | Variant) -> Prepared:
        """The models as a variant uses them, made when it first plans and kept for its later plans."""
        variant = find_variant(variant)
        if self._prepared_from[0] is not self.models or self._prepared_from[1] is not self.params:
            self._prepared, self._prepared_from = {}, (self.models, self.params)
            self._roadmap = None
        if variant not in self._prepared:
            chosen = replace(
                variant,
                verifies=variant.verifies and self.can_verify,
                refutes=variant.refutes and self.can_refute,
            )
            ready = prepare(self.models, self.params, chosen, self._roadmap)
            self._prepared[variant], self._roadmap = ready, ready.roadmap
        return self._prepared[variant]

    def check(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        variant: str | Variant = DEFAULT_VARIANT,
        order: Order | None = None,
    ) -> None:
        """Refuse what `plan` could not plan for, before any work."""
        check_problem(problem)
        self._check_variant(find_variant(variant), has_order=order is not None)
        check_whole("seed", seed)
        self._anchors.refuse_unsupported(problem)
        if order is not None:
            order_from_names(order, problem)

    def _check_variant(self, variant: Variant, has_order: bool) -> None:
        if variant.needs_order and not has_order:
            raise InvalidParameter(
                f"variant {variant.name!r} needs `order`, for example [['S1', 'W1', 'G1']]"
            )

    def _default_stop(self, problem: Problem, variant: Variant) -> MaxRounds:
        params = variant.adapt(self.params)
        num_legs = problem.num_waypoints + problem.num_agents
        most = min(params.max_rounds, MOST_ROUNDS) if variant.uses_roadmap else params.max_rounds
        return MaxRounds(most + params.rounds_per_leg * (num_legs - 1))
