"""Chains of hops that turn no sharper than one can: a place is a node for every heading one arrives with.

Where ways are lanes, a sharp turn is one that nobody makes. What somebody makes is a curve of recorded
directions, along which hops lead without one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from chronoforest.roadmap.hops import Hops
from chronoforest.types import FloatArray, IntArray

NUM_HEADINGS = 16
"""Sectors of headings."""

SHARPEST = 2
"""Sectors that the heading may change by from one hop to the next, unless nobody drove that anyway."""


@dataclass(frozen=True, eq=False)
class Turns:
    """Which hop may follow which. Nodes: the `first` places of the roadmap, once for every heading; then the
    anchors as they are left, with any heading; then the anchors as they are reached.

    source, target: [l] nodes; hop: [l] the hop that leads from the one to the other.
    """

    source: IntArray
    target: IntArray
    hop: IntArray
    first: int
    num_anchors: int

    @property
    def num_nodes(self) -> int:
        """Places with their headings, and the anchors twice."""
        return NUM_HEADINGS * self.first + 2 * self.num_anchors

    def graph(self, steps: FloatArray) -> csr_matrix:
        """What it takes from node to node, by the steps [e] of the hops."""
        return csr_matrix((steps[self.hop], (self.source, self.target)), shape=(self.num_nodes,) * 2)

    def leaving(self) -> IntArray:
        """[A] the nodes of anchors that are left."""
        return NUM_HEADINGS * self.first + np.arange(self.num_anchors)

    def reached(self) -> IntArray:
        """[A] the nodes of anchors that are reached."""
        return self.leaving() + self.num_anchors

    def places(self, nodes: IntArray) -> IntArray:
        """The place of each node, anchors behind those of the roadmap."""
        last = NUM_HEADINGS * self.first
        anchors = self.first + (nodes - last) % max(1, self.num_anchors)
        return np.where(nodes < last, nodes // NUM_HEADINGS, anchors)


def turns(position: FloatArray, hops: Hops, num_anchors: int) -> Turns:
    """What may follow what over places [n, 2], the last of which are anchors."""
    first = len(position) - num_anchors
    heading = headings(position[hops.target] - position[hops.source])
    into = NUM_HEADINGS * hops.target + heading
    reached = NUM_HEADINGS * first + num_anchors + (hops.target - first)
    target = np.where(hops.target < first, into, reached)
    is_there = np.zeros(NUM_HEADINGS * len(position), dtype=np.bool_)
    is_there[into] = True
    parts = [_from_anchors(hops, target, first)]
    for change in range(NUM_HEADINGS):
        source = NUM_HEADINGS * hops.source + (heading + change) % NUM_HEADINGS
        is_sharp = min(change, NUM_HEADINGS - change) > SHARPEST
        rows = np.flatnonzero((hops.source < first) & is_there[source] & ~(hops.is_driven & is_sharp))
        parts.append((source[rows], target[rows], rows))
    source, target, hop = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Turns(source, target, hop, first, num_anchors)


def headings(moves: FloatArray) -> IntArray:
    """[n] the sector of each move [n, 2]."""
    angle = np.arctan2(moves[:, 1], moves[:, 0])
    return np.rint(angle * NUM_HEADINGS / (2.0 * np.pi)).astype(np.int64) % NUM_HEADINGS


def _from_anchors(hops: Hops, target: IntArray, first: int) -> tuple[IntArray, IntArray, IntArray]:
    """Links out of anchors, which are left with any heading."""
    rows = np.flatnonzero(hops.source >= first)
    return NUM_HEADINGS * first + hops.source[rows] - first, target[rows], rows
