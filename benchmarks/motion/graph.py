"""Ways of a body between states: a graph over recorded states whose hops are generated segments.

What is known before: where the body was (its outline, swept along the recordings), how it can move (the
largest curvature and acceleration recorded), and how long recordings took between two states
that lie like these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from benchmarks.motion.model import LONGEST, SHORTEST, seen_from, wrapped
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import BoolArray, FloatArray, IntArray, JointRoute, Problem

FAR = 11.0
"""Metres between the states of a hop at most."""

Generate = Callable[[FloatArray, FloatArray, FloatArray, np.random.Generator], FloatArray]
"""Segments [n, frames, 4] from states [n, 4] to states [n, 4] that are so many seconds [n] later."""


@dataclass(frozen=True)
class MotionGraphParams:
    """cell: metres of the swept ground; spread, angle, pace: metres, radians and metres a second within which
    two recorded states are the same; reach: seconds of a hop at most; stretches: of the recorded time with
    which a hop is tried, fewer for those between recorded states, of which there are many; slack: by which a
    segment may exceed the recorded limits; doors: states in which a stop without a heading may be passed;
    beside: hops to and from a state near a stop that are tried;
    around: recorded states near a start or goal over which its first or last segment may lead."""

    cell: float = 0.2
    spread: float = 1.6
    angle: float = 0.55
    pace: float = 1.5
    reach: float = 3.5
    stretches: tuple[float, ...] = (0.85, 1.0, 1.15, 1.35)
    few: tuple[float, ...] = (1.0, 1.15)
    slack: float = 1.1
    doors: int = 8
    beside: int = 40
    around: int = 80


@dataclass(frozen=True, eq=False)
class Ground:
    """What the body swept: cells [nx, ny], the first at `origin`; moves: [nx, ny, 8] how often recordings
    moved in each eighth of directions near a cell; body: [k, 2] points around it, in its own frame."""

    origin: FloatArray
    cell: float
    swept: BoolArray
    moves: IntArray
    body: FloatArray

    @classmethod
    def of(cls, drives: FloatArray, outline: tuple[float, float, float], cell: float) -> Ground:
        """From recordings [E, rows, 4] of a body that reaches so far ahead, behind and aside."""
        front, back, side = outline
        states = drives[:, ::2].reshape(-1, 4)
        low = states[:, :2].min(axis=0) - front - cell
        count = np.ceil((states[:, :2].max(axis=0) + front + cell - low) / cell).astype(int)
        ahead, aside = np.arange(-back, front + 1e-9, 0.6 * cell), np.arange(-side, side + 1e-9, 0.6 * cell)
        inner = np.stack(np.meshgrid(ahead, aside), axis=-1).reshape(-1, 2)
        swept = np.zeros(count, dtype=np.bool_)
        for part in np.array_split(states, 1 + len(states) // 5000):
            rows = ((_placed(part, inner) - low) / cell).astype(int)
            swept[rows[..., 0], rows[..., 1]] = True
        moves = np.zeros((*(count // 5 + 1), 8), dtype=np.int64)
        moving = states[np.abs(states[:, 3]) > 0.2]
        cells = ((moving[:, :2] - low) / (5 * cell)).astype(int)
        np.add.at(moves, (cells[:, 0], cells[:, 1], _eighth(moving)), 1)
        near = np.pad(moves, ((1, 1), (1, 1), (0, 0)))
        beside = np.lib.stride_tricks.sliding_window_view(near, (3, 3), axis=(0, 1))
        moves = beside.sum(axis=(-2, -1))
        edge = np.linspace(-back, front, int((front + back) / (1.5 * cell)) + 2)
        across = np.linspace(-side, side, int(2 * side / (1.5 * cell)) + 2)
        body = [np.stack([edge, np.full_like(edge, s)], axis=1) for s in (-side, side)]
        body += [np.stack([np.full_like(across, e), across], axis=1) for e in (-back, front)]
        return cls(low, cell, swept, np.asarray(moves), np.concatenate(body))

    def holds(self, states: FloatArray) -> BoolArray:
        """[...] whether the body [..., 4] stands on swept ground, and moves as recordings do there: against a
        one-way nobody moved, although many passed."""
        rows = ((_placed(states, self.body) - self.origin) / self.cell).astype(int)
        inside = ((rows >= 0) & (rows < self.swept.shape)).all(axis=-1)
        rows = rows.clip(0, np.array(self.swept.shape) - 1)
        stands = (inside & self.swept[rows[..., 0], rows[..., 1]]).all(axis=-1)
        cells = (
            ((states[..., :2] - self.origin) / (5 * self.cell))
            .astype(int)
            .clip(0, np.array(self.moves.shape[:2]) - 1)
        )
        counts, way = self.moves[cells[..., 0], cells[..., 1]], _eighth(states)
        alike = sum(
            np.take_along_axis(counts, ((way + k) % 8)[..., None], axis=-1)[..., 0] for k in (-2, -1, 0, 1, 2)
        )
        is_against = (counts.sum(axis=-1) >= 40) & (alike == 0) & (np.abs(states[..., 3]) > 0.2)
        return np.asarray(stands & ~is_against)


def _eighth(states: FloatArray) -> IntArray:
    """[...] eighth of directions in which states move."""
    angle = states[..., 2] + np.where(states[..., 3] < 0, np.pi, 0.0)
    return np.asarray(np.floor(angle / (np.pi / 4) + 0.5).astype(np.int64) % 8)


def _placed(states: FloatArray, points: FloatArray) -> FloatArray:
    """[..., k, 2] points [k, 2] of the bodies [..., 4]."""
    cos, sin = np.cos(states[..., 2, None]), np.sin(states[..., 2, None])
    x = states[..., 0, None] + cos * points[:, 0] - sin * points[:, 1]
    return np.stack([x, states[..., 1, None] + sin * points[:, 0] + cos * points[:, 1]], axis=-1)


@dataclass(frozen=True)
class Limits:
    """How recordings moved at most: curvature, acceleration and speeds."""

    curvature: float
    acceleration: float
    slowest: float
    fastest: float

    @classmethod
    def of(cls, drives: FloatArray, rate: float) -> Limits:
        """The largest but for one row in a thousand."""
        along, _, turn, gained = _steps(drives)
        is_way = np.abs(along) > 0.05
        bend = np.abs(turn[is_way] / along[is_way])
        speeds = np.quantile(drives[..., 3], (0.0005, 0.9995))
        return cls(
            float(np.quantile(bend, 0.999)),
            float(np.quantile(np.abs(gained) * rate, 0.999)),
            *map(float, speeds),
        )

    def keeps(self, segments: FloatArray, seconds: FloatArray, slack: float) -> BoolArray:
        """[n] whether segments [n, frames, 4] of so many seconds could have been driven, from every frame to
        the next and over eight, where rounding counts for less."""
        along, aside, turn, gained = _steps(segments)
        step = np.broadcast_to((seconds / (segments.shape[1] - 1))[:, None], along.shape)
        speed = 0.5 * (segments[:, 1:, 3] + segments[:, :-1, 3])
        kept = ((speed <= slack * self.fastest) & (speed >= slack * self.slowest)).all(axis=1)
        for frames in (1, 8):
            way, off = _over(np.abs(along), frames), _over(along - speed * step, frames)
            checks = (
                np.abs(_over(aside, frames)) <= 0.015 + 0.08 * way,
                np.abs(_over(turn, frames)) <= 0.015 + slack * way * self.curvature,
                np.abs(off) <= 0.04 + 0.15 * _over(np.abs(speed) * step, frames),
                np.abs(_over(gained, frames)) <= 0.08 + slack * self.acceleration * _over(step, frames),
            )
            kept &= np.logical_and.reduce(checks).all(axis=1)
        return np.asarray(kept)


def _over(values: FloatArray, frames: int) -> FloatArray:
    """[..., t - frames + 1] sums of so many values [..., t] in a row."""
    return np.asarray(np.lib.stride_tricks.sliding_window_view(values, frames, axis=-1).sum(axis=-1))


def _steps(paths: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """[..., t - 1] of paths [..., t, 4]: metres along the heading and aside, radians turned, speed gained."""
    move, turn = np.diff(paths[..., :2], axis=-2), wrapped(np.diff(paths[..., 2], axis=-1))
    middle = paths[..., :-1, 2] + 0.5 * turn
    cos, sin = np.cos(middle), np.sin(middle)
    along, aside = cos * move[..., 0] + sin * move[..., 1], cos * move[..., 1] - sin * move[..., 0]
    return along, aside, turn, np.diff(paths[..., 3], axis=-1)


@dataclass(frozen=True, eq=False)
class Durations:
    """Seconds that recordings took between two states, by how the second lies seen from the first and by both
    speeds: `table`, infinite where none went like that."""

    low: FloatArray
    width: FloatArray
    table: FloatArray

    @classmethod
    def of(cls, drives: FloatArray, rate: float, reach: float) -> Durations:
        """From recordings [E, rows, 4]: the mean of each cell."""
        rows = drives.shape[1]
        low, high = np.array([-7.0, -8.0, -np.pi, -2.5, -2.5]), np.array([14.0, 8.0, np.pi, 5.5, 5.5])
        width = np.array([0.75, 0.75, np.pi / 9, 1.0, 1.0])
        total = np.zeros(np.ceil((high - low) / width - 1e-9).astype(int), dtype=np.float32)
        count = np.zeros_like(total)
        for gap in range(round(0.5 * rate), round(reach * rate) + 1, 2):
            first, last = drives[:, : rows - gap : 1].reshape(-1, 4), drives[:, gap::1].reshape(-1, 4)
            cell, inside = cls(low, width, total)._cells(first, last)
            np.add.at(total, tuple(cell[inside].T), gap / rate)
            np.add.at(count, tuple(cell[inside].T), 1)
        table = np.full_like(total, np.inf)
        np.divide(total, count, out=table, where=count > 0)
        return cls(low, width, table)

    def _cells(self, first: FloatArray, last: FloatArray) -> tuple[IntArray, BoolArray]:
        seen = seen_from(last, first)
        key = np.concatenate([seen[:, :3], first[:, 3:], last[:, 3:]], axis=1)
        cell = np.floor((key - self.low) / self.width).astype(np.int64)
        return cell, np.asarray(((cell >= 0) & (cell < self.table.shape)).all(axis=1))

    def __call__(self, first: FloatArray, last: FloatArray) -> FloatArray:
        """[n] seconds from states [n, 4] to others."""
        cell, inside = self._cells(first, last)
        found = np.full(len(first), np.inf)
        found[inside] = self.table[tuple(cell[inside].T)]
        return found


@dataclass(frozen=True, eq=False)
class Hops:
    """Hops between rows of states: seconds, and segments [n, frames, 4] that were generated, or none yet."""

    source: IntArray
    target: IntArray
    seconds: FloatArray
    segments: FloatArray

    @classmethod
    def suggested(
        cls,
        first: FloatArray,
        last: FloatArray,
        durations: Callable[[FloatArray, FloatArray], FloatArray],
        most: int | None = None,
    ) -> Hops:
        """From states [n, 4] to states [m, 4] as recordings went; of each first one at most so many."""
        near = cKDTree(last[:, :2]).query_ball_point(first[:, :2], FAR)
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        for row, beside in enumerate(near):
            rows = np.array(beside, dtype=np.int64)
            seconds = durations(np.broadcast_to(first[row], (len(rows), 4)), last[rows])
            rows, seconds = rows[np.isfinite(seconds)], seconds[np.isfinite(seconds)]
            order = np.argsort(seconds, kind="stable")
            if most is not None and len(order) > most:
                order = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
            found.append((np.full(len(order), row), rows[order], seconds[order]))
        if not found:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0, 4)))
        source, target, took = (np.concatenate(part) for part in zip(*found, strict=True))
        return cls(source, target, took, np.zeros((0, 0, 4)))

    def at(self, rows: IntArray | BoolArray) -> Hops:
        """Some of them."""
        segments = self.segments[rows] if len(self.segments) else self.segments
        return Hops(self.source[rows], self.target[rows], self.seconds[rows], segments)


@dataclass(frozen=True, eq=False)
class MotionWorld:
    """What recordings tell of a body and where it can go, what generates its motion, and the hops between
    recorded states [n, 4] that it generated."""

    ground: Ground
    limits: Limits
    durations: Durations
    recorded: FloatArray
    states: FloatArray
    hops: Hops
    generate: Generate
    params: MotionGraphParams

    @classmethod
    def of(
        cls,
        drives: FloatArray,
        rate: float,
        outline: tuple[float, float, float],
        generate: Generate,
        seed: int = 0,
        params: MotionGraphParams | None = None,
    ) -> MotionWorld:
        """From recordings [E, rows, 4] with so many rows a second, of a body that reaches so far ahead,
        behind and aside. Every hop that recordings suggest between recorded states is generated once."""
        params, rng = params or MotionGraphParams(), np.random.default_rng(seed)
        durations = Durations.of(drives, rate, params.reach)
        recorded = drives[:, ::3].reshape(-1, 4)
        states = _cover(recorded, params)
        hops = Hops.suggested(states, states, durations)
        ground, limits = Ground.of(drives, outline, params.cell), Limits.of(drives, rate)
        world = cls(ground, limits, durations, recorded, states, hops, generate, params)
        hops = world.generated(hops, states, states, rng, params.few)
        return replace(world, hops=hops.at(np.isfinite(hops.seconds)))

    def generated(
        self,
        hops: Hops,
        first: FloatArray,
        last: FloatArray,
        rng: np.random.Generator,
        stretches: tuple[float, ...],
        batch: int = 4000,
    ) -> Hops:
        """The hops with the quickest segment generated that stays on swept ground and within the limits, and
        its seconds, infinite where there is none."""
        seconds, segments = np.full(len(hops.source), np.inf), []
        for rows in np.array_split(np.arange(len(hops.source)), 1 + len(hops.source) // batch):
            times = (hops.seconds[rows][:, None] * stretches).clip(SHORTEST, LONGEST).ravel()
            source, target = (np.repeat(part[rows], len(stretches)) for part in (hops.source, hops.target))
            made = self.generate(first[source], last[target], times, rng)
            own = np.where(self.are_fine(made, times), times, np.inf).reshape(len(rows), -1)
            best = own.argmin(axis=1)
            seconds[rows] = own[np.arange(len(rows)), best]
            segments.append(made[best + len(stretches) * np.arange(len(rows))].astype(np.float32))
        return replace(hops, seconds=seconds, segments=np.concatenate(segments))

    def are_fine(self, segments: FloatArray, seconds: FloatArray) -> BoolArray:
        """[n] whether segments [n, frames, 4] stay on swept ground and within the recorded limits."""
        is_fine = self.limits.keeps(segments, seconds, self.params.slack)
        rows = np.flatnonzero(is_fine)
        between = 0.5 * (segments[rows, 1:] + segments[rows, :-1])
        between[..., 2] = segments[rows, :-1, 2] + 0.5 * wrapped(np.diff(segments[rows, :, 2], axis=1))
        is_fine[rows] = self.ground.holds(segments[rows]).all(axis=1) & self.ground.holds(between).all(axis=1)
        return is_fine

    def around(self, state: FloatArray, is_before: bool) -> FloatArray:
        """[n, 4] recorded states from or to which recordings went as to or from a state [4]."""
        near = self.recorded[np.linalg.norm(self.recorded[:, :2] - state[:2], axis=1) < FAR]
        here = np.broadcast_to(state, near.shape)
        near = near[np.isfinite(self.durations(near, here) if is_before else self.durations(here, near))]
        most = self.params.around
        return near[np.linspace(0, len(near) - 1, most).astype(np.int64)] if len(near) > most else near

    def doors(self, anchor: FloatArray) -> FloatArray:
        """[n, 4] states in which an anchor (x, y, heading, speed) is left and reached: it alone, or where
        heading and speed are open, NaN, as recordings nearby went."""
        if np.isfinite(anchor).all():
            return anchor[None]
        order = np.argsort(np.linalg.norm(self.states[:, :2] - anchor[:2], axis=1))[: 4 * self.params.doors]
        found = self.states[order].copy()
        found[:, :2] = anchor[:2]
        return found[self.ground.holds(found)][: self.params.doors]


def _cover(states: FloatArray, params: MotionGraphParams) -> FloatArray:
    """Some of the states, so that one lies near each."""
    chord = 2.0 * np.sin(params.angle / 2.0)
    turn = np.stack([np.cos(states[:, 2]), np.sin(states[:, 2])], axis=1) / chord
    key = np.concatenate([states[:, :2] / params.spread, turn, states[:, 3:] / params.pace], axis=1)
    tree, is_open, chosen = cKDTree(key), np.ones(len(key), dtype=np.bool_), []
    for row in np.random.default_rng(0).permutation(len(key)):
        if is_open[row]:
            chosen.append(row)
            is_open[tree.query_ball_point(key[row], 1.0)] = False
    return states[chosen]


@dataclass(frozen=True, eq=False)
class MotionPlan:
    """For each agent the anchors that it visits, states [t, 4], when it is there [t], and the row of each
    anchor; rounds, num_generated: how often the route was solved for, and segments that were generated."""

    route: JointRoute
    states: tuple[FloatArray, ...]
    times: tuple[FloatArray, ...]
    stops: tuple[tuple[int, ...], ...]
    rounds: int
    num_generated: int


def plan_motion(
    world: MotionWorld,
    starts: FloatArray,
    goals: FloatArray,
    waypoints: FloatArray,
    seed: int = 0,
    most_rounds: int = 60,
) -> MotionPlan | None:
    """Who visits what in which order and every motion of it; states [n, 4], heading and speed NaN where they
    are open. None where the graph does not lead there.

    What leads from and to an anchor is generated only where the best route by what is known wants it; then
    the order is solved for again.
    """
    for effort in (1, 4):
        params = world.params
        more = replace(params, beside=effort * params.beside, around=effort * params.around)
        found = _planned(replace(world, params=more), starts, goals, waypoints, seed, most_rounds)
        if found is not None:
            return found
    return None


def _planned(
    world: MotionWorld,
    starts: FloatArray,
    goals: FloatArray,
    waypoints: FloatArray,
    seed: int,
    most_rounds: int,
) -> MotionPlan | None:
    problem = Problem(starts[:, :2], goals[:, :2], waypoints[:, :2])
    graph = MotionGraph(world, np.concatenate([starts, waypoints, goals]), np.random.default_rng(seed))
    route = None
    for number in range(most_rounds):
        cost = graph.costs()
        if not np.isfinite(cost).any():
            return None
        route = AutoSolver()(np.minimum(cost, UNREACHABLE), problem, route)
        legs = [graph.route(order) for order in route.orders]
        if any(one is None for one in legs):
            return None
        chains = [one for one in legs if one is not None]
        if not graph.ask(chains):
            parts = [[graph.path(chain) for chain in agent] for agent in chains]
            states = tuple(
                np.concatenate([agent[0][0][:1], *(path[1:] for path, _ in agent)]) for agent in parts
            )
            times = tuple(_in_turn([when for _, when in agent]) for agent in parts)
            stops = tuple(
                tuple(np.cumsum([0, *(len(path) - 1 for path, _ in agent)]).tolist()) for agent in parts
            )
            return MotionPlan(route, states, times, stops, number + 1, graph.num_generated)
    return None


def _in_turn(times: Sequence[FloatArray]) -> FloatArray:
    """Times of legs, one after the other."""
    found = [np.zeros(1)]
    for when in times:
        found.append(found[-1][-1] + when[1:])
    return np.concatenate(found)


UNREACHABLE = 1e6
"""Seconds of a leg that no hops lead over, so that the rest of a route can still be compared."""


class MotionGraph:
    """The graph of a problem: recorded states, the doors of its anchors, and recorded states around those.
    Hops at the latter two are estimates until they are generated."""

    def __init__(self, world: MotionWorld, anchors: FloatArray, rng: np.random.Generator) -> None:
        self.world, self.rng, self.num_generated = world, rng, 0
        doors = [world.doors(anchor) for anchor in anchors]
        first, ends = len(world.states), np.cumsum([len(world.states), *map(len, doors)])
        self.rows = [np.arange(a, b) for a, b in pairwise(ends)]
        exact = np.concatenate([found for found in doors if len(found) == 1])
        outs = np.concatenate([world.around(state, is_before=False) for state in exact])
        ins = np.concatenate([world.around(state, is_before=True) for state in exact])
        own, most = np.concatenate(doors), world.params.beside
        self.states = np.concatenate([world.states, own, ins, outs])
        known = first + len(own) + len(ins)
        spans = {
            "world": (world.states, 0),
            "own": (own, first),
            "ins": (ins, first + len(own)),
            "outs": (outs, known),
        }
        parts = [world.hops]
        for source, target in (
            ("own", "world"), ("own", "own"), ("own", "ins"), ("own", "outs"),
            ("outs", "world"), ("outs", "own"), ("outs", "ins"),
        ):  # fmt: skip
            (begin, a), (end, b) = spans[source], spans[target]
            found = Hops.suggested(begin, end, world.durations, most)
            parts.append(Hops(found.source + a, found.target + b, found.seconds, found.segments))
        for source, target in (("world", "own"), ("world", "ins"), ("ins", "own")):
            (begin, a), (end, b) = spans[source], spans[target]
            found = Hops.suggested(end, begin, lambda last, before: world.durations(before, last), most)
            parts.append(Hops(found.target + a, found.source + b, found.seconds, found.segments))
        self.source, self.target, self.seconds = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("source", "target", "seconds")
        )
        self.segment = np.concatenate(
            [np.arange(len(world.hops.source)), np.full(len(self.seconds) - len(world.hops.source), -1)]
        )
        self.own: list[FloatArray] = []

    def _graph(self, rows: IntArray, cost: FloatArray) -> csr_matrix:
        """[n + 1, n + 1] with a row behind all, from which `rows` can be reached at some cost."""
        count, is_open = len(self.states), np.isfinite(self.seconds)
        source = np.concatenate([self.source[is_open], np.full(len(rows), count)])
        target = np.concatenate([self.target[is_open], rows])
        # SciPy reads a zero as no hop.
        return csr_matrix(
            (np.concatenate([self.seconds[is_open], cost + 1e-6]), (source, target)), shape=(count + 1,) * 2
        )

    def costs(self) -> FloatArray:
        """[A, A] seconds between anchors by what is known."""
        cost = np.zeros((len(self.rows),) * 2)
        for anchor, rows in enumerate(self.rows):
            found = dijkstra(self._graph(rows, np.zeros(len(rows))), indices=len(self.states))
            cost[anchor] = [found[doors].min(initial=np.inf) for doors in self.rows]
            cost[anchor, anchor] = 0.0
        return cost

    def route(self, order: Sequence[int]) -> list[list[int]] | None:
        """Rows of states along the quickest way over anchors in this order, of each leg; every stop is left
        in the state in which it is reached."""
        rows, before = self.rows[order[0]], []
        cost = np.zeros(len(rows))
        for anchor in order[1:]:
            found, came = dijkstra(
                self._graph(rows, cost), indices=len(self.states), return_predecessors=True
            )
            rows = self.rows[anchor][np.isfinite(found[self.rows[anchor]])]
            cost = found[rows]
            if not len(rows):
                return None
            before.append(came)
        end, legs = int(rows[cost.argmin()]), []
        for came in reversed(before):
            chain = [end]
            while came[chain[-1]] < len(self.states):
                chain.append(int(came[chain[-1]]))
            legs.append(chain[::-1])
            end = chain[-1]
        return legs[::-1]

    def _number(self, source: int, target: int) -> int:
        """Of the quickest hop between two rows."""
        found = np.flatnonzero((self.source == source) & (self.target == target))
        return int(found[self.seconds[found].argmin()])

    def ask(self, routes: Sequence[Sequence[Sequence[int]]]) -> int:
        """Generate the hops at every door that routes pass over a hop that is an estimate; how many."""
        passed = {self._number(a, b) for legs in routes for chain in legs for a, b in pairwise(chain)}
        doors = {
            row for number in passed if self.segment[number] == -1
            for row in (self.source[number], self.target[number]) if row >= len(self.world.states)
        }  # fmt: skip
        beside = np.isin(self.source, list(doors)) | np.isin(self.target, list(doors))
        rows = np.flatnonzero(beside & (self.segment == -1) & np.isfinite(self.seconds))
        if not len(rows):
            return 0
        asked = Hops(self.source[rows], self.target[rows], self.seconds[rows], np.zeros((0, 0, 4)))
        world, known = self.world, len(self.world.hops.source) + len(self.own)
        found = world.generated(asked, self.states, self.states, self.rng, world.params.stretches)
        is_open = np.isfinite(found.seconds)
        self.num_generated += len(rows) * len(world.params.stretches)
        self.seconds[rows], self.segment[rows] = found.seconds, -2
        self.segment[rows[is_open]] = known + np.arange(is_open.sum())
        self.own.extend(found.segments[is_open])
        return len(rows)

    def path(self, chain: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """States [t, 4] along a chain whose hops are generated, and when."""
        known = len(self.world.hops.source)
        states, times = [self.states[chain[:1]]], [np.zeros(1)]
        for a, b in pairwise(chain):
            number = self._number(a, b)
            row = int(self.segment[number])
            made = self.world.hops.segments[row] if row < known else self.own[row - known]
            states.append(np.concatenate([made[1:-1], self.states[[b]]]))
            times.append(times[-1][-1] + self.seconds[number] * np.arange(1, len(made)) / (len(made) - 1))
        return np.concatenate(states), np.concatenate(times)
