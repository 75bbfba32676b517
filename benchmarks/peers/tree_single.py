"""`tree-single`: one tree per leg, grown from its source by value-guided selection, in the manner of MCTD."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.diffusion_replan import Chained, arrival, steps_to
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.peers.legs import LegSearch
from chronoforest.peers.registry import Peer
from chronoforest.search.tree import Representatives, Tree
from chronoforest.types import FloatArray, IntArray, Query


@dataclass(frozen=True)
class TreeParams:
    """A tree of segments for every leg.

    scales: guidance of the children of a node, world units; num_samples: children for each scale;
    exploration: weight of the confidence bound against the best value below a node; num_expand: nodes
    expanded in a round; max_expanded: nodes before a leg is given up.
    """

    scales: tuple[float, ...] = (0.0, 8.0, 16.0, 32.0)
    num_samples: int = 3
    exploration: float = 0.2
    num_expand: int = 2
    max_expanded: int = 200

    def __post_init__(self) -> None:
        if not self.scales or min(self.scales) < 0:
            raise InvalidParameter(f"scales must be a non-empty list of numbers ≥ 0, got {self.scales}")
        require_at_least(self, 1, "num_samples", "num_expand", "max_expanded")
        require_at_least(self, 0, "exploration")


class _Search(LegSearch):
    """A tree with the visits of each node [n] and the best value below it [n], its own while a leaf: 1 where
    the target is expected as late as from the source, 0 where it takes twice as long."""

    def __init__(self, method: TreeSingle, source: FloatArray, target: FloatArray) -> None:
        super().__init__(source, target)
        self.inputs, self.params, models = method.inputs, method.params, method.inputs.models
        self.tree = Tree(0, source, models.sampler.horizon, models.distance)
        self.expected = float(self._expected_total(self.tree.cost, self.tree.state)[0])
        self.visits = np.ones(1)
        self.best = np.ones(1)

    def advance(self, rng: np.random.Generator) -> None:
        """Select, expand, evaluate, back up; one batch for all selected nodes."""
        nodes = self._select()
        self.num_expanded += len(nodes)
        self.is_spent = self.num_expanded >= self.params.max_expanded
        parents, segments = self._sample(nodes, rng)
        self.best[nodes] = 0.0
        rows = self._grow(parents, segments) if len(parents) else parents
        reached = arrival(segments, self.target, self.inputs) if len(parents) else None
        if reached is not None:
            ahead = segments[reached.row, 1 : reached.frame + 1]
            start = self._way_to(int(self.tree.parent[rows[reached.row]]))
            self.found, self.gap = np.concatenate([start, ahead, self.target[None]]), reached.gap
        for chosen in map(int, nodes):  # from a node up to the root: one more visit, and the best below it
            node = chosen
            while node >= 0:
                self.visits[node] += 1
                self.best[node] = self.best[self.tree.parent == node].max(initial=0.0)
                node = int(self.tree.parent[node])
        self.attempt = self._way_to(int(np.argmin(self._expected_total(self.tree.cost, self.tree.state))))

    def _select(self) -> IntArray:
        """Nodes without children, each reached from the root by the best upper confidence bound."""
        chosen: list[int] = []
        waiting = np.zeros(self.tree.num_nodes)
        for _ in range(self.params.num_expand):
            node = 0
            while len(children := np.flatnonzero(self.tree.parent == node)):
                # A node already chosen in this round counts as visited.
                visits = self.visits[children] + waiting[children]
                spread = np.sqrt(np.log(self.visits[node] + waiting[node] + 1.0) / visits)
                bound = self.best[children] + self.params.exploration * spread
                node = int(children[np.argmax(bound)])
            chosen.append(node)
            while node >= 0:
                waiting[node] += 1
                node = int(self.tree.parent[node])
        return np.unique(chosen)

    def _sample(self, nodes: IntArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
        """Parents [n] and sound segments [n, horizon + 1, 2] out of them, one batch over nodes × scales."""
        scales = np.tile(self.params.scales, self.params.num_samples)
        parents = np.repeat(nodes, len(scales))
        query = Query(
            boundary=self.tree.state[parents],
            target=np.repeat(self.target[None], len(parents), axis=0),
            is_incoming=np.zeros(len(parents), dtype=np.bool_),
            guidance=np.tile(scales, len(nodes)),
        )
        segments = self.inputs.models.sampler(query, rng)
        keep = self.inputs.is_sound(segments)
        return parents[keep], segments[keep]

    def _grow(self, parents: IntArray, segments: FloatArray) -> IntArray:
        """Append the segments as children and value them; returns their rows."""
        tree, distance = self.tree, self.inputs.models.distance
        codes = distance.encode(segments[:, 1:].reshape(-1, 2)).reshape(len(segments), tree.horizon, -1)
        cost = tree.cost[parents] + distance.between(tree.codes[parents], codes[:, -1])
        rows = tree.append(Representatives(parents, segments, codes, np.ones(len(parents)), cost))
        value = np.maximum(0.0, 2.0 - self._expected_total(cost, segments[:, -1]) / self.expected)
        self.visits = np.concatenate([self.visits, np.ones(len(rows))])
        self.best = np.concatenate([self.best, value])
        self.segments.append(segments)
        return rows

    def _expected_total(self, cost: FloatArray, places: FloatArray) -> FloatArray:
        """[n] steps from the source over places [n, 2], reached at `cost` [n], to the target: g + h(d)."""
        left = steps_to(places, self.target, self.inputs.models.distance)
        return cost + self.inputs.models.calibration.inflate(left)

    def _way_to(self, node: int) -> FloatArray:
        return self.tree.frame_state[self.tree.prefix_frames(node)]


class TreeSingle(Chained[TreeParams]):
    """Selection by UCB, expansion by guidance scale, value by the temporal distance."""

    params_type, leg_type = TreeParams, _Search


PEER = Peer(TreeSingle)
