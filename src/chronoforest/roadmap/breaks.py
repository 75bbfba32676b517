"""Where a roadmap falls apart between anchors: what can be reached, what leads on, ways that join both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import binary_dilation, label
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order
from scipy.spatial import cKDTree

from chronoforest.roadmap.hops import Hops
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.turns import turns
from chronoforest.roadmap.ways import Joined
from chronoforest.types import BoolArray, Distance, FloatArray, IntArray, Support

NUM_NEAR = 4
"""Places on the near side that each place on the far side is compared with."""

MOST_PAIRS = 512
"""Pairs of places, the nearest in a straight line, of which the learned distance tells the best."""


@dataclass(frozen=True, eq=False)
class Break:
    """Where no way leads on from an anchor to another: rows of the two nearest places, one that is reached
    and one that leads on to the other anchor; extents: units that both sides get away from their anchors."""

    reached: int
    wanted: int
    extents: tuple[float, float]


def find_break(joined: Joined, source: int, target: int, distance: Distance) -> Break:
    """Between two anchors that no way joins; nearest is what the learned distance calls so."""
    here, there = reached_from(joined, source), leading_to(joined, target)
    position, first = joined.places.position, joined.first
    near, far = _closest(position, here, there, distance)
    extents = (
        _extent(position[here], position[first + source]),
        _extent(position[there], position[first + target]),
    )
    return Break(near, far, extents)


def reached_from(joined: Joined, anchor: int) -> IntArray:
    """[n] places to which ways lead from an anchor, its own among them."""
    graph, leaving, _ = joined.network()
    return _places(joined, breadth_first_order(graph, leaving[anchor], return_predecessors=False), anchor)


def leading_to(joined: Joined, anchor: int) -> IntArray:
    """[n] places from which ways lead to an anchor, its own among them."""
    graph, _, arriving = joined.network()
    back = csr_matrix(graph.T)
    return _places(joined, breadth_first_order(back, arriving[anchor], return_predecessors=False), anchor)


def with_way(
    joined: Joined, ends: tuple[int, int], path: FloatArray, steps: float, is_reversible: bool
) -> Joined:
    """The roadmap with another way [t, d] between two of its places, which takes so many steps.

    Its points are places behind those of the roadmap. Hops keep their numbers, and the new ones follow:
    nobody is known to have driven them, so one may turn into them as sharply as need be.
    """
    first, inner = joined.first, path[1:-1]
    places = Places(
        np.insert(joined.places.position, first, inner, axis=0),
        np.insert(joined.places.spacing, first, np.full(len(inner), joined.places.spacing[ends[0]])),
    )

    def moved(rows: IntArray) -> IntArray:
        return np.asarray(np.where(rows < first, rows, rows + len(inner)))

    start, end = moved(np.array(ends))
    nodes = np.array([start, *range(first, first + len(inner)), end], dtype=np.int64)
    length = np.linalg.norm(np.diff(path, axis=0), axis=1)
    more = Hops(nodes[:-1], nodes[1:], steps * length / length.sum(), np.zeros(len(length), dtype=np.bool_))
    if is_reversible:
        more = more.with_more(replace(more, source=more.target, target=more.source))
    old = replace(joined.hops, source=moved(joined.hops.source), target=moved(joined.hops.target))
    hops = old.with_more(more)
    over = None if joined.turns is None else turns(places.position, hops, joined.num_anchors)
    return Joined(places, hops, joined.num_anchors, over)


class SupportParts:
    """The parts into which a support falls, where no more than so many units lie between."""

    def __init__(self, support: Support, most_apart: float) -> None:
        reach = int(0.5 * most_apart / support.cell)
        mask = binary_dilation(support.mask, iterations=reach) if reach else support.mask
        parts, _ = label(mask, np.ones((3,) * mask.ndim))
        cells = np.argwhere(mask)
        self._places = support.origin + support.cell * cells
        self._parts = parts[tuple(cells.T)]

    def joins(self, ends: FloatArray) -> bool:
        """Whether recordings lead from about one place to about the other [2, d]."""
        first, second = (self._part(end) for end in ends)
        return first == second

    def _part(self, place: FloatArray) -> int:
        return int(self._parts[np.argmin(((self._places - place) ** 2).sum(axis=1))])


def _closest(position: FloatArray, here: IntArray, there: IntArray, distance: Distance) -> tuple[int, int]:
    gap, near = cKDTree(position[here]).query(position[there], k=np.arange(1, min(NUM_NEAR, len(here)) + 1))
    order = np.argsort(gap, axis=None, kind="stable")[:MOST_PAIRS]
    rows, columns = np.unravel_index(order, gap.shape)
    sources, targets = here[near[rows, columns]], there[rows]
    steps = distance.between(distance.encode(position[sources]), distance.encode(position[targets]))
    best = int(np.argmin(steps))
    return int(sources[best]), int(targets[best])


def _extent(points: FloatArray, anchor: FloatArray) -> float:
    return float(np.linalg.norm(points - anchor, axis=1).max())


def _places(joined: Joined, nodes: IntArray, anchor: int) -> IntArray:
    """The places of nodes, each once, without the anchors but the one."""
    places = nodes if joined.turns is None else joined.turns.places(nodes)
    own: BoolArray = (places < joined.first) | (places == joined.first + anchor)
    return np.unique(places[own])
