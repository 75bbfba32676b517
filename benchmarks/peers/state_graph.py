"""`state-graph`: places cover the recorded states (position and heading), hops lead as recordings did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from chronoforest.errors import InvalidParameter
from chronoforest.peers.legs import Inputs, LegSearch
from chronoforest.peers.registry import Peer
from chronoforest.types import FloatArray, IntArray, Problem, lengths_along

LEAST = 1e-6  # units of a hop at least: SciPy reads a zero as no hop


@dataclass(frozen=True, eq=False)
class RecordedGraph:
    """position: [n, d] of the nodes; graph: [n, n] units from node to node; reach: units from an anchor to
    the nodes where it is left and reached."""

    position: FloatArray
    graph: csr_matrix
    reach: float

    def costs(self, anchors: FloatArray) -> FloatArray:
        """[A, A] units of the shortest ways between anchors, which are left and reached in any state."""
        doors = [self._doors(anchor) for anchor in anchors]
        found = np.stack([self._field(*door)[0] for door in doors])
        into = [(found[:, rows] + gap).min(axis=1, initial=np.inf) for rows, gap in doors]
        cost = np.stack(into, axis=1)
        np.fill_diagonal(cost, 0.0)
        return cost

    def route(self, anchors: FloatArray) -> list[FloatArray] | None:
        """[t, d] of every leg from one anchor to the next, each stop left in the state in which it was
        reached; None where recordings do not lead on."""
        doors = [self._doors(anchor) for anchor in anchors]
        (rows, cost), before = doors[0], []
        for target, gap in doors[1:]:
            found, nodes = self._field(rows, cost)
            before.append(nodes)
            rows, cost = target, found[target] + gap
            if not np.isfinite(cost).any():
                return None
        end, legs = int(rows[np.argmin(cost)]), []
        for nodes, (source, goal) in zip(before[::-1], list(pairwise(anchors))[::-1], strict=True):
            chain = [end]
            while nodes[chain[-1]] < len(self.position):
                chain.append(int(nodes[chain[-1]]))
            # An anchor stands for the place where it is left or reached: beside it the way would go back.
            legs.append(np.concatenate([[source], self.position[chain[-2:0:-1]], [goal]]))
            end = chain[-1]
        return legs[::-1]

    def _doors(self, anchor: FloatArray) -> tuple[IntArray, FloatArray]:
        """Nodes within reach of an anchor [d], and how far away they are."""
        gap = np.linalg.norm(self.position - anchor, axis=1)
        rows = np.flatnonzero(gap <= self.reach)
        return rows, gap[rows]

    def _field(self, rows: IntArray, cost: FloatArray) -> tuple[FloatArray, IntArray]:
        """[n] units to every node from some whose costs are known, and the node before each, n where a way
        begins."""
        count, own = len(self.position), self.graph
        is_open = np.isfinite(cost)
        values = np.concatenate([own.data, np.maximum(cost[is_open], LEAST)])
        columns = np.concatenate([own.indices, rows[is_open]])
        graph = csr_matrix((values, columns, np.append(own.indptr, len(values))), shape=(count + 1,) * 2)
        found, before = dijkstra(graph, indices=count, return_predecessors=True)
        return found[:count], before[:count]


@dataclass(frozen=True, eq=False)
class StateGraph(RecordedGraph):
    """A graph over places that cover recorded states."""

    @classmethod
    def made_of(
        cls, tracks: Sequence[FloatArray], spacing: float = 12.0, angle: float = 30.0, step: float = 5.0
    ) -> Self:
        """From recordings [n, 2] read every `step` units; states within `spacing` units and `angle` degrees
        are the same."""
        ways = [evenly(track, step) for track in tracks]
        chord = 2.0 * np.sin(np.radians(angle) / 2.0)
        states = np.concatenate([np.hstack([way / spacing, headings(way) / chord]) for way in ways])
        owner = np.repeat(np.arange(len(ways)), [len(way) for way in ways])
        chosen = cover(states)
        place = cKDTree(states[chosen]).query(states)[1]
        position = np.concatenate(ways)[chosen]
        is_hop = (owner[1:] == owner[:-1]) & (place[1:] != place[:-1])
        return cls(position, joined(position, place[:-1][is_hop], place[1:][is_hop]), spacing)


class RecordedMethod:
    """A `Method`: the legs of an agent's route are found together, so that every stop is left as it is
    reached."""

    def __init__(self, graph: RecordedGraph, step_length: float) -> None:
        self.graph, self.step_length = graph, step_length
        self._route: list[_RecordedLeg] = []

    def costs(self, problem: Problem) -> FloatArray:
        """[A, A] steps of the shortest ways between anchors; a plan begins with this."""
        self._route = []
        return self.graph.costs(problem.anchors) / self.step_length

    def begin(self, source: FloatArray, target: FloatArray) -> LegSearch:
        """The next leg of the route that ends at the source, or the first of another one."""
        goes_on = bool(self._route) and np.array_equal(self._route[-1].target, source)
        self._route = self._route if goes_on else []
        self._route.append(_RecordedLeg(source, target, self.graph, self._route))
        return self._route[-1]


class _RecordedLeg(LegSearch):
    """A leg; route: it and the others of its agent, in their order."""

    def __init__(
        self, source: FloatArray, target: FloatArray, graph: RecordedGraph, route: list[_RecordedLeg]
    ) -> None:
        super().__init__(source, target)
        self.graph, self.route = graph, route

    def advance(self, rng: np.random.Generator) -> None:
        """Ask once for the whole route; a second time would give the same answer."""
        if self.is_spent:
            return
        places = np.stack([self.route[0].source, *(leg.target for leg in self.route)])
        found = self.graph.route(places)
        for number, leg in enumerate(self.route):
            leg.is_spent = True
            if found is not None:
                leg.found, leg.gap = found[number], 0.0


def recordings(inputs: Inputs) -> list[FloatArray]:
    """[n, 2] each: the recorded places, parted wherever nobody could have gone from one to the next."""
    if len(inputs.states) == 0:
        raise InvalidParameter("a graph over recordings needs recorded states, got none")
    hops = np.linalg.norm(np.diff(inputs.states, axis=0), axis=1)
    return np.split(inputs.states, np.flatnonzero(hops > 2.0 * inputs.models.step_length) + 1)


def spacing_of(inputs: Inputs) -> float:
    """Units within which recorded places are the same: two bandwidths, of which a cell is a third."""
    return 6.0 * inputs.models.support.cell


def _state_method(inputs: Inputs) -> RecordedMethod:
    spacing = spacing_of(inputs)
    graph = StateGraph.made_of(recordings(inputs), spacing, step=0.4 * spacing)
    return RecordedMethod(graph, inputs.models.step_length)


def joined(position: FloatArray, source: IntArray, target: IntArray) -> csr_matrix:
    """[n, n] units of hops between positions [n, d], each once however often it is made."""
    source, target = np.unique(np.stack([source, target]), axis=1)
    length = np.linalg.norm(position[source] - position[target], axis=1)
    return csr_matrix((np.maximum(length, LEAST), (source, target)), shape=(len(position),) * 2)


def evenly(track: FloatArray, step: float) -> FloatArray:
    """The polyline [n, d] with points `step` units apart."""
    along = lengths_along(track)
    ticks = np.arange(0.0, along[-1] + step, step)
    return np.stack([np.interp(ticks, along, column) for column in track.T], axis=1)


def headings(way: FloatArray) -> FloatArray:
    """[n, d] unit directions at the points of a polyline."""
    ahead = np.gradient(way, axis=0)
    return np.asarray(ahead / (np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-9))


def cover(states: FloatArray) -> IntArray:
    """Rows of states [n, k], no two of which are within 1 of each other and one of which is near to each."""
    tree, is_open = cKDTree(states), np.ones(len(states), dtype=np.bool_)
    chosen = []
    for row in range(len(states)):
        if is_open[row]:
            chosen.append(row)
            is_open[tree.query_ball_point(states[row], 1.0)] = False
    return np.array(chosen, dtype=np.int64)


PEER = Peer(_state_method, needs_states=True, needs_networks=False)
