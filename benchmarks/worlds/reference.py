"""The shortest ways over what trips drove, in their directions: what plans in a city are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from benchmarks.worlds.trips import pieces, sectors
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_HEADINGS = 8
"""Sectors of directions that tell the places of one cell apart."""

CELL = 10.0
"""Metres of the cells whose recorded places with one direction count as one."""

LEAST_TRIPS = 2
"""Trips that pass a cell in one direction before a way of the reference may."""

NUM_AHEAD = 6
"""Places ahead on a trip that a link of the reference leads over: 30 metres, so that noise adds no length."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The shortest ways over recorded, directed streets: places of one cell and one direction are one node,
    and links lead as trips did. So a way changes trips only where two pass alike, and makes no turn that no
    trip makes. Streets have no directions in the map, and matching noisy trips to them would add errors.

    position: [n, 2] the mean of each node's places; heading: [n] sectors; graph: metres between nodes.
    """

    position: FloatArray
    heading: IntArray
    graph: csr_matrix

    @classmethod
    def made_of(cls, ways: Sequence[FloatArray]) -> Reference:
        """From places along every trip."""
        parts = [pieces(way) for way in ways]
        places = np.concatenate([part[0] for part in parts])
        moves = np.concatenate([part[1] for part in parts])
        owner = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
        low = places.min(axis=0)
        cells = np.floor((places - low) / CELL).astype(np.int64)
        number = cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1]
        keys = number * NUM_HEADINGS + sectors(moves, NUM_HEADINGS)
        keep = _is_passed_often(keys, owner)
        row, places, keys, owner = np.flatnonzero(keep), places[keep], keys[keep], owner[keep]
        known, node = np.unique(keys, return_inverse=True)
        count = np.bincount(node)
        position = np.stack([np.bincount(node, places[:, k]) / count for k in range(2)], axis=1)
        links = [_links(node, owner, row, ahead) for ahead in range(1, NUM_AHEAD + 1)]
        source, target = (np.concatenate(ends) for ends in zip(*links, strict=True))
        pairs = np.unique(np.stack([source, target]), axis=1)
        metres = np.linalg.norm(position[pairs[0]] - position[pairs[1]], axis=1)
        graph = csr_matrix((np.maximum(metres, 1e-6), pairs), shape=(len(position),) * 2)
        return cls(position, known % NUM_HEADINGS, graph)

    def lengths(self, anchors: FloatArray) -> FloatArray:
        """[A, A] metres between anchors, infinite where no recorded way leads."""
        nodes, owner = self._near(anchors)
        found = self._between(anchors, nodes, owner, owner, len(anchors))
        np.fill_diagonal(found, 0.0)
        return found

    def onward_length(self, anchors: FloatArray) -> float:
        """Metres of the shortest route from the first anchor to the last over the others, each of which is
        left in about the direction in which it was reached; infinite where there is none."""
        nodes, owner = self._near(anchors)
        door = NUM_HEADINGS * owner + self.heading[nodes]
        shape = len(anchors), NUM_HEADINGS
        between = self._between(anchors, nodes, owner, door, NUM_HEADINGS * len(anchors)).reshape(shape * 2)
        stops = range(1, len(anchors) - 1)
        return min(_onward([0, *order, len(anchors) - 1], between) for order in permutations(stops))

    def _near(self, anchors: FloatArray) -> tuple[IntArray, IntArray]:
        """Nodes near to anchors, and the anchor of each."""
        near = cKDTree(self.position).query_ball_point(anchors, 1.5 * CELL)
        owner = np.repeat(np.arange(len(anchors)), [len(nodes) for nodes in near])
        return np.concatenate([np.array(found, dtype=np.int64) for found in near]), owner

    def _between(
        self, anchors: FloatArray, nodes: IntArray, owner: IntArray, door: IntArray, count: int
    ) -> FloatArray:
        """[count, count] metres between the doors of anchors; nodes, owner, door: [n] which lead to which."""
        first, own = len(self.position), self.graph.tocoo()
        gap = np.maximum(np.linalg.norm(self.position[nodes] - anchors[owner], axis=1), 1e-6)
        # Anchors are left and reached as two nodes: a way through one would be free to turn there.
        rows = np.concatenate([own.row, first + door, nodes])
        columns = np.concatenate([own.col, nodes, first + count + door])
        metres = np.concatenate([own.data, gap, gap])
        graph = csr_matrix((metres, (rows, columns)), shape=(first + 2 * count,) * 2)
        return np.asarray(dijkstra(graph, indices=np.arange(first, first + count))[:, first + count :])


def _onward(order: Sequence[int], between: FloatArray) -> float:
    """Metres of an order of anchors; between: [A, headings, A, headings] metres by the headings with which
    they are left and reached."""
    reached = np.zeros(NUM_HEADINGS)
    for source, target in pairwise(order):
        # A start is left anyhow; a stop with the heading of the arrival or one beside it.
        left = reached if source == order[0] else np.min([np.roll(reached, k) for k in (-1, 0, 1)], axis=0)
        reached = (left[:, None] + between[source, :, target]).min(axis=0)
    return float(reached.min())


def _is_passed_often(keys: IntArray, owner: IntArray) -> BoolArray:
    """[n]: at least `LEAST_TRIPS` trips have the key of a place: what one alone has may be a stray."""
    pairs = np.unique(np.stack([keys, owner]), axis=1)
    known, count = np.unique(pairs[0], return_counts=True)
    return np.asarray(count[np.searchsorted(known, keys)] >= LEAST_TRIPS)


def _links(node: IntArray, owner: IntArray, row: IntArray, ahead: int) -> tuple[IntArray, IntArray]:
    """Nodes at most `NUM_AHEAD` places after each other on one trip, by the rows [n] they had before some
    were left out: over those a straight line would be a short cut that nobody drove."""
    keep = (owner[:-ahead] == owner[ahead:]) & (node[:-ahead] != node[ahead:])
    keep &= row[ahead:] - row[:-ahead] <= NUM_AHEAD
    return node[:-ahead][keep], node[ahead:][keep]
