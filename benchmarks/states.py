"""Planners that need no training, on the problems of suite `city`, judged as all are there.

`python -m benchmarks states --source data/chicago --planner state-graph point-graph`
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments.city import NUM_STOPS, draw_problem, known_city
from benchmarks.peers.point_graph import PointGraph
from benchmarks.peers.state_graph import StateGraph
from benchmarks.worlds.city import City
from benchmarks.worlds.trips import is_held_out, read_rows
from chronoforest.data.episodes import load
from chronoforest.errors import UnknownPlanner
from chronoforest.peers.choice import PlannerChoice
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import Track, tracks_of
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, Pair, Problem, path_length

UNREACHABLE = 1e9
"""Cost of a leg that no way leads over."""

MOST_ORDERS = 8
"""Orders of stops that are tried: what a leg costs depends on the one before."""


LEAST_ROWS, MATCHED = 20, 0.9
"""Rows of a stretch whose time is told, and the share of its hops that must be known."""


class Routes(Protocol):
    """What plans over recordings alone."""

    def costs(self, anchors: FloatArray) -> FloatArray:
        """[A, A] units between anchors, infinite where no way leads."""

    def route(self, anchors: FloatArray) -> list[FloatArray] | None:
        """[t, 2] of every leg over anchors in this order; None where there is none."""


class Recorded:
    """The roadmap of states."""

    def __init__(self, tracks: Sequence[FloatArray]) -> None:
        self.roadmap = build_roadmap(
            [Track(track, np.arange(len(track), dtype=np.float64), k) for k, track in enumerate(tracks)]
        )

    def costs(self, anchors: FloatArray) -> FloatArray:
        """[A, A] cost between anchors."""
        return Ways.of(Joined.of(self.roadmap, anchors)).cost / self.roadmap.pace

    def route(self, anchors: FloatArray) -> list[FloatArray] | None:
        """[t, 2] of every leg over anchors in this order."""
        order = range(len(anchors))
        ways = Ways.of(Joined.of(self.roadmap, anchors)).settled([order])
        legs = [ways.way(Pair(*leg)) for leg in pairwise(order)]
        found = [self.roadmap.straightened(leg.path) for leg in legs if leg is not None]
        return found if len(found) == len(legs) else None


PLANNERS: dict[str, Callable[[Sequence[FloatArray]], Routes]] = {
    "roadmap": Recorded,
    "state-graph": StateGraph.made_of,
    "point-graph": PointGraph.made_of,
}


def plan(routes: Routes, problem: Problem) -> FloatArray | None:
    """[t, 2] the route of one agent in the order that is best by the costs between anchors."""
    cost = np.minimum(routes.costs(problem.anchors), UNREACHABLE)
    found: dict[tuple[int, ...], FloatArray | None] = {}
    while len(found) < MOST_ORDERS:
        order = AutoSolver()(cost, problem, None).orders[0]
        if order in found:
            break
        legs = routes.route(problem.anchors[list(order)])
        found[order] = None if legs is None else np.concatenate(legs)
        # A leg costs more than for itself where it goes on from the one before.
        lengths = [UNREACHABLE] * (len(order) - 1) if legs is None else [path_length(leg) for leg in legs]
        for (source, target), length in zip(pairwise(order), lengths, strict=True):
            cost[source, target] = max(cost[source, target], length)
    return min((path for path in found.values() if path is not None), key=path_length, default=None)


def problems(city: City, episodes: int, seed: int) -> list[Problem]:
    """The problems that suite `city` draws, in its order."""
    choice = PlannerChoice("city")
    cases = [
        Case("city", choice, episode=episode, num_waypoints=stops, seed=seed)
        for episode in range(episodes)
        for stops in NUM_STOPS
    ]
    return [draw_problem(city, case)[0] for case in cases]


def recorded(city: City, dataset: Path | None = None) -> list[FloatArray]:
    """[n, 2] the trips that something is learned from, or what `data import` made of them."""
    if dataset is not None:
        episodes = load(dataset)
        return [episodes.frame.to_user(track.position) for track in tracks_of(episodes)]
    trips = zip(city.trips.tracks, city.trips.numbers, strict=True)
    return [track for track, number in trips if not is_held_out(number)]


def connected(tracks: Sequence[FloatArray], asked: Sequence[Problem]) -> list[bool]:
    """Whether recorded ways connect the places of problems: places over the recorded states do, joined only
    where a trip goes from one to the other."""
    routes = StateGraph.made_of(tracks)
    return [plan(routes, problem) is not None for problem in asked]


def figures(
    city: City, name: str, tracks: Sequence[FloatArray], asked: Sequence[Problem], is_connected: list[bool]
) -> dict[str, float]:
    """What the routes of a planner do that knows some tracks, in sums and shares of all problems."""
    started = time.process_time()
    routes = PLANNERS[name](tracks)
    built = time.process_time()
    paths = [plan(routes, problem) for problem in asked]
    seconds = (time.process_time() - built) / len(asked)
    onward = [city.reference.onward_length(problem.anchors) for problem in asked]
    judged = [
        (asdict(city.judge(path)), most) for path, most in zip(paths, onward, strict=True) if path is not None
    ]
    total = {key: sum(one[key] for one, _ in judged) for key in judged[0][0]} if judged else {}
    compared = [(one["length"], most) for one, most in judged if np.isfinite(most)]
    length = total.get("length", np.nan)
    return {
        "complete": len(judged),
        "of": len(asked),
        "complete where recorded ways connect": sum(
            path is not None for path, joins in zip(paths, is_connected, strict=True) if joins
        ),
        "of these": sum(is_connected),
        "turns": total.get("num_turns", 0),
        "nobody's": total.get("num_unrecorded", 0),
        "against %": 100 * total.get("against", 0) / length,
        "off streets %": 100 * total.get("off_street", 0) / length,
        "÷ shortest onward": sum(own for own, _ in compared) / sum(most for _, most in compared),
        "plan s": seconds,
        "built s": built - started,
    }


def time_figures(source: Path, seed: int) -> dict[str, float]:
    """How well the time of stretches of held-out trips is known from the others, beside one constant pace."""
    rows = read_rows(source / "trips.csv.gz")
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    parts = np.split(rows, np.flatnonzero(np.diff(rows[:, 0])) + 1)
    trips = [Track(part[:, 2:4], part[:, 1] - part[0, 1], int(part[0, 0])) for part in parts]
    known = [trip for trip in trips if not is_held_out(trip.recording)]
    pace = float(np.median([trip.time[-1] / path_length(trip.position) for trip in known]))
    roadmap, rng, found = build_roadmap(known), np.random.default_rng(seed), []
    for trip in (trip for trip in trips if is_held_out(trip.recording)):
        first, last = np.sort(rng.choice(len(trip.time), 2, replace=False)).tolist()
        way = Track(trip.position[first : last + 1], trip.time[first : last + 1], 0)
        hops = roadmap.matched(way) if last > first + LEAST_ROWS else np.zeros(0, dtype=np.int64)
        is_known = hops >= 0
        if is_known.sum() < MATCHED * max(1, len(hops)):
            continue
        took, true = roadmap.times.of(hops[is_known]), way.time[-1] - way.time[0]
        whole = len(hops) / is_known.sum()
        told = [whole * took.low, whole * took.steps, whole * took.high, pace * path_length(way.position)]
        found.append(np.array(told) / true)
    low, middle, high, constant = np.array(found).T
    return {
        "stretches": len(found),
        "in the interval": float(((low <= 1) & (high >= 1)).mean()),
        "error": float(np.median(np.abs(middle - 1))),
        "error of one pace": float(np.median(np.abs(constant - 1))),
    }


def states(
    source: Path = Path("data/chicago"),
    planner: tuple[str, ...] = tuple(PLANNERS),
    episodes: int = 12,
    seed: int = 0,
    dataset: Path | None = None,
    every: int = 1,
) -> None:
    """Plans of planners that need no training, in a city: a line for each.

    Args:
        source: folder with trips.csv.gz and streets.csv.gz.
        planner: which of them; all unless given.
        episodes: problems with each number of stops.
        seed: of the problems.
        dataset: what `data import` made of the trips; the trips themselves unless given.
        every: keep one trip in so many.
    """
    for name in planner:
        if name not in PLANNERS:
            raise UnknownPlanner(name, PLANNERS)
    city = known_city(source)
    asked, tracks = problems(city, episodes, seed), recorded(city, dataset)[::every]
    is_connected = connected(tracks, asked)
    for name in planner:
        found = figures(city, name, tracks, asked, is_connected)
        print(name, *(f"{key} {value:.4g}" for key, value in found.items()), sep=" · ")
        if name == "roadmap":
            print(
                "times",
                *(f"{key} {value:.4g}" for key, value in time_figures(source, seed).items()),
                sep=" · ",
            )
