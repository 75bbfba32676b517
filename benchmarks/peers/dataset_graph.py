"""`dataset-graph`: recorded places as nodes, short temporal distances as edges, Dijkstra between anchors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.errors import InvalidParameter, require_at_least, require_positive
from chronoforest.peers.legs import Inputs, LegSearch
from chronoforest.peers.registry import Peer
from chronoforest.types import BoolArray, FloatArray, IntArray, Problem

_SPACING = 2.0  # between the places where an edge is tested, in the room that ways keep
_MOST_PLACES = 2_000_000  # that are tested at once


@dataclass(frozen=True)
class GraphParams:
    """A graph over recorded places.

    num_states: recorded places, drawn once; radius: steps of the longest edge, by the distance; seed: of the
    draw.
    """

    num_states: int = 2000
    radius: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(self, 2, "num_states")
        require_positive(self, "radius")


class DatasetGraph:
    """The `Method`: a graph built once; anchors are joined to it by the rule that made its edges."""

    def __init__(self, inputs: Inputs, params: GraphParams | None = None) -> None:
        self.inputs = inputs
        self.params = params or GraphParams()
        if len(inputs.states) == 0:
            raise InvalidParameter("dataset-graph needs recorded states, got none")
        rng = np.random.default_rng(self.params.seed)
        count = min(self.params.num_states, len(inputs.states))
        self.states: FloatArray = inputs.states[np.sort(rng.permutation(len(inputs.states))[:count])]
        self.nodes = self._nodes(self.states)
        self.edges = self._edges(self.nodes, self.nodes)

    def costs(self, problem: Problem) -> FloatArray:
        """[A, A] lengths of the shortest ways through the graph."""
        first, graph = len(self.states), self._with(problem.anchors)
        rows = np.arange(first, first + problem.num_anchors)
        cost: FloatArray = dijkstra(graph, indices=rows)[:, first:]
        return cost

    def begin(self, source: FloatArray, target: FloatArray) -> LegSearch:
        """A search that is over after one round."""
        return _ShortestWay(self, source, target)

    def way(self, source: FloatArray, target: FloatArray) -> FloatArray | None:
        """[t, 2] the shortest way, None when the graph does not connect the two."""
        places = np.stack([source, target])
        start, end = len(self.states), len(self.states) + 1
        _, before = dijkstra(self._with(places), indices=start, return_predecessors=True)
        if before[end] < 0:
            return None
        chain = [end]
        while chain[-1] != start:
            chain.append(int(before[chain[-1]]))
        return np.concatenate([self.states, places])[chain[::-1]]

    def _with(self, places: FloatArray) -> csr_matrix:
        """The graph with places [n, 2] as further nodes behind its own."""
        more, count = self._nodes(places), len(self.states)
        both = (np.concatenate([own, others]) for own, others in zip(self.nodes, more, strict=True))
        out, into = self._edges(more, _Nodes(*both)), self._edges(self.nodes, more)
        parts = (
            self.edges,
            out._replace(source=out.source + count),
            into._replace(target=into.target + count),
        )
        rows, columns, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
        return csr_matrix((cost, (rows, columns)), shape=(count + len(places),) * 2)

    def _nodes(self, places: FloatArray) -> _Nodes:
        return _Nodes(places, self.inputs.models.distance.encode(places))

    def _edges(self, sources: _Nodes, targets: _Nodes) -> _Edges:
        """Every edge between some nodes [n] and others [m], of cost h(d); what is farther than `step_length`
        units a step was reached by a jump."""
        models = self.inputs.models
        steps = models.distance.pairwise(sources.codes, targets.codes)
        apart = np.linalg.norm(sources.places[:, None] - targets.places, axis=-1)
        steps[(apart == 0) | (apart > self.params.radius * models.step_length)] = np.inf
        rows, columns = np.nonzero(steps <= self.params.radius)
        is_open = self._is_supported(sources.places[rows], targets.places[columns])
        rows, columns = rows[is_open], columns[is_open]
        return _Edges(rows, columns, models.calibration.inflate(steps[rows, columns]))

    def _is_supported(self, starts: FloatArray, ends: FloatArray) -> BoolArray:
        """[e]: the straight lines keep the room of all ways to the edge of the support, or what their ends
        have."""
        longest = float(np.linalg.norm(ends - starts, axis=1).max(initial=0.0))
        room = self.inputs.params.assembly.edge
        share = np.linspace(0.0, 1.0, max(3, int(np.ceil(longest / (_SPACING * room))) + 1))
        is_open = np.ones(len(starts), dtype=np.bool_)
        for part in np.array_split(np.arange(len(starts)), 1 + len(starts) * len(share) // _MOST_PLACES):
            way = (ends - starts)[part]
            margin = self.inputs.models.density.margin(
                starts[part, None] + share[None, :, None] * way[:, None]
            )
            least = np.minimum(np.minimum(margin[:, 0], margin[:, -1]), room)
            is_open[part] = (margin >= least[:, None] - 1e-6).all(axis=1)
        return is_open


class _Nodes(NamedTuple):
    """places: [n, 2]; codes: [n, F] of the distance, computed once."""

    places: FloatArray
    codes: NDArray[Any]


class _Edges(NamedTuple):
    """source, target: [e] rows of the places they join; cost: [e] steps."""

    source: IntArray
    target: IntArray
    cost: FloatArray


class _ShortestWay(LegSearch):
    """One question to the graph."""

    def __init__(self, graph: DatasetGraph, source: FloatArray, target: FloatArray) -> None:
        super().__init__(source, target)
        self.graph = graph

    def advance(self, rng: np.random.Generator) -> None:
        """Ask; a second time would give the same answer."""
        self.found = self.graph.way(self.source, self.target)
        self.is_spent = True
        if self.found is not None:
            self.gap = 0.0


PEER = Peer(DatasetGraph, needs_states=True)
