"""The roadmap of a world: places that are states, and hops between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from chronoforest.roadmap.states import (
    CoverParams,
    StateParams,
    StateSpace,
    Track,
    cover,
    find_space,
    samples_of,
)
from chronoforest.roadmap.straight import are_open, resample, taut
from chronoforest.roadmap.transitions import (
    HopParams,
    TimeParams,
    Times,
    Transitions,
    passes_of,
    times_of,
    transitions_of,
)
from chronoforest.types import FloatArray, IntArray


@dataclass(frozen=True)
class RoadmapParams:
    """How a roadmap is built from recordings, in scales of the position. near: an anchor is joined to places
    so far away, or `aside` beyond the nearest; along: and so far ahead of it or behind it; far: of those up
    to so far beyond the nearest, which count where nothing nearer leads on: a unit too far costs `beyond`
    units; room: that a way may move aside, when it is pulled tight, at a place whose middle one recording
    tells; where n do it is surer by √n; open_room: from recorded places, within
    which an anchor sees others in the open."""

    states: StateParams = field(default_factory=StateParams)
    cover: CoverParams = field(default_factory=CoverParams)
    hops: HopParams = field(default_factory=HopParams)
    times: TimeParams = field(default_factory=TimeParams)
    near: float = 1.25
    aside: float = 1.0
    along: float = 1.0
    far: float = 2.0
    beyond: float = 1000.0
    room: float = 0.7
    open_room: float = 0.45


@dataclass(frozen=True, eq=False)
class Doors:
    """States in which anchors are reached and left: anchor, place and the cost between them [m]."""

    anchor: IntArray
    place: IntArray
    cost: FloatArray


@dataclass(frozen=True, eq=False)
class Roadmap:
    """Places in the middle of what passes there, position and heading [n, d], and the hops between them;
    recorded: [m, d] places along the recordings; pace: steps that a unit of way usually takes. In a world
    whose states are positions alone, the headings say nothing."""

    space: StateSpace
    position: FloatArray
    heading: FloatArray
    hops: Transitions
    recorded: FloatArray
    times: Times
    params: RoadmapParams
    pace: float

    @cached_property
    def _recorded(self) -> cKDTree:
        return cKDTree(self.recorded)

    @cached_property
    def has_recorded_hops(self) -> bool:
        """Whether recordings made any hop, and not models alone."""
        return bool(self.hops.is_recorded.any())

    def straightened(self, path: FloatArray) -> FloatArray:
        """A way [t, d] over places pulled tight, as far as their middles may be wrong."""
        rows, tree = self._joinable
        count = self._num_passes[rows][tree.query(path[1:-1])[1]]
        return taut(path, self.params.room * self.space.spacing / np.sqrt(count)[:, None])

    @cached_property
    def _num_passes(self) -> FloatArray:
        """[n] times that recordings pass each place, 1 at least."""
        made = [
            np.bincount(ends, self.hops.count, minlength=len(self.position))
            for ends in (self.hops.source, self.hops.target)
        ]
        return np.maximum(1.0, np.maximum(*made))

    @cached_property
    def _joinable(self) -> tuple[IntArray, cKDTree]:
        """Places that some hop leaves or reaches; all of them where there are no hops."""
        rows = np.unique(np.concatenate([self.hops.source, self.hops.target]))
        rows = rows if len(rows) else np.arange(len(self.position))
        return rows, cKDTree(self.position[rows])

    def matched(self, track: Track) -> IntArray:
        """[k] numbers of the hops that a track makes, one after the other; −1 where it makes one that the
        roadmap does not have."""
        states = self.params.states
        step = self.space.spacing / states.per_spacing
        samples = samples_of([track], step, states.memory * self.space.spacing)
        rows, tree = self._states
        place = rows[tree.query(self.space.embedded(samples.position, samples.heading))[1]]
        chain = place[np.append(True, place[1:] != place[:-1])]
        return self.hops.numbers(chain, len(self.position))

    @cached_property
    def _states(self) -> tuple[IntArray, cKDTree]:
        """Places that some hop leaves or reaches, as states."""
        rows, _ = self._joinable
        return rows, cKDTree(self.space.embedded(self.position[rows], self.heading[rows]))

    @cached_property
    def parts(self) -> IntArray:
        """[n] which places ways join, there and back: those of one part have one number."""
        graph = self.hops.graph(len(self.position))
        return np.asarray(connected_components(graph, connection="strong")[1], dtype=np.int64)

    def hops_along(self, path: FloatArray, room: float) -> IntArray:
        """Numbers of the hops within `room` units of a path [t, d], in about its direction."""
        points = resample(path, 0.5 * room)
        ahead = np.gradient(points, axis=0)
        starts, ends = self.position[self.hops.source], self.position[self.hops.target]
        gap, nearest = cKDTree(points).query(0.5 * (starts + ends), distance_upper_bound=room)
        rows = np.flatnonzero(np.isfinite(gap))
        move, along = (ends - starts)[rows], ahead[nearest[rows]]
        size = np.linalg.norm(move, axis=1) * np.linalg.norm(along, axis=1)
        least = np.cos(np.radians(self.params.hops.alike))
        return rows[(move * along).sum(axis=1) >= least * size]

    def with_cost_factor(self, hops: IntArray, factor: float) -> Roadmap:
        """The same with some hops, by their numbers, costing `factor` times as much."""
        cost = self.hops.cost.copy()
        cost[hops] *= factor
        return replace(self, hops=replace(self.hops, cost=cost))

    def with_hops(self, position: FloatArray, heading: FloatArray, hops: Transitions) -> Roadmap:
        """The same with more places [k, d] behind those there are, and more hops behind its own."""
        return replace(
            self,
            position=np.concatenate([self.position, position]),
            heading=np.concatenate([self.heading, heading]),
            hops=self.hops.with_more(hops),
            times=replace(self.times, steps=np.append(self.times.steps, hops.steps)),
        )

    def with_way(self, ends: tuple[int, int], path: FloatArray, steps: float, both_ways: bool) -> Roadmap:
        """The same with another, inferred, way [t, d] between two places, which takes `steps`. Its points
        are places behind those there are."""
        first, inner = len(self.position), path[1:-1]
        nodes = np.array([ends[0], *range(first, first + len(inner)), ends[1]], dtype=np.int64)
        length = np.linalg.norm(np.diff(path, axis=0), axis=1)
        share = steps * length / length.sum()
        more = inferred(nodes[:-1], nodes[1:], share / self.pace, share)
        if both_ways:
            more = more.with_more(replace(more, source=more.target, target=more.source))
        ahead = np.gradient(path, axis=0)[1:-1]
        heading = ahead / (np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-9)
        return self.with_hops(inner, heading, more)

    def doors(self, anchors: FloatArray) -> Doors:
        """The states in which anchors [A, d] are reached and left: all within reach, and in the open all in
        sight."""
        rows, tree = self._joinable
        nearest, closest = tree.query(anchors)
        scale = self.space.spacing
        near = tree.query_ball_point(anchors, nearest + self.params.far * scale)
        anchor = np.repeat(np.arange(len(anchors)), [len(found) for found in near])
        place = rows[np.concatenate(near).astype(np.int64)]
        gap = np.linalg.norm(self.position[place] - anchors[anchor], axis=1)
        if not self.space.is_open:
            params, move = self.params, self.position[place] - anchors[anchor]
            most = np.maximum(params.near * scale, nearest + params.aside * scale)
            ahead = np.abs((move * self.heading[place]).sum(axis=1))
            beyond = np.maximum(gap - most[anchor], ahead - np.maximum(params.along * scale, nearest)[anchor])
            return Doors(anchor, place, gap + params.beyond * np.maximum(beyond, 0.0))
        # What lies outside the recordings is in sight of what is as near to them.
        room = self.params.open_room * scale + self._recorded.query(anchors)[0]
        is_seen = are_open(anchors[anchor], self.position[place], self._recorded, room[anchor], scale / 4)
        is_blind = np.bincount(anchor, is_seen, minlength=len(anchors)) == 0
        is_seen |= is_blind[anchor] & (place == rows[closest][anchor])
        return Doors(anchor[is_seen], place[is_seen], gap[is_seen])


def inferred(source: IntArray, target: IntArray, cost: FloatArray, steps: FloatArray) -> Transitions:
    """Hops that no recording made."""
    return Transitions(source, target, np.zeros(len(source), dtype=np.int64), cost, steps)


def usual_pace(hops: Transitions) -> float:
    """Steps that a unit of way usually takes, by the hops that recordings made."""
    known = hops.is_recorded & (hops.cost > 0)
    return float(np.median(hops.steps[known] / hops.cost[known])) if known.any() else 1.0


def build_roadmap(
    tracks: Sequence[Track], params: RoadmapParams | None = None, both_ways: bool | None = None
) -> Roadmap:
    """The roadmap of recordings; both_ways: whether any way may be taken back, found where not given."""
    params = params or RoadmapParams()
    space = find_space(tracks, params.states, both_ways)
    samples = samples_of(
        tracks, space.spacing / params.states.per_spacing, params.states.memory * space.spacing
    )
    places = cover(samples, space, params.cover)
    passes = passes_of(samples, places)
    hops = transitions_of(samples, places, space, passes, params.hops)
    times = times_of(hops, passes, len(places.position), params.times)
    pace, recorded = usual_pace(hops), samples.position
    return Roadmap(space, places.position, places.heading, hops, recorded, times, params, pace)
