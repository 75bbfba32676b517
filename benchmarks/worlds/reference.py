"""The shortest ways over what trips drove, in their directions: what plans in a city are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    position: [n, 2] the mean of each node's places; graph: metres between nodes.
    """

    position: FloatArray
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
        _, node = np.unique(keys, return_inverse=True)
        count = np.bincount(node)
        position = np.stack([np.bincount(node, places[:, k]) / count for k in range(2)], axis=1)
        links = [_links(node, owner, row, ahead) for ahead in range(1, NUM_AHEAD + 1)]
        source, target = (np.concatenate(ends) for ends in zip(*links, strict=True))
        pairs = np.unique(np.stack([source, target]), axis=1)
        metres = np.linalg.norm(position[pairs[0]] - position[pairs[1]], axis=1)
        return cls(position, csr_matrix((np.maximum(metres, 1e-6), pairs), shape=(len(position),) * 2))

    def lengths(self, anchors: FloatArray) -> FloatArray:
        """[A, A] metres between anchors, infinite where no recorded way leads."""
        first, count = len(self.position), len(anchors)
        near = cKDTree(self.position).query_ball_point(anchors, 1.5 * CELL)
        owner = np.repeat(np.arange(count), [len(nodes) for nodes in near])
        nodes = np.concatenate([np.array(found, dtype=np.int64) for found in near])
        gap = np.maximum(np.linalg.norm(self.position[nodes] - anchors[owner], axis=1), 1e-6)
        own = self.graph.tocoo()
        # Anchors are left and reached as two nodes: a way through one would be free to turn there.
        rows = np.concatenate([own.row, first + owner, nodes])
        columns = np.concatenate([own.col, nodes, first + count + owner])
        metres = np.concatenate([own.data, gap, gap])
        graph = csr_matrix((metres, (rows, columns)), shape=(first + 2 * count,) * 2)
        found: FloatArray = dijkstra(graph, indices=np.arange(first, first + count))[:, first + count :]
        np.fill_diagonal(found, 0.0)
        return found


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
