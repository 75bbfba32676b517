"""One round of search: look ahead at new leaves, promote the best ones of every pair, test meetings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from chronoforest.errors import require_at_least, require_positive
from chronoforest.search.junction import EXEC_SCALE, JunctionParams, Leaf, look_ahead
from chronoforest.search.meeting import Frames, meetings
from chronoforest.search.scoring import (
    Ranking,
    Rows,
    bridge_costs,
    rank_leaves,
    temporal_ranking,
    uncertainty,
)
from chronoforest.search.tree import Forest, Tree, promote
from chronoforest.types import (
    Calibration,
    Density,
    Distance,
    Evidence,
    FloatArray,
    IntArray,
    Pair,
    Sampler,
    Witness,
)


@dataclass(frozen=True)
class SearchParams:
    """What a round may spend and when trees count as touching.

    num_expand: leaves promoted per ordered pair and round; meeting_radius: in d_exec, within which trees
    touch; uncertainty_weight: λ; grows_target: also the target's tree grows (False for `start-tree-only`);
    ranking: what orders leaves.
    """

    num_expand: int = 1
    meeting_radius: float = 1.2
    uncertainty_weight: float = 0.1
    grows_target: bool = True
    ranking: Ranking = temporal_ranking
    junction: JunctionParams = field(default_factory=JunctionParams)

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_expand")
        require_positive(self, "meeting_radius")
        require_at_least(self, 0, "uncertainty_weight")

    @property
    def meeting_steps(self) -> float:
        """The meeting radius in steps of d."""
        return self.meeting_radius / EXEC_SCALE


@dataclass(frozen=True)
class SearchModels:
    """What the search asks of the learned models; lengths in world units per frame and per step."""

    sampler: Sampler
    distance: Distance
    density: Density
    calibration: Calibration
    largest_hop: float
    step_length: float


@dataclass(frozen=True)
class Expansion:
    """What a round found, how many leaves it promoted, and the new leaves that want lookaheads."""

    evidence: Evidence
    num_expanded: int
    new_leaves: list[Leaf]


_Move = tuple[Tree, Tree]
"""The first tree grows toward the second."""


def root_leaves(forest: Forest, legs: Iterable[Pair]) -> list[Leaf]:
    """The roots that want first lookaheads, each toward its neighbours on the route."""
    targets: dict[int, tuple[Tree, list[FloatArray]]] = {}
    for leg in legs:
        source, target = forest.sides(leg)
        for tree, partner in ((source, target), (target, source)):
            targets.setdefault(id(tree), (tree, []))[1].append(partner.state[0])
    return [Leaf(tree, 0, np.stack(places)) for tree, places in targets.values() if tree.is_bare]


def expand(
    forest: Forest,
    pairs: Iterable[Pair],
    waiting: list[Leaf],
    models: SearchModels,
    params: SearchParams,
    rng: np.random.Generator,
) -> Expansion:
    """Look ahead at the waiting leaves, then promote for every pair in both directions and test meetings."""
    sides = [forest.sides(pair) for pair in pairs]
    moves = [move for both in sides for move in (both, both[::-1])[: 1 + params.grows_target]]
    waiting = [*waiting, *_unplanted(moves, waiting)]
    look_ahead(waiting, models.sampler, models.density, models.largest_hop, params.junction, rng)
    witnesses = _witnesses(forest, [_held(leaf) for leaf in waiting], models.calibration)
    wanted = _choose(moves, models.calibration, params)
    rows = promote([(tree, nodes) for tree, nodes, _ in wanted])
    grown = [_Growth(tree, new, partners) for (tree, _, partners), new in zip(wanted, rows, strict=True)]
    witnesses += _witnesses(forest, [growth.bridging for growth in grown], models.calibration)
    new_leaves = _aimed(grown, models.calibration) + _revived(moves, grown, models.calibration)
    fresh = [Frames(growth.tree, growth.tree.frames_of(growth.rows)) for growth in grown]
    met = meetings(forest, fresh, params.meeting_steps, models.step_length)
    num_expanded = sum(len(nodes) for _, nodes, _ in wanted)
    return Expansion(Evidence(tuple(witnesses), tuple(met)), num_expanded, new_leaves)


def revisit(forest: Forest, models: SearchModels, params: SearchParams) -> Evidence:
    """The evidence that is already in a forest, for trees taken over from an earlier search.

    A bare root is no witness.
    """
    trees = [tree for tree in forest.trees if tree.num_nodes > 1]
    fresh = [Frames(tree, np.arange(len(tree.frame_node))) for tree in trees]
    witnesses = _witnesses(forest, [Rows(tree, tree.cost, tree.codes) for tree in trees], models.calibration)
    return Evidence(
        tuple(witnesses), tuple(meetings(forest, fresh, params.meeting_steps, models.step_length))
    )


@dataclass(frozen=True, eq=False)
class _Growth:
    """Rows [n] that a tree has gained, and by their parents the trees that wanted them."""

    tree: Tree
    rows: IntArray
    partners: dict[int, list[Tree]]

    @cached_property
    def bridging(self) -> Rows:
        """The new rows as bridges may lead on from them."""
        return Rows(self.tree, self.tree.cost[self.rows], self.tree.codes[self.rows])


def _unplanted(moves: list[_Move], waiting: list[Leaf]) -> list[Leaf]:
    """Roots that a pair wants to grow from which no lookahead was made yet."""
    known = {id(leaf.tree) for leaf in waiting}
    fresh: dict[int, Leaf] = {}
    for tree, partner in moves:
        if tree.is_bare and id(tree) not in known:
            fresh.setdefault(id(tree), Leaf(tree, 0, partner.state[:1]))
    return list(fresh.values())


def _choose(
    moves: list[_Move], calibration: Calibration, params: SearchParams
) -> list[tuple[Tree, IntArray, dict[int, list[Tree]]]]:
    """Per tree: the leaves to promote, and for each the trees that wanted it (a leaf is promoted once)."""
    chosen: dict[int, tuple[Tree, dict[int, list[Tree]]]] = {}
    moves = [(tree, partner) for tree, partner in moves if len(tree.representatives)]
    trees = {id(tree): tree for tree, _ in moves}
    rows = {
        key: Rows(tree, tree.representatives.cost, tree.representatives.tail_codes)
        for key, tree in trees.items()
    }
    # A single leaf is the best one whatever it looks like.
    dispersion = {
        key: uncertainty(tree) if len(tree.open_leaves()) > 1 else np.zeros(1) for key, tree in trees.items()
    }
    found = bridge_costs([(rows[id(tree)], partner) for tree, partner in moves], calibration)
    for (tree, partner), candidates in zip(moves, found, strict=True):
        promise = params.ranking(partner, tree.representatives, candidates)
        leaves = rank_leaves(tree, promise, dispersion[id(tree)], params.uncertainty_weight)
        for leaf in leaves[: params.num_expand]:
            wanted = chosen.setdefault(id(tree), (tree, {}))[1]
            wanted.setdefault(int(leaf), []).append(partner)
    return [(tree, np.array(list(wanted)), wanted) for tree, wanted in chosen.values()]


def _aimed(grown: Sequence[_Growth], calibration: Calibration) -> list[Leaf]:
    """New leaves, each with x(m*), the best counterpart node of every pair that wanted its parent."""
    asked = [
        (growth.bridging, partner)
        for growth in grown
        for partner in {id(p): p for some in growth.partners.values() for p in some}.values()
    ]
    found = bridge_costs(asked, calibration)
    best = {
        (id(rows), id(partner)): partner.state[candidates.best]
        for (rows, partner), candidates in zip(asked, found, strict=True)
    }
    return [
        Leaf(
            growth.tree,
            int(row),
            np.stack(
                [best[id(growth.bridging), id(p)][k] for p in growth.partners[int(growth.tree.parent[row])]]
            ),
        )
        for growth in grown
        for k, row in enumerate(growth.rows)
    ]


def _revived(moves: list[_Move], grown: Sequence[_Growth], calibration: Calibration) -> list[Leaf]:
    """Where a tree has nothing left to promote, its most promising node is sampled again."""
    moved = {id(growth.tree) for growth in grown}
    stuck = list({id(move[0]): move for move in moves if id(move[0]) not in moved}.values())
    asked = [(Rows(tree, tree.cost, tree.codes), partner) for tree, partner in stuck]
    leaves = []
    for (tree, partner), candidates in zip(stuck, bridge_costs(asked, calibration), strict=True):
        node = int(np.argmin(candidates.cost.min(axis=1)))
        leaves.append(Leaf(tree, node, partner.state[candidates.best[[node]]]))
    return leaves


def _held(leaf: Leaf) -> Rows:
    """A leaf's representatives."""
    found = leaf.tree.representatives
    is_own = found.node == leaf.node
    return Rows(leaf.tree, found.cost[is_own], found.tail_codes[is_own])


def _witnesses(forest: Forest, found: Sequence[Rows], calibration: Calibration) -> list[Witness]:
    """The cheapest bridge from some rows of each tree for every pair the tree could close."""
    asked = [
        (rows, pair, partner)
        for rows in found
        if len(rows.cost)
        for pair, partner in forest.partners(rows.tree)
    ]
    candidates = bridge_costs([(rows, partner) for rows, _, partner in asked], calibration)
    witnesses = []
    for (_, pair, _), bridges in zip(asked, candidates, strict=True):
        best = np.unravel_index(np.argmin(bridges.cost), bridges.cost.shape)
        witnesses.append(Witness(pair, float(bridges.cost[best]), float(bridges.gap[best])))
    return witnesses
