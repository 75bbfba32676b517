"""Streets of a road network, as maps have them: what is driven both ways along one line is one line.

In a network the two directions of a street are states and hops of their own, a few metres apart. Here
states of opposite headings that lie side by side are one node, and a hop leads over the nodes of the other
direction that lie on it: both directions share their segments. Turns that this would add are forbidden.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from chronoforest.exports.network import Network
from chronoforest.types import FloatArray, IntArray

OPPOSITE = np.cos(np.radians(150.0))
"""Of the angle between headings of the two directions of a street, at most."""


@dataclass(frozen=True, eq=False)
class Streets:
    """Nodes [n, 2] in the plane, and directed segments between them: source, target, seconds and count of
    recordings [m]; forbidden: [k, 3] nodes from, over and to which nobody drives."""

    nodes: FloatArray
    source: IntArray
    target: IntArray
    seconds: FloatArray
    count: IntArray
    forbidden: IntArray

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Nodes of each segment."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))

    @property
    def speed(self) -> FloatArray:
        """[m] units a second."""
        length = np.linalg.norm(self.nodes[self.source] - self.nodes[self.target], axis=1)
        return np.asarray(length / np.maximum(self.seconds, 1e-3))


def streets(network: Network, beside: float = 0.8, close: float = 0.3) -> Streets:
    """The streets of a network; beside, close: in times of its reach, how far from a hop a state of the other
    direction may lie on it, and how near to each other along the street states are one node."""
    reach, ends = network.reach, np.stack([network.source, network.target], axis=1)
    ahead = np.stack([np.cos(network.heading), np.sin(network.heading)], axis=1)
    hop, state, along, aside = _beside(network.position, network.position[ends], ahead, beside * reach)
    nearest = np.lexsort((np.abs(aside), state))
    first = nearest[np.unique(state[nearest], return_index=True)[1]]
    move = network.position[ends[:, 1]] - network.position[ends[:, 0]]
    unit = move / np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
    left = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
    position = network.position.copy()
    position[state[first]] -= 0.5 * aside[first, None] * left[hop[first]]
    node = _merged(network.position, ahead, beside * reach, close * reach)
    count = np.bincount(node).astype(np.float64)
    nodes = np.stack([np.bincount(node, axis) / count for axis in position.T], axis=1)
    hop, state, along, _ = _beside(nodes[node], nodes[node[ends]], ahead, 0.5 * beside * reach)
    is_inner = (node[state, None] != node[ends[hop]]).all(axis=1)
    order = np.flatnonzero(is_inner)[np.lexsort((along[is_inner], hop[is_inner]))]
    inner = np.split(node[state[order]], np.searchsorted(hop[order], np.arange(1, network.num_hops)))
    paths = [_once([a, *few.tolist(), b]) for (a, b), few in zip(node[ends].tolist(), inner, strict=True)]
    return _segments(network, node, nodes, paths)


def _beside(
    position: FloatArray, ends: FloatArray, ahead: FloatArray, most: float
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Hops, by their ends [m, 2, 2], and states of the other direction that lie on them, [k] of both, how far
    along the hop and how far to its left."""
    start, move = ends[:, 0], ends[:, 1] - ends[:, 0]
    length = np.maximum(np.linalg.norm(move, axis=1), 1e-9)
    unit = move / length[:, None]
    found = cKDTree(position).query_ball_point(start + move / 2, length / 2 + most)
    hop = np.repeat(np.arange(len(ends)), [len(rows) for rows in found])
    state = np.concatenate(found).astype(np.int64)
    gap = position[state] - start[hop]
    along = (gap * unit[hop]).sum(axis=1)
    aside = gap[:, 1] * unit[hop, 0] - gap[:, 0] * unit[hop, 1]
    is_on = (np.abs(aside) <= most) & ((ahead[state] * unit[hop]).sum(axis=1) <= OPPOSITE)
    is_on &= (along > 0.0) & (along < length[hop])
    return hop[is_on], state[is_on], along[is_on], aside[is_on]


def _merged(position: FloatArray, ahead: FloatArray, beside: float, close: float) -> IntArray:
    """[n] nodes of states: two of opposite headings side by side, the nearest to each other, share one."""
    pairs = cKDTree(position).query_pairs(np.hypot(beside, close), output_type="ndarray")
    pairs = pairs[(ahead[pairs[:, 0]] * ahead[pairs[:, 1]]).sum(axis=1) <= OPPOSITE]
    gap, along = position[pairs[:, 1]] - position[pairs[:, 0]], ahead[pairs[:, 0]]
    pairs = pairs[(np.abs((gap * along).sum(axis=1)) <= close)]
    gap = np.linalg.norm(position[pairs[:, 0]] - position[pairs[:, 1]], axis=1)
    least = np.full(len(position), np.inf)
    np.minimum.at(least, pairs, gap[:, None])
    pairs = pairs[(gap[:, None] <= least[pairs]).all(axis=1)]
    graph = coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(position),) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _once(path: list[int]) -> list[int]:
    """A path without a node twice in a row."""
    return [path[0], *(b for a, b in pairwise(path) if a != b)]


def _segments(network: Network, node: IntArray, nodes: FloatArray, paths: list[list[int]]) -> Streets:
    """Segments of the paths of hops, the quickest hop giving the time, and the turns that no hops make."""
    times: dict[tuple[int, int], float] = {}
    counts: dict[tuple[int, int], int] = defaultdict(int)
    made: set[tuple[int, int, int]] = set()
    into, out, onward = defaultdict(set), defaultdict(set), defaultdict(set)
    for hop, path in enumerate(paths):
        parts = np.linalg.norm(np.diff(nodes[path], axis=0), axis=1)
        shares = network.seconds[hop] * parts / max(parts.sum(), 1e-9)
        for pair, share in zip(pairwise(path), shares.tolist(), strict=True):
            times[pair] = min(share, times.get(pair, np.inf))
            counts[pair] += int(network.count[hop])
            onward[pair[0]].add(pair[1])
        made.update(zip(path, path[1:], path[2:], strict=False))
        if len(path) > 1:
            into[int(network.target[hop])].add(path[-2])
            out[int(network.source[hop])].add(path[1])
    for state, via in enumerate(node.tolist()):
        made.update((a, via, b) for a in into[state] for b in out[state])
    forbidden = [(a, via, b) for a, via in times for b in sorted(onward[via]) if (a, via, b) not in made]
    source, target = np.array(list(times), dtype=np.int64).reshape(-1, 2).T
    count = np.array([counts[pair] for pair in times])
    forbid = np.array(forbidden, dtype=np.int64).reshape(-1, 3)
    return Streets(nodes, source, target, np.array(list(times.values())), count, forbid)
