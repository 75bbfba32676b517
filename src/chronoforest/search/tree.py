"""Trees of generated segments: a node is a row in parallel arrays, and only appending changes them."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.types import BoolArray, Distance, FloatArray, IntArray, Pair, Problem


@dataclass(frozen=True)
class Representatives:
    """Lookaheads kept at leaves, one per cluster: what their node would become if promoted.

    node [r]; segment [r, horizon + 1, 2]; codes [r, horizon, F] of the frames after the boundary;
    mass [r] cluster sizes; cost [r] g(ρ) in steps.
    """

    node: IntArray
    segment: FloatArray
    codes: NDArray[Any]
    mass: FloatArray
    cost: FloatArray

    def __len__(self) -> int:
        return len(self.node)

    @property
    def state(self) -> FloatArray:
        """[r, 2] endpoints x(ρ)."""
        return self.segment[:, -1]

    @property
    def tail_codes(self) -> NDArray[Any]:
        """[r, F]."""
        tails: NDArray[Any] = self.codes[:, -1]
        return tails

    def where(self, keep: BoolArray) -> Representatives:
        """The rows where `keep` [r] holds."""
        return Representatives(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))

    def joined(self, other: Representatives) -> Representatives:
        """These rows and then the other's."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return Representatives(*(np.concatenate(pair) for pair in pairs))


class Tree:
    """Rooted at an anchor. An outgoing tree leaves it; an incoming one arrives there, grown backward in time.

    Nodes: parent [n], state [n, 2], cost [n] = g, codes [n, F]. Frames, the root's and then horizon rows for
    each further node: frame_state [f, 2], frame_cost [f], frame_codes [f, F], frame_node [f].
    Everything is ordered outward from the root.
    """

    def __init__(
        self,
        anchor: int,
        root: FloatArray,
        horizon: int,
        distance: Distance,
        is_incoming: bool = False,
        code: NDArray[Any] | None = None,
    ) -> None:
        """code: of the root [F], if it is at hand."""
        self.anchor = anchor
        self.is_incoming = is_incoming
        self.horizon = horizon
        self.distance = distance
        self.parent: IntArray = np.array([-1])
        self.state: FloatArray = root[None].astype(np.float64)
        self.cost: FloatArray = np.zeros(1)
        self.codes: NDArray[Any] = distance.encode(self.state) if code is None else code[None]
        self.frame_state: FloatArray = self.state
        self.frame_cost: FloatArray = self.cost
        self.frame_codes: NDArray[Any] = self.codes
        self.frame_node: IntArray = np.array([0])
        self.representatives = Representatives(
            node=np.empty(0, dtype=np.int64),
            segment=np.empty((0, horizon + 1, root.shape[0])),
            codes=np.empty((0, horizon, self.codes.shape[1]), dtype=self.codes.dtype),
            mass=np.empty(0),
            cost=np.empty(0),
        )

    @property
    def num_nodes(self) -> int:
        """Nodes, the root included."""
        return len(self.parent)

    def outward(self, near: NDArray[Any], far: NDArray[Any]) -> FloatArray:
        """d between codes [n, F] in the direction of travel, from the root's side to the leaves' side."""
        return self.distance.between(far, near) if self.is_incoming else self.distance.between(near, far)

    def outward_pairwise(self, near: NDArray[Any], far: NDArray[Any]) -> FloatArray:
        """The same, all against all: [n, F] × [m, F] → [n, m]."""
        if self.is_incoming:
            return self.distance.pairwise(far, near).T
        return self.distance.pairwise(near, far)

    @property
    def is_bare(self) -> bool:
        """Whether no lookahead was made from its root yet."""
        return self.num_nodes == 1 and len(self.representatives) == 0

    def open_leaves(self) -> IntArray:
        """Nodes that hold representatives."""
        return np.unique(self.representatives.node)

    def hold(self, found: Representatives) -> None:
        """Keep lookaheads at their nodes."""
        self.representatives = self.representatives.joined(found)

    def take(self, nodes: IntArray) -> Representatives:
        """All representatives of the given nodes, which hold them no longer."""
        is_chosen = np.isin(self.representatives.node, nodes)
        chosen = self.representatives.where(is_chosen)
        self.representatives = self.representatives.where(~is_chosen)
        return chosen

    def append(self, chosen: Representatives) -> IntArray:
        """Add one child per row and its frames; returns the new rows."""
        (rows,) = append([(self, chosen)])
        return rows

    def extend(self, chosen: Representatives, steps: FloatArray) -> IntArray:
        """The same with the steps [r · horizon] from the boundary to each frame."""
        rows = np.arange(self.num_nodes, self.num_nodes + len(chosen))
        frames = chosen.segment[:, 1:].reshape(len(rows) * self.horizon, self.state.shape[1])
        codes = chosen.codes.reshape(len(frames), self.codes.shape[1])
        reached = np.repeat(self.cost[chosen.node], self.horizon) + steps
        self.parent = np.concatenate([self.parent, chosen.node])
        self.state = np.concatenate([self.state, chosen.state])
        self.cost = np.concatenate([self.cost, chosen.cost])
        self.codes = np.concatenate([self.codes, chosen.tail_codes])
        self.frame_state = np.concatenate([self.frame_state, frames])
        self.frame_cost = np.concatenate([self.frame_cost, reached])
        self.frame_codes = np.concatenate([self.frame_codes, codes])
        self.frame_node = np.concatenate([self.frame_node, np.repeat(rows, self.horizon)])
        return rows

    def frames_of(self, nodes: IntArray) -> IntArray:
        """Frame rows that belong to the given nodes."""
        return np.flatnonzero(np.isin(self.frame_node, nodes))

    def prefix_frames(self, node: int) -> IntArray:
        """Frame rows of the prefix that ends in a node, from the root outward."""
        chain = [node]
        while self.parent[chain[-1]] >= 0:
            chain.append(int(self.parent[chain[-1]]))
        return np.concatenate([self._own_frames(step) for step in reversed(chain)])

    def path_to(self, frame: int) -> FloatArray:
        """[t, 2] from the root to a frame."""
        rows = self.prefix_frames(int(self.frame_node[frame]))
        return self.frame_state[rows[rows <= frame]]

    def segments(self) -> FloatArray:
        """[n − 1, horizon + 1, 2]: every node's segment with its boundary, for drawing."""
        later = self.frame_state[1:].reshape(self.num_nodes - 1, self.horizon, self.state.shape[1])
        return np.concatenate([self.state[self.parent[1:], None], later], axis=1)

    def _own_frames(self, node: int) -> IntArray:
        first = 1 + (node - 1) * self.horizon
        return np.array([0]) if node == 0 else np.arange(first, first + self.horizon)


def outward_each(distance: Distance, is_back: BoolArray, near: NDArray[Any], far: NDArray[Any]) -> FloatArray:
    """[n] d between codes [n, F] in the direction of travel: from far to near where `is_back` [n] says so."""
    if is_back.any():
        near, far = (np.where(is_back[:, None], *codes) for codes in ((far, near), (near, far)))
    return distance.between(near, far)


def promote(wanted: Sequence[tuple[Tree, IntArray]]) -> list[IntArray]:
    """Turn all representatives of the given nodes of each tree into its children; the new rows of each."""
    return append([(tree, tree.take(nodes)) for tree, nodes in wanted])


def append(found: Sequence[tuple[Tree, Representatives]]) -> list[IntArray]:
    """Add children to several trees, in one call of the distance that all share; the new rows of each."""
    if not found:
        return []
    counts = [len(chosen) * tree.horizon for tree, chosen in found]
    steps = outward_each(
        found[0][0].distance,
        np.repeat([tree.is_incoming for tree, _ in found], counts),
        np.concatenate([np.repeat(tree.codes[chosen.node], tree.horizon, axis=0) for tree, chosen in found]),
        np.concatenate([chosen.codes.reshape(-1, tree.codes.shape[1]) for tree, chosen in found]),
    )
    parts = np.split(steps, np.cumsum(counts)[:-1])
    return [tree.extend(chosen, part) for (tree, chosen), part in zip(found, parts, strict=True)]


@dataclass(frozen=True)
class Forest:
    """One tree per anchor in a reversible world, two where the direction matters.

    outgoing, incoming: anchor → its tree; the same tree twice when the world is reversible.
    """

    outgoing: dict[int, Tree]
    incoming: dict[int, Tree]

    @property
    def trees(self) -> list[Tree]:
        """Every tree once."""
        return list({id(tree): tree for tree in (*self.outgoing.values(), *self.incoming.values())}.values())

    @property
    def num_nodes(self) -> int:
        """Nodes of all trees, the roots not counted."""
        return sum(tree.num_nodes - 1 for tree in self.trees)

    def sides(self, pair: Pair) -> tuple[Tree, Tree]:
        """The tree that leaves the pair's source and the one that arrives at its target."""
        return self.outgoing[pair.source], self.incoming[pair.target]

    def has(self, pair: Pair) -> bool:
        """Whether a bridge for the pair could exist."""
        return pair.source != pair.target and pair.source in self.outgoing and pair.target in self.incoming

    def partners(self, tree: Tree) -> list[tuple[Pair, Tree]]:
        """Every pair the tree could close, in its direction of travel, with the tree on the other side."""
        if self.outgoing.get(tree.anchor) is tree:
            pairs = [Pair(tree.anchor, other) for other in self.incoming]
            return [(pair, self.incoming[pair.target]) for pair in pairs if self.has(pair)]
        pairs = [Pair(other, tree.anchor) for other in self.outgoing]
        return [(pair, self.outgoing[pair.source]) for pair in pairs if self.has(pair)]


def plant(problem: Problem, horizon: int, distance: Distance, is_reversible: bool) -> Forest:
    """A root at every anchor; in a directed world a start only leaves and a goal only arrives."""
    anchors, codes = range(problem.num_anchors), distance.encode(problem.anchors)
    outgoing = {
        a: Tree(a, problem.anchors[a], horizon, distance, code=codes[a])
        for a in anchors
        if is_reversible or not problem.is_goal(a)
    }
    if is_reversible:
        return Forest(outgoing, outgoing)
    incoming = {
        a: Tree(a, problem.anchors[a], horizon, distance, is_incoming=True, code=codes[a])
        for a in anchors
        if not problem.is_start(a)
    }
    return Forest(outgoing, incoming)


class ForestMemory:
    """Trees remembered by what grew them and the place of their anchor.

    grower: what trees can be shared within; their codes are those of one distance, so that a variant with
    another one cannot go on from them.
    """

    def __init__(self) -> None:
        self._trees: dict[Hashable, Tree] = {}

    def recall(self, forest: Forest, grower: Hashable) -> Forest:
        """The forest with remembered trees in the place of bare ones."""
        known = {id(tree): self._recalled(tree, grower) for tree in forest.trees}
        return Forest(
            {anchor: known[id(tree)] for anchor, tree in forest.outgoing.items()},
            {anchor: known[id(tree)] for anchor, tree in forest.incoming.items()},
        )

    def remember(self, forest: Forest, grower: Hashable) -> None:
        """Keep the trees of a finished search."""
        self._trees.update({(grower, _place(tree)): tree for tree in forest.trees})

    def _recalled(self, tree: Tree, grower: Hashable) -> Tree:
        found = copy.copy(self._trees.get((grower, _place(tree)), tree))
        found.anchor = tree.anchor
        return found


def _place(tree: Tree) -> tuple[tuple[float, ...], bool]:
    return tuple(tree.state[0].tolist()), tree.is_incoming
