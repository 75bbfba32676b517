"""Chains of hops that turn no sharper than one can: a place is a node for every heading one arrives with.

Where ways are lanes, a sharp turn is one that nobody makes. What somebody makes is a curve of recorded
directions, along which hops lead without one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from chronoforest.roadmap.hops import Hops
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_HEADINGS = 16
"""Sectors of headings."""

SHARPEST = 2
"""Sectors that the heading may change by from one hop to the next. Over a hop that nobody drove it may change
by more, at a price."""

ROUND = 25.0
"""What a turn costs that nobody makes, in usual hops: how far one goes round instead. In a city of blocks
twice as much saves half of the turns that are left, and makes routes over stops 4 % longer."""

Links = tuple[IntArray, IntArray, IntArray, BoolArray]
"""Nodes from which and to which links lead, their hops, and whether one turns sharply over them."""


@dataclass(frozen=True, eq=False)
class Turns:
    """Which hop may follow which. Nodes: the `first` places of the roadmap, once for every heading; then the
    anchors as they are left, with any heading; as they are reached; as they are left by every door; and as
    they are reached, once for every heading.

    source, target: [l] nodes; hop: [l] the hop that leads from the one to the other; is_sharp: [l] over which
    one turns as nobody does; turning: steps that this costs.
    """

    source: IntArray
    target: IntArray
    hop: IntArray
    is_sharp: BoolArray
    turning: float
    first: int
    num_anchors: int
    doors: Doors

    @property
    def num_nodes(self) -> int:
        """Places with their headings, and the anchors in four ways."""
        return NUM_HEADINGS * self.first + len(self._owner)

    def graph(self, steps: FloatArray) -> csr_matrix:
        """What it takes from node to node, by the steps [e] of the hops."""
        cost = steps[self.hop] + self.turning * self.is_sharp
        return csr_matrix((cost, (self.source, self.target)), shape=(self.num_nodes,) * 2)

    def leaving(self) -> IntArray:
        """[A] the nodes of anchors that are left."""
        return NUM_HEADINGS * self.first + np.arange(self.num_anchors)

    def reached(self) -> IntArray:
        """[A] the nodes of anchors that are reached."""
        return self.leaving() + self.num_anchors

    def by_door(self) -> IntArray:
        """[doors] the nodes of anchors that are left by one."""
        return NUM_HEADINGS * self.first + 2 * self.num_anchors + np.arange(len(self.doors))

    def by_heading(self) -> IntArray:
        """[A, headings] the nodes of anchors that are reached with one."""
        behind = NUM_HEADINGS * self.first + 2 * self.num_anchors + len(self.doors)
        return behind + np.arange(NUM_HEADINGS * self.num_anchors).reshape(-1, NUM_HEADINGS)

    def places(self, nodes: IntArray) -> IntArray:
        """The place of each node, anchors behind those of the roadmap."""
        last = NUM_HEADINGS * self.first
        anchors = self.first + np.append(self._owner, 0)[np.maximum(nodes - last, -1)]
        return np.where(nodes < last, nodes // NUM_HEADINGS, anchors)

    @cached_property
    def _owner(self) -> IntArray:
        """[n] the anchor of every node behind those of the places."""
        anchors = np.arange(self.num_anchors)
        return np.concatenate([anchors, anchors, self.doors.anchor, np.repeat(anchors, NUM_HEADINGS)])


@dataclass(frozen=True, eq=False)
class Doors:
    """The directions in which recordings leave anchors. anchor: [n] the one that a door belongs to; headings:
    [n, headings] those that it comprises."""

    anchor: IntArray
    headings: BoolArray

    def __len__(self) -> int:
        return len(self.anchor)

    def goes_on(self) -> BoolArray:
        """[n, headings]: who arrives at the anchor with a heading goes on through the door without a sharp
        turn."""
        turned = [np.roll(self.headings, change, axis=1) for change in range(-SHARPEST, SHARPEST + 1)]
        return np.asarray(np.any(turned, axis=0))


def turns(position: FloatArray, hops: Hops, num_anchors: int) -> Turns:
    """What may follow what over places [n, 2], the last of which are anchors."""
    first = len(position) - num_anchors
    heading = headings(position[hops.target] - position[hops.source])
    into = NUM_HEADINGS * hops.target + heading
    reached = NUM_HEADINGS * first + num_anchors + (hops.target - first)
    target = np.where(hops.target < first, into, reached)
    is_there = np.zeros(NUM_HEADINGS * len(position), dtype=np.bool_)
    is_there[into] = True
    doors = _doors(hops, heading, first, num_anchors)
    parts = [_from_anchors(hops, target, first), _by_door(doors, hops, heading, target, first, num_anchors)]
    for change in range(NUM_HEADINGS):
        source = NUM_HEADINGS * hops.source + (heading + change) % NUM_HEADINGS
        is_sharp = min(change, NUM_HEADINGS - change) > SHARPEST
        rows = np.flatnonzero((hops.source < first) & is_there[source] & ~(hops.is_driven & is_sharp))
        parts.append((source[rows], target[rows], rows, np.full(len(rows), is_sharp)))
    source, target, hop, sharp = (np.concatenate(part) for part in zip(*parts, strict=True))
    found = Turns(source, target, hop, sharp, _turning(hops), first, num_anchors, doors)
    into = np.flatnonzero(hops.target[hop] >= first)
    arrivals = found.by_heading()[hops.target[hop[into]] - first, heading[hop[into]]]
    return replace(
        found,
        source=np.concatenate([source, source[into]]),
        target=np.concatenate([target, arrivals]),
        hop=np.concatenate([hop, hop[into]]),
        is_sharp=np.concatenate([sharp, sharp[into]]),
    )


def headings(moves: FloatArray) -> IntArray:
    """[n] the sector of each move [n, 2]."""
    angle = np.arctan2(moves[:, 1], moves[:, 0])
    return np.rint(angle * NUM_HEADINGS / (2.0 * np.pi)).astype(np.int64) % NUM_HEADINGS


def _turning(hops: Hops) -> float:
    """Steps that a turn costs which nobody makes."""
    return ROUND * float(np.median(hops.steps[hops.is_driven])) if hops.is_driven.any() else 0.0


def _from_anchors(hops: Hops, target: IntArray, first: int) -> Links:
    """Links out of anchors, which are left with any heading."""
    rows = np.flatnonzero(hops.source >= first)
    nodes = NUM_HEADINGS * first + hops.source[rows] - first
    return nodes, target[rows], rows, np.zeros(len(rows), dtype=np.bool_)


def _doors(hops: Hops, heading: IntArray, first: int, num_anchors: int) -> Doors:
    """The headings [e] of driven hops out of anchors, as doors of at most as many as one may turn by; an
    anchor that nobody leaves has one door, which comprises none."""
    is_left = np.zeros((num_anchors, NUM_HEADINGS), dtype=np.bool_)
    rows = np.flatnonzero((hops.source >= first) & hops.is_driven)
    is_left[hops.source[rows] - first, heading[rows]] = True
    found = [(anchor, door) for anchor in range(num_anchors) for door in _runs(is_left[anchor])]
    comprised = np.zeros((len(found), NUM_HEADINGS), dtype=np.bool_)
    for row, (_, door) in enumerate(found):
        comprised[row, door] = True
    return Doors(np.array([anchor for anchor, _ in found], dtype=np.int64), comprised)


def _runs(is_there: BoolArray) -> list[list[int]]:
    """Neighbouring headings [headings] together, at most `SHARPEST` + 1 of them, round the circle."""
    if not is_there.any():
        return [[]]
    begin = next((k for k in range(NUM_HEADINGS) if is_there[k] and not is_there[k - 1]), 0)
    runs: list[list[int]] = []
    for k in ((begin + step) % NUM_HEADINGS for step in range(NUM_HEADINGS)):
        if not is_there[k]:
            continue
        if runs and len(runs[-1]) <= SHARPEST and (k - runs[-1][-1]) % NUM_HEADINGS == 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    return runs


def _by_door(
    doors: Doors, hops: Hops, heading: IntArray, target: IntArray, first: int, num_anchors: int
) -> Links:
    """Links out of the doors of anchors; what nobody drove may be taken through any."""
    rows = np.flatnonzero(hops.source >= first)
    is_own = doors.anchor[:, None] == hops.source[rows] - first
    door, row = np.nonzero(is_own & (doors.headings[:, heading[rows]] | ~hops.is_driven[rows]))
    nodes, found = NUM_HEADINGS * first + 2 * num_anchors + door, rows[row]
    return nodes, target[found], found, ~doors.goes_on()[door, heading[found]]
