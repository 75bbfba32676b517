"""A car in a yard, from short drives: generated motion beside what a user would do without it.

`python -m benchmarks car` records the drives, trains what generates motion, and prints two tables: the
share of segments that the car could drive, and the plans that a tracker brings to their end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from benchmarks.motion import model as motion
from benchmarks.motion.graph import Ground, MotionWorld, plan_motion
from benchmarks.worlds.car import (
    HEADING,
    SPEED,
    Yard,
    drivable,
    followed,
    free_states,
    record,
    wrapped,
    yard,
)
from chronoforest.errors import InvalidParameter, UnknownPlanner
from chronoforest.files import write_text
from chronoforest.roadmap.roadmap import Roadmap, build_roadmap
from chronoforest.roadmap.states import Track
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, Pair, Problem, lengths_along

RATE, NUM_DRIVES, HELD_OUT = 10, 2000, 100
KINDS = {"K = 0": (1, 0), "K = 3": (1, 3), "M = 2, K = 5": (2, 5)}
APART = (0.9, 1.9, 2.9, 3.9)
VISITED = 0.5
"""Metres from a waypoint within which it counts as visited."""

Maker = Callable[[FloatArray, FloatArray, FloatArray, np.random.Generator], FloatArray]
"""Segments from states to states that are so many seconds later."""

Paths = list[tuple[FloatArray, FloatArray]]
"""States [t, 4] of each agent, and when."""


class Planner(Protocol):
    """What plans for cars from their recordings."""

    def __call__(self, starts: FloatArray, goals: FloatArray, waypoints: FloatArray) -> Paths | None:
        """The plan for states [n, 4], waypoints without heading and speed; None where there is none."""


def cubic_curves(
    first: FloatArray, last: FloatArray, seconds: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Cubic Hermite curves; half of them with heading and speed of the curve, half with even ones."""
    found = motion.cubic(first, last, seconds)
    move = np.gradient(found[..., :2], axis=1)
    along = np.arctan2(move[..., 1], move[..., 0])
    is_back = np.cos(along - found[..., HEADING]) < 0
    own = found.copy()
    own[..., HEADING] = wrapped(np.where(is_back, along + np.pi, along))
    pace = np.linalg.norm(move, axis=-1) / (seconds / (motion.NUM_FRAMES - 1))[:, None]
    own[..., SPEED] = np.where(is_back, -pace, pace)
    own[:, 0], own[:, -1] = found[:, 0], found[:, -1]
    return np.where((rng.random(len(found)) < 0.5)[:, None, None], own, found)


def straight_lines(
    first: FloatArray, last: FloatArray, seconds: FloatArray, _: np.random.Generator
) -> FloatArray:
    """Everything changes evenly."""
    found = motion.cubic(first, last, seconds)
    found[..., :2] = (
        first[:, None, :2] + np.linspace(0, 1, motion.NUM_FRAMES)[:, None] * (last - first)[:, None, :2]
    )
    return found


class NearestStretch:
    """The stretch of a recording whose ends lie most alike, one of eight, bent so that it ends as asked."""

    scale = np.array([0.5, 0.5, 0.2, 0.5, 0.5, 0.3])

    def __init__(self, drives: FloatArray, count: int = 200_000) -> None:
        frames, self.seconds = motion.windows(drives, RATE, count, np.random.default_rng(0))
        self.frames = motion.seen_from(frames, frames[:, :1])
        self.frames[..., 2] = np.unwrap(self.frames[..., 2], axis=1)
        self.tree = cKDTree(self._key(self.frames[:, -1], self.frames[:, 0, 3], self.seconds))

    def _key(self, last: FloatArray, speed: FloatArray, seconds: FloatArray) -> FloatArray:
        return np.column_stack([last, speed, seconds]) / self.scale

    def __call__(
        self, first: FloatArray, last: FloatArray, seconds: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """[n, frames, 4]."""
        end = motion.seen_from(last, first)
        near = self.tree.query(self._key(end, first[:, SPEED], seconds), k=8)[1]
        found = self.frames[near[np.arange(len(first)), rng.integers(0, 8, len(first))]].copy()
        begin = np.zeros_like(end)
        begin[:, SPEED] = first[:, SPEED]
        off = end - found[:, -1]
        off[:, HEADING] = wrapped(off[:, HEADING])
        u = np.linspace(0.0, 1.0, motion.NUM_FRAMES)[:, None]
        share = 3 * u**2 - 2 * u**3
        found += (1 - share) * (begin - found[:, 0])[:, None] + share * off[:, None]
        return motion.placed_at(found, first[:, None])


class GraphOfSegments:
    """Our graph over recorded states; generate: its hops."""

    def __init__(self, yard: Yard, drives: FloatArray, generate: Maker) -> None:
        body = yard.vehicle
        self.world = MotionWorld.of(drives, RATE, (body.front, body.back, body.side), generate)
        self.generated: list[int] = []

    def __call__(self, starts: FloatArray, goals: FloatArray, waypoints: FloatArray) -> Paths | None:
        """The plan."""
        found = plan_motion(self.world, starts, goals, waypoints)
        if found is None:
            return None
        self.generated.append(found.num_generated)
        return list(zip(found.states, found.times, strict=True))


class StatesAsRecorded:
    """A graph over all columns: states within `radius` metres (and as many thirds of a radian and metres a
    second) are the same, and hops lead as recordings did."""

    def __init__(self, drives: FloatArray, radius: float) -> None:
        self.radius = radius
        states = drives.reshape(-1, 4)
        key, tree, chosen = self._key(states), cKDTree(self._key(states)), []
        is_open = np.ones(len(states), dtype=np.bool_)
        for row in range(len(states)):
            if is_open[row]:
                chosen.append(row)
                is_open[tree.query_ball_point(key[row], 1.0)] = False
        self.states = states[chosen]
        self.tree = cKDTree(key[chosen])
        place = self.tree.query(key)[1].reshape(drives.shape[:2])
        source, target = place[:, :-1].ravel(), place[:, 1:].ravel()
        # A recording that stays within a state for some rows takes as long to the next one.
        is_hop = source != target
        pairs, stays = (
            np.unique(np.stack([source, target])[:, is_hop], axis=1),
            (~is_hop).sum() / max(1, is_hop.sum()),
        )
        self.graph = csr_matrix(
            (np.full(pairs.shape[1], (1 + stays) / RATE), pairs), shape=(len(chosen),) * 2
        )

    def _key(self, states: FloatArray) -> FloatArray:
        turn = np.column_stack([np.cos(states[:, HEADING]), np.sin(states[:, HEADING])])
        return np.asarray(np.column_stack([states[:, :2], 3.0 * turn, states[:, SPEED]]) / self.radius)

    def _doors(self, anchor: FloatArray) -> list[int]:
        if np.isfinite(anchor).all():
            return list(self.tree.query_ball_point(self._key(anchor[None])[0], 1.0))
        return np.flatnonzero(
            np.linalg.norm(self.states[:, :2] - anchor[:2], axis=1) <= min(self.radius, VISITED)
        ).tolist()

    def __call__(self, starts: FloatArray, goals: FloatArray, waypoints: FloatArray) -> Paths | None:
        """The plan."""
        anchors = np.concatenate([starts, waypoints, goals])
        doors = [self._doors(anchor) for anchor in anchors]
        if not all(doors):
            return None
        cost = np.stack([dijkstra(self.graph, indices=rows, min_only=True) for rows in doors])
        cost = np.stack([[row[end].min() for end in doors] for row in cost])
        route = AutoSolver()(
            np.minimum(cost, 1e6), Problem(starts[:, :2], goals[:, :2], waypoints[:, :2]), None
        )
        found: Paths = []
        for order in route.orders:
            row, chain = None, []
            for source, target in pairwise(order):
                begin = doors[source] if row is None else [row]
                far, before, _ = dijkstra(self.graph, indices=begin, min_only=True, return_predecessors=True)
                row = min(doors[target], key=lambda end: far[end])
                if not np.isfinite(far[row]):
                    return None
                back = [row]
                while before[back[-1]] >= 0:
                    back.append(int(before[back[-1]]))
                chain += back[::-1]
            path = np.concatenate([anchors[[order[0]]], self.states[chain], anchors[[order[-1]]]])
            step = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1)
            pace = np.maximum(np.abs(path[1:, SPEED] + path[:-1, SPEED]) / 2, 0.3)
            found.append((path, np.concatenate([[0.0], np.cumsum(np.maximum(step / pace, 0.02))])))
        return found


class SmoothedRoadmap:
    """The roadmap of positions; its way becomes a smooth curve with the heading of the car at both ends,
    driven forward, backward, or forward with the last metres backward: what stays on swept ground best."""

    def __init__(self, yard: Yard, drives: FloatArray) -> None:
        times, body = np.arange(drives.shape[1]) / RATE, yard.vehicle
        self.roadmap: Roadmap = build_roadmap(
            [Track(drive[:, :2], times, k) for k, drive in enumerate(drives)]
        )
        self.ground = Ground.of(drives, (body.front, body.back, body.side), 0.2)

    def __call__(self, starts: FloatArray, goals: FloatArray, waypoints: FloatArray) -> Paths | None:
        """The plan."""
        anchors = np.concatenate([starts, waypoints, goals])
        ways = Ways.of(Joined.of(self.roadmap, anchors[:, :2]))
        problem = Problem(starts[:, :2], goals[:, :2], waypoints[:, :2])
        route = AutoSolver()(np.minimum(ways.cost, 1e6), problem, None)
        ways, found = ways.settled(route.orders), []
        for order in route.orders:
            legs = [ways.way(Pair(a, b)) for a, b in pairwise(order)]
            if any(leg is None for leg in legs):
                return None
            parts = [self.roadmap.straightened(leg.path) for leg in legs if leg is not None]
            way = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
            tries = [
                smoothed(way, anchors[order[0]], anchors[order[-1]], back) for back in (0.0, 5.0, np.inf)
            ]
            found.append(max(tries, key=lambda one: float(self.ground.holds(one[0]).mean())))
        return found


def smoothed(
    way: FloatArray, first: FloatArray, last: FloatArray, back: float, knot: float = 4.0, pace: float = 2.0
) -> tuple[FloatArray, FloatArray]:
    """States along a polyline [k, 2] as a cubic Hermite spline, the last `back` metres driven backward."""
    along = lengths_along(way)
    cut = max(along[-1] - back, 0.0)
    parts = [part for part in ((0.0, cut, 1.0), (cut, float(along[-1]), -1.0)) if part[0] < part[1]]
    states, times = [], []
    for begin, end, gear in parts:
        ticks = np.linspace(begin, end, max(2, int((end - begin) / knot) + 1))
        points = np.column_stack([np.interp(ticks, along, column) for column in way.T])
        tangent = np.gradient(points, ticks, axis=0)
        for row, state, is_end in ((0, first, begin == 0.0), (-1, last, end == along[-1])):
            if is_end:
                tangent[row] = gear * np.array([np.cos(state[HEADING]), np.sin(state[HEADING])])
        fine = np.linspace(begin, end, max(8, int((end - begin) / 0.2)))
        curve = CubicHermiteSpline(ticks, points, tangent)
        place, ahead = curve(fine), curve(fine, 1)
        heading = np.arctan2(gear * ahead[:, 1], gear * ahead[:, 0])
        gone = lengths_along(place)
        limit = min(pace, 2.0 if gear > 0 else 1.5)
        speed = np.minimum(limit, np.sqrt(2.0 * 1.2 * np.minimum(gone, gone[-1] - gone)))
        states.append(np.column_stack([place, heading, gear * speed]))
        took = np.diff(gone) / np.maximum(0.5 * (speed[1:] + speed[:-1]), 0.1)
        times.append(np.concatenate([[0.0], np.cumsum(took)]))
    joined = [times[0], *(times[0][-1] + 0.1 + when for when in times[1:])]
    return np.concatenate(states), np.concatenate(joined)


def problems(
    yard: Yard, ground: Ground, kind: str, count: int, seed: int
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Standing starts and goals, every other goal in a bay; waypoints anywhere, heading and speed open."""
    agents, stops = KINDS[kind]
    rng, made = np.random.default_rng([seed, agents, stops]), []

    def free(many: int) -> FloatArray:
        drawn = free_states(yard, 4 * many + 8, rng, 0.35)
        return drawn[ground.holds(drawn)][:many]

    for number in range(count):
        goals = free(agents)
        if number % 2:
            goals = yard.bays[rng.choice(len(yard.bays), agents, replace=False)]
        waypoints = free(stops)
        waypoints[:, 2:] = np.nan
        made.append((free(agents), goals, waypoints))
    return made


def outcome(planner: Planner, kind: str, known: FloatArray, episodes: int, seed: int) -> dict[str, float]:
    """Of so many problems how many were planned, sound by the judge, and driven to the end over all stops
    without touching anything; seconds of processor a plan, and driven, in the median. known: recordings."""
    place = yard()
    body = place.vehicle
    ground = Ground.of(known, (body.front, body.back, body.side), cell=0.2)
    planned = sound = arrived = 0
    took, drives = [], []
    for starts, goals, waypoints in problems(place, ground, kind, episodes, seed):
        began = time.process_time()
        paths = planner(starts, goals, waypoints)
        took.append(time.process_time() - began)
        if paths is None:
            continue
        planned += 1
        sound += all(place.judged(*path).is_sound for path in paths)
        ends = [int(np.linalg.norm(goals[:, :2] - path[-1, :2], axis=1).argmin()) for path, _ in paths]
        driven = [followed(place, *path, goals[end]) for path, end in zip(paths, ends, strict=True)]
        ways = np.concatenate([drive.states[:, :2] for drive in driven])
        is_visited = cKDTree(ways).query(waypoints[:, :2])[0] <= VISITED if len(waypoints) else np.ones(1)
        arrived += all(drive.has_arrived for drive in driven) and bool(np.all(is_visited))
        drives.append(max(times[-1] for _, times in paths))
    counts = {"of": episodes, "planned": planned, "sound": sound, "arrived": arrived}
    median = float(np.median(drives)) if drives else np.nan
    return {**counts, "plan_seconds": float(np.median(took)), "drive_seconds": median}


def drivable_shares(
    yard: Yard,
    drives: FloatArray,
    makers: dict[str, Maker],
    count: int = 400,
    moved: bool = False,
) -> dict[str, list[tuple[float, float]]]:
    """Of segments between two states of held-out drives, for each time between them, how many the car could
    drive: of one segment, and of any of eight. moved: the second state is moved by about 0.5 m and 9°."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in makers}
    for apart in APART:
        rng, rows = np.random.default_rng(round(10 * apart)), round(apart * RATE)
        drive, begin = rng.integers(len(drives), size=count), rng.integers(0, drives.shape[1] - rows, count)
        first, last = drives[drive, begin], drives[drive, begin + rows]
        if moved:
            last = last + rng.normal(0.0, (0.35, 0.35, np.radians(9), 0.0), last.shape)
        seconds = np.full(count, apart)
        times = seconds[:, None] * np.linspace(0.0, 1.0, motion.NUM_FRAMES)
        for name, make in makers.items():
            fine = [drivable(yard.vehicle, make(first, last, seconds, rng), times) for _ in range(8)]
            found[name].append((float(fine[0].mean()), float(np.any(fine, axis=0).mean())))
    return found


PLANNERS = ("roadmap", "state-graph", "cubic", "nearest", "generated")


def planner_named(name: str, yard: Yard, drives: FloatArray, makers: dict[str, Maker]) -> Planner:
    """A planner, from recordings."""
    if name == "roadmap":
        return SmoothedRoadmap(yard, drives)
    if name == "state-graph":
        return StatesAsRecorded(drives, radius=3.0)
    return GraphOfSegments(yard, drives, makers[name])


def car(
    out: Path = Path("runs/car"),
    planner: tuple[str, ...] = PLANNERS,
    kinds: tuple[str, ...] = tuple(KINDS),
    episodes: int = 20,
    seed: int = 777,
    steps: int = 3500,
) -> None:
    """Segments and plans of a car in a yard, from short drives; what is known so far is kept in car.json.

    Args:
        out: folder for car.json and the weights, which are trained unless they are there.
        planner: roadmap, state-graph, and our graph with segments that are cubic, the nearest recorded
            stretch bent to fit, or generated; none for the table of segments alone.
        kinds: K = 0, K = 3, and M = 2, K = 5.
        episodes: problems of each kind.
        seed: of the problems.
        steps: of training.
    """
    if unknown := set(planner) - set(PLANNERS):
        raise UnknownPlanner(unknown.pop(), PLANNERS)
    if unknown := set(kinds) - set(KINDS):
        raise InvalidParameter(f"kinds are {'; '.join(KINDS)}, got {unknown.pop()!r}")
    drives, weights, table = record(yard(), NUM_DRIVES, seed=0), out / "motion.safetensors", out / "car.json"
    known, held_out = drives[:-HELD_OUT], drives[-HELD_OUT:]
    if not weights.exists():
        motion.train(known, RATE, motion.MotionParams(), steps, 0, out)
    makers: dict[str, Maker] = {
        "generated": motion.load(weights),
        "nearest": NearestStretch(known),
        "cubic": cubic_curves,
        "straight": straight_lines,
    }
    found: dict[str, Any] = json.loads(table.read_text()) if table.exists() else {"plans": []}
    if "segments" not in found:
        found["segments"] = {
            "recorded": drivable_shares(yard(), held_out, makers),
            "moved": drivable_shares(yard(), held_out, makers, moved=True),
        }
        write_text(table, json.dumps(found, indent=1))
    for name in planner:
        chosen = planner_named(name, yard(), known, makers)
        for kind in kinds:
            row = outcome(chosen, kind, known, episodes, seed)
            found["plans"].append({"planner": name, "kind": kind, "seed": seed, **row})
            write_text(table, json.dumps(found, indent=1))
    print(*segment_lines(found), *plan_lines(found), sep="\n")


def segment_lines(found: dict[str, Any]) -> list[str]:
    """The table of segments in Markdown."""
    head = [
        "| ends | segment | " + " | ".join(f"{apart} s" for apart in APART) + " |",
        "|---|---|" + "---|" * 4,
    ]
    return head + [
        f"| {name} | {maker} | " + " | ".join(f"{one:.2f}, {some:.2f}" for one, some in shares) + " |"
        for name, rows in found["segments"].items()
        for maker, shares in rows.items()
    ]


def plan_lines(found: dict[str, Any]) -> list[str]:
    """The table of plans in Markdown."""
    keys = ("planner", "kind", "of", "planned", "sound", "arrived", "plan_seconds", "drive_seconds")
    head = ["", "| " + " | ".join(key.replace("_", " ") for key in keys) + " |", "|---" * len(keys) + "|"]
    shown = ([row[key] for key in keys] for row in found["plans"])
    return head + [
        "| " + " | ".join(f"{one:.3g}" if isinstance(one, float) else str(one) for one in row) + " |"
        for row in shown
    ]
