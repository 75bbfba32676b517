"""A real city: random problems on recorded streets, scored against the streets and all trips."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.suites.directed import CONTENDERS, about, plan
from benchmarks.worlds.city import City, load_city
from benchmarks.worlds.reference import Reference
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.peers.choice import PlannerChoice
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, Problem

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "city"
FOLDER = "chicago"
NUM_STOPS = (0, 1, 3, 5)
EPISODES = 50
"""Problems with each number of stops."""

LEAST_PASSES, NEAR = 3, 10.0
"""Trips that nothing is held out of, within so many metres, that make a street a recorded one."""

ON_STREET = 15.0
"""Metres from a fix to the street on which a point is put."""

APART = 50.0
"""Metres between two points of a problem at least."""


def cases(request: Request) -> list[Case]:
    """So many problems with each number of stops, for every contender; stops take turns. A template names
    other models than those of the preset `city`."""
    choice = request.template.choice if request.template is not None else PlannerChoice(PRESET)
    return [
        contender.case("city", choice.preset, episode=episode, num_waypoints=num_stops, seed=seed).chosen(
            weights=choice.weights
        )
        for contender in CONTENDERS
        for seed in range(request.repeats or 1)
        for episode in range(request.episodes or EPISODES)
        for num_stops in NUM_STOPS
    ]


def plan_trip(case: Case, planner: PresetPlanner) -> Trial:
    """Plan a random problem in the city's coordinates and look at the city."""
    city = known_city(case.choice.data / FOLDER)
    problem, shortest = draw_problem(city, case)
    timed = plan(case, planner, problem)
    result, measures = timed.result, about(timed, shortest)
    measures["num_stops"] = case.num_waypoints
    measures["shortest_of_all"] = _least_length(city.whole_reference, problem)
    onward = city.reference.onward_length(problem.anchors)
    measures["shortest_onward"] = onward if np.isfinite(onward) else None
    if result.complete:
        figures = [city.judge(route.path) for route in result.routes]
        measures |= {name: sum(asdict(one)[name] for one in figures) for name in asdict(figures[0])}
    return Trial(case, plan=None, measures=measures)


def draw_problem(city: City, case: Case) -> tuple[Problem, float]:
    """A random problem that recorded ways connect, and the least length of its routes over them."""
    rng = np.random.default_rng([case.seed, case.episode, case.num_waypoints])
    num_anchors = case.num_waypoints + 2
    while True:
        points = _on_recorded_streets(city, 4 * num_anchors, rng)[:num_anchors]
        if len(points) < num_anchors or _least_apart(points) < APART:
            continue
        problem = Problem(points[:1], points[1:2], points[2:])
        shortest = _least_length(city.reference, problem)
        if np.isfinite(shortest):
            return problem, shortest


def _least_length(reference: Reference, problem: Problem) -> float:
    """Metres of the shortest routes over a reference."""
    lengths = reference.lengths(problem.anchors)
    return float(AutoSolver()(lengths, problem, None).cost(lengths))


def _on_recorded_streets(city: City, count: int, rng: np.random.Generator) -> FloatArray:
    """[n, 2] some of so many random recorded places, put on the street where several trips passed."""
    gap, places = city.to_street(city.trips.random_places(count, rng))
    places = places[gap <= ON_STREET]
    return np.asarray(places[city.trips.num_passes(places, NEAR) >= LEAST_PASSES])


def _least_apart(points: FloatArray) -> float:
    gap = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return float(gap[np.triu_indices(len(points), k=1)].min())


@cache
def known_city(folder: Path) -> City:
    """The city of a folder, read once."""
    return load_city(folder)


SUITE = Suite("city", "a real city from its GPS traces", cases, plan_trip, seconds=3.0)
