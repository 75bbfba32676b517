"""From meetings to plans: join the halves of a bridge, shorten it, and join bridges along an order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from chronoforest.planning.shortening import AssemblyParams, Shortening, resample, shorten_all
from chronoforest.planning.timing import travel_times
from chronoforest.search.tree import Forest
from chronoforest.types import (
    Calibration,
    Density,
    Distance,
    FloatArray,
    Leg,
    Meeting,
    Pair,
    Plan,
    Problem,
    path_length,
)

WORTH_BUILDING = 0.98
"""Another meeting of a pair is tried when the trees reach it in this share of the time."""

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Bridge:
    """A way from anchor to anchor: path [t, 2] after post-processing, and the length before it."""

    path: FloatArray
    raw_length: float

    @property
    def length(self) -> float:
        """World units."""
        return path_length(self.path)

    @property
    def reversed(self) -> Bridge:
        """The way back, in a world where that takes as long."""
        return Bridge(self.path[::-1], self.raw_length)


def build_bridges(
    forest: Forest,
    meetings: Sequence[Meeting],
    density: Density,
    distance: Distance,
    params: AssemblyParams,
    shortened: Shortening = shorten_all,
) -> list[Bridge]:
    """Join the halves of every meeting and shorten them, all at once."""
    raw = [bridge_path(forest, meeting) for meeting in meetings]
    paths = shortened(raw, density, distance, params)
    return [Bridge(path, path_length(way)) for path, way in zip(paths, raw, strict=True)]


def bridge_path(forest: Forest, meeting: Meeting) -> FloatArray:
    """[t, 2]: out of the source to where the trees touch, then in to the target."""
    source, target = forest.sides(meeting.pair)
    return np.concatenate([source.path_to(meeting.source_frame), target.path_to(meeting.target_frame)[::-1]])


def joined(parts: Sequence[FloatArray]) -> tuple[FloatArray, tuple[int, ...]]:
    """Legs that share their ends as one path, and the row where each leg's end lies."""
    path = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
    stops = np.cumsum([0, *(len(part) - 1 for part in parts)])
    return path, tuple(int(stop) for stop in stops)


@dataclass(frozen=True)
class Clock:
    """Times walkable ways: their length at one pace, in steps per unit, and longer only where even `surely`
    times what the distance says is more. Orders differ by a few per cent, and lengths are more exact than a
    learned time."""

    distance: Distance
    pace: float
    surely: float
    params: AssemblyParams

    def __call__(self, paths: Sequence[FloatArray]) -> list[float]:
        """Steps along each path [t, 2]."""
        learned = travel_times(paths, self.distance, self.params)
        return [
            max(self.pace * path_length(path), self.surely * steps)
            for path, steps in zip(paths, learned, strict=True)
        ]


class Walkways:
    """Bridges made walkable so far, the shortest of each pair, and what they take by the clock."""

    def __init__(
        self,
        density: Density,
        distance: Distance,
        params: AssemblyParams,
        is_reversible: bool,
        clock: Clock,
        shortened: Shortening = shorten_all,
    ) -> None:
        self.density = density
        self.distance = distance
        self.params = params
        self.is_reversible = is_reversible
        self.clock = clock
        self.shortened = shortened
        self.bridges: dict[Pair, Bridge] = {}
        self._tried: dict[Pair, float] = {}

    def realise(self, forest: Forest, meetings: Iterable[Meeting]) -> tuple[Meeting, ...]:
        """Meetings at the cost of their walkable bridges, without those that are not worth building or turn
        out no shorter than what is there."""
        worth = [meeting for meeting in meetings if self._is_worth_building(meeting)]
        bridges = build_bridges(forest, worth, self.density, self.distance, self.params, self.shortened)
        found = zip(worth, bridges, strict=True)
        kept = [(meeting, bridge.path) for meeting, bridge in found if self._is_kept(meeting.pair, bridge)]
        costs = self.clock([path for _, path in kept])
        return tuple(replace(meeting, cost=cost) for (meeting, _), cost in zip(kept, costs, strict=True))

    def _is_worth_building(self, meeting: Meeting) -> bool:
        """Whether the trees reach it clearly sooner than what was tried; that it is tried is remembered."""
        is_worth = meeting.cost <= WORTH_BUILDING * self._tried.get(meeting.pair, np.inf)
        if is_worth:
            self._remember(self._tried, meeting.pair, meeting.cost, meeting.cost)
        return is_worth

    def _is_kept(self, pair: Pair, bridge: Bridge) -> bool:
        """Whether a bridge is the shortest of its pair; it is remembered then."""
        is_shorter = pair not in self.bridges or bridge.length < self.bridges[pair].length
        if is_shorter:
            self._remember(self.bridges, pair, bridge, bridge.reversed)
        return is_shorter

    def along(self, links: Iterable[Pair]) -> Bridge:
        """The bridges of adjoining links as one."""
        parts = [self.bridges[link] for link in links]
        return Bridge(joined([part.path for part in parts])[0], sum(part.raw_length for part in parts))

    def _remember(self, table: dict[Pair, _Value], pair: Pair, there: _Value, back: _Value) -> None:
        table[pair] = there
        if self.is_reversible:
            table[pair.reversed] = back


def best_effort(forest: Forest, leg: Pair, calibration: Calibration, spacing: float) -> Bridge:
    """The way to the outgoing tree's node that looks nearest to the leg's target."""
    source, target = forest.sides(leg)
    left = source.outward_pairwise(source.codes, target.codes).min(axis=1)
    node = int(np.argmin(source.cost + calibration.inflate(left)))
    path = resample(source.frame_state[source.prefix_frames(node)], spacing)
    return Bridge(path, path_length(path))


def make_plan(
    order: Sequence[int],
    problem: Problem,
    describe: Callable[[Pair], Leg],
    way: Callable[[Pair], Bridge],
) -> Plan:
    """The ways of one agent's legs up to the first that is not met, whose best effort ends the path.

    order: rows of the problem's anchors. The plan's stops are those that the path reaches.
    """
    pairs = [Pair(a, b) for a, b in pairwise(order)]
    legs = tuple(describe(pair) for pair in pairs)
    num_met = next((k for k, leg in enumerate(legs) if not leg.is_met), len(legs))
    ways = [way(pair) for pair in pairs[: num_met + 1]]
    path, stops = joined([way.path for way in ways])
    return Plan(
        order=[problem.names[anchor] for anchor in order],
        path=path,
        legs=legs,
        raw_length=sum(way.raw_length for way in ways),
        stops=stops[: num_met + 1],
    )
