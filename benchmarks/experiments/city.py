"""A real city: random problems on recorded streets, scored against the streets and all trips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments.directed import WayFigures, mean_of, over, timed_plan, total, ways_sheet
from benchmarks.report.tables import Entry, Sheet
from benchmarks.suite import CONTENDERS, Request, Suite
from benchmarks.trials import Trial
from benchmarks.worlds.city import City, load_city
from benchmarks.worlds.reference import Reference
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, Problem

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


@dataclass(frozen=True, kw_only=True)
class TripFigures(WayFigures):
    """A plan in the city: shortest ways over all trips, and over those that go on through stops, infinite
    where there is none; of complete plans what their paths do there, as `CityFigures`."""

    num_stops: int
    shortest_of_all: float
    shortest_onward: float
    off_street: float = 0.0
    against: float = 0.0
    num_turns: int = 0
    num_unrecorded: int = 0


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
    result, known = timed_plan(case, planner, problem)
    if result.complete:
        found = [asdict(city.judge(route.path)) for route in result.routes]
        known |= {name: sum(one[name] for one in found) for name in found[0]}
    figures = TripFigures(
        num_stops=case.num_waypoints,
        shortest=shortest,
        shortest_of_all=_least_length(city.whole_reference, problem),
        shortest_onward=city.reference.onward_length(problem.anchors),
        **known,
    )
    return Trial(case, plan=None, figures=figures)


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


def city_table(trials: Sequence[Trial]) -> list[Sheet]:
    """What plans do in the city."""
    columns = {
        "÷ shortest recorded way": lambda found: over(found, "shortest"),
        "÷ shortest, with held-out trips": lambda found: over(found, "shortest_of_all"),
        "÷ shortest that goes on through stops": lambda found: over(found, "shortest_onward"),
        "off streets, % of the way": lambda found: _of_way(found, "off_street"),
        "against, % of the way": lambda found: _of_way(found, "against"),
        "turns": lambda found: total(found, "num_turns"),
        "turns no trip makes": lambda found: total(found, "num_unrecorded"),
        "K = 3: first, processor s": lambda found: mean_of(_with_stops(found, 3), "first_work"),
        "K = 3: final, processor s": lambda found: mean_of(_with_stops(found, 3), "work"),
    }
    notes = (
        "More than 20 m from a street; against every direction recorded within 20 m.",
        "The shortest way leads over what at least two trips drove, in their direction and with their turns.",
        "Nothing was learned from held-out trips, so nobody can know what only they drove.",
        "One that goes on through stops leaves each in about the direction in which it reached it.",
    )
    return [ways_sheet("city", "A real city from its GPS traces", trials, TripFigures, columns, notes)]


def _with_stops(found: Sequence[TripFigures], count: int) -> list[TripFigures]:
    """Of problems with so many stops."""
    return [one for one in found if one.num_stops == count]


def _of_way(found: Sequence[TripFigures], name: str) -> Entry:
    """Per cent of the whole way of all plans."""
    length = sum(one.length for one in found)
    if length == 0:
        return Entry(None)
    return Entry.of_value(100.0 * sum(getattr(one, name) for one in found) / length, len(found), digits=2)


SUITE = Suite("city", "a real city from its GPS traces", cases, plan_trip, city_table, figures=(TripFigures,))
