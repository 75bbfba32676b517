"""Worlds whose every way is known: plans of what was learned without training, judged by their paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments.directed import WayFigures, over, timed_plan, total, ways_sheet
from benchmarks.report.tables import Entry, Sheet
from benchmarks.suite import CONTENDERS, Request, Suite
from benchmarks.trials import Trial
from benchmarks.worlds.known import WORLDS
from benchmarks.worlds.lanes import LaneWorld, Link
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import FloatArray, Problem, path_length

EPISODES = 100
"""Problems in every world."""

PLANNERS = ("verified", "state-graph", "point-graph")
"""Rows of the tables: what needs no training."""

Place = tuple[Link, float]
"""A link, and the share of it before a place."""


@dataclass(frozen=True, kw_only=True)
class KnownFigures(WayFigures):
    """A plan in a known world: its pieces, those against a lane and those off all lanes; changes from a link
    to another on which nobody goes on; corners of the shortest way that it cuts; only of complete plans."""

    num_pieces: int = 0
    num_against: int = 0
    num_off: int = 0
    num_false: int = 0
    num_cut: int = 0


def cases(request: Request) -> list[Case]:
    """So many problems in every world, for every contender."""
    return [
        contender.case("states", name, episode=episode, seed=seed)
        for contender in CONTENDERS
        if contender.label in PLANNERS
        for name in WORLDS
        for seed in range(request.repeats or 1)
        for episode in range(request.episodes or EPISODES)
    ]


def plan_known(case: Case, planner: PresetPlanner) -> Trial:
    """Plan from a place on a link to another and look at the lanes."""
    lanes = WORLDS[case.preset].lanes
    start, end, way = draw_places(lanes, np.random.default_rng([case.seed, case.episode]))
    result, known = timed_plan(case, planner, Problem([lanes.place(start)], [lanes.place(end)]))
    known["shortest"] = path_length(way)
    if result.complete:
        path = result.routes[0].path
        verdict = lanes.judge(path)
        known |= {
            "num_pieces": verdict.num_pieces,
            "num_against": verdict.num_against,
            "num_off": verdict.num_off,
            "num_false": len(lanes.unrecorded_changes(path, start[0], end[0])),
            "num_cut": num_cut(lanes, way, path),
        }
    return Trial(case, plan=None, figures=KnownFigures(**known))


def draw_places(lanes: LaneWorld, rng: np.random.Generator) -> tuple[Place, Place, FloatArray]:
    """The middles of two links at which nothing else passes but the same links the other way, and the
    shortest way of traffic between them, whichever way these are left and reached."""
    while True:
        ends = [(lanes.links[number], 0.5) for number in rng.integers(len(lanes.links), size=2).tolist()]
        places = [lanes.place(end) for end in ends]
        if np.linalg.norm(places[1] - places[0]) < 2 * lanes.reach or not all(map(_is_alone(lanes), ends)):
            continue
        both = [[end, (end[0][::-1], 0.5)] if end[0][::-1] in lanes.links else [end] for end in ends]
        ways = [(lanes.shortest(start, end), start, end) for start, end in product(*both)]
        known = [(path_length(way), start, end, way) for way, start, end in ways if way is not None]
        if known:
            _, start, end, way = min(known, key=lambda one: one[0])
            return start, end, way


def _is_alone(lanes: LaneWorld) -> Callable[[Place], bool]:
    """Whether no link leads by a place but its own, there or back."""

    def is_alone(at: Place) -> bool:
        others = [link for link in lanes.links if set(link) != set(at[0])]
        place = lanes.place(at)[None]
        return all(_gap(place, lanes.points(link))[0] > 2 * lanes.reach for link in others)

    return is_alone


def num_cut(lanes: LaneWorld, way: FloatArray, path: FloatArray) -> int:
    """Places of the world that the shortest way [n, 2] passes and a path [t, 2] keeps away from."""
    corners = lanes.points(list(lanes.places))
    far = 2.0 * lanes.reach
    return int(((_gap(corners, way) <= lanes.reach) & (_gap(corners, path) > far)).sum())


def _gap(points: FloatArray, way: FloatArray) -> FloatArray:
    """[n] units from points [n, 2] to a polyline [t, 2]."""
    start, move = way[:-1], np.diff(way, axis=0)
    share = ((points[:, None] - start) * move).sum(axis=-1) / np.maximum((move**2).sum(axis=-1), 1e-12)
    nearest = start + share.clip(0, 1)[..., None] * move
    return np.asarray(np.linalg.norm(points[:, None] - nearest, axis=-1).min(axis=1))


def known_tables(trials: Sequence[Trial]) -> list[Sheet]:
    """What plans do in each world."""
    columns = {
        "÷ shortest way": lambda found: over(found, "shortest"),
        "false changes": lambda found: total(found, "num_false"),
        "corners cut": lambda found: total(found, "num_cut"),
        "against, % of the way": lambda found: _share(found, "num_against"),
        "off all lanes, % of the way": lambda found: _share(found, "num_off"),
    }
    notes = (
        "A false change leads from one street, ramp or lane to another on which nobody goes on from there.",
        "A corner is cut where the shortest way passes it and the plan stays away from it.",
    )
    contenders = tuple(contender for contender in CONTENDERS if contender.label in PLANNERS)
    return [
        ways_sheet(
            f"states-{name}",
            f"Known ways: {name}",
            [trial for trial in trials if trial.case.preset == name],
            KnownFigures,
            columns,
            notes,
            contenders,
        )
        for name in WORLDS
    ]


def _share(found: Sequence[KnownFigures], name: str) -> Entry:
    """Per cent of the pieces of all plans."""
    pieces = sum(one.num_pieces for one in found)
    if pieces == 0:
        return Entry(None)
    return Entry.of_value(100.0 * sum(getattr(one, name) for one in found) / pieces, len(found), digits=2)


SUITE = Suite(
    "states", "worlds whose every way is known", cases, plan_known, known_tables, figures=(KnownFigures,)
)
