"""One round of search: look ahead at new leaves, promote the best ones of every pair, test meetings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.errors import require_at_least, require_positive
from chronoforest.search.junction import EXEC_SCALE, JunctionParams, Leaf, look_ahead
from chronoforest.search.meeting import Frames, meet
from chronoforest.search.scoring import Ranking, bridge_cost, rank_leaves, temporal_ranking
from chronoforest.search.tree import Forest, Tree
from chronoforest.types import (
    Calibration,
    Density,
    Distance,
    Evidence,
    FloatArray,
    IntArray,
    Meeting,
    Pair,
    Sampler,
    Witness,
)


@dataclass(frozen=True)
class SearchParams:
    """What a round may spend and when trees count as touching.

    num_expand: leaves promoted per ordered pair; meeting_radius: in d_exec; uncertainty_weight: λ;
    grows_target: also the target's tree grows (False for `start-tree-only`); ranking: what orders leaves.
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


@dataclass(frozen=True)
class _Move:
    """One tree grows toward another."""

    tree: Tree
    partner: Tree


def root_leaves(forest: Forest, legs: Iterable[Pair]) -> list[Leaf]:
    """The roots that want first lookaheads, each toward its neighbours on the route."""
    targets: dict[int, tuple[Tree, list[FloatArray]]] = {}
    for leg in legs:
        source, target = forest.sides(leg)
        for tree, partner in ((source, target), (target, source)):
            targets.setdefault(id(tree), (tree, []))[1].append(partner.state[0])
    return [
        Leaf(tree, 0, np.stack(places))
        for tree, places in targets.values()
        if tree.num_nodes == 1 and len(tree.representatives) == 0
    ]


def expand(
    forest: Forest,
    pairs: Iterable[Pair],
    waiting: list[Leaf],
    models: SearchModels,
    params: SearchParams,
    rng: np.random.Generator,
) -> Expansion:
    """Look ahead at the waiting leaves, then promote for every pair in both directions and test meetings."""
    moves = [move for pair in pairs for move in _moves(forest, pair, params)]
    waiting = [*waiting, *_unplanted(moves, waiting)]
    look_ahead(waiting, models.sampler, models.density, models.largest_hop, params.junction, rng)
    evidence = [_lookahead_witnesses(forest, leaf, models.calibration) for leaf in waiting]
    wanted = _choose(moves, models.calibration, params)
    new_leaves, meetings = [], []
    for tree, nodes, partners in wanted:
        rows = tree.promote(nodes)
        new_leaves += _aimed(tree, rows, partners, models.calibration)
        evidence.append(_witnesses(forest, tree, tree.cost[rows], tree.codes[rows], models.calibration))
        meetings += _meetings(forest, tree, rows, models, params)
    new_leaves += _revived(moves, wanted, models.calibration)
    return Expansion(
        Evidence(tuple(w for found in evidence for w in found), tuple(meetings)),
        sum(len(nodes) for _, nodes, _ in wanted),
        new_leaves,
    )


def revisit(forest: Forest, models: SearchModels, params: SearchParams) -> Evidence:
    """The evidence that is already in a forest, for trees taken over from an earlier search.

    A bare root is no witness.
    """
    witnesses: list[Witness] = []
    meetings: list[Meeting] = []
    for tree in (tree for tree in forest.trees if tree.num_nodes > 1):
        witnesses += _witnesses(forest, tree, tree.cost, tree.codes, models.calibration)
        meetings += _meetings(forest, tree, np.arange(tree.num_nodes), models, params)
    return Evidence(tuple(witnesses), tuple(meetings))


def _moves(forest: Forest, pair: Pair, params: SearchParams) -> list[_Move]:
    source, target = forest.sides(pair)
    both = [_Move(source, target), _Move(target, source)]
    return both if params.grows_target else both[:1]


def _unplanted(moves: list[_Move], waiting: list[Leaf]) -> list[Leaf]:
    """Roots that a pair wants to grow and that nobody has looked ahead from yet."""
    known = {id(leaf.tree) for leaf in waiting}
    fresh: dict[int, Leaf] = {}
    for move in moves:
        is_bare = move.tree.num_nodes == 1 and len(move.tree.representatives) == 0
        if is_bare and id(move.tree) not in known:
            fresh.setdefault(id(move.tree), Leaf(move.tree, 0, move.partner.state[:1]))
    return list(fresh.values())


def _choose(
    moves: list[_Move], calibration: Calibration, params: SearchParams
) -> list[tuple[Tree, IntArray, dict[int, list[Tree]]]]:
    """Per tree: the leaves to promote, and for each the trees that wanted it (a leaf is promoted once)."""
    chosen: dict[int, tuple[Tree, dict[int, list[Tree]]]] = {}
    for move in moves:
        found = move.tree.representatives
        candidates = bridge_cost(move.tree, found.cost, found.tail_codes, move.partner, calibration)
        promise = params.ranking(move.partner, found, candidates)
        for leaf in rank_leaves(move.tree, promise, params.uncertainty_weight)[: params.num_expand]:
            wanted = chosen.setdefault(id(move.tree), (move.tree, {}))[1]
            wanted.setdefault(int(leaf), []).append(move.partner)
    return [(tree, np.array(list(wanted)), wanted) for tree, wanted in chosen.values()]


def _aimed(
    tree: Tree, rows: IntArray, partners: dict[int, list[Tree]], calibration: Calibration
) -> list[Leaf]:
    """New leaves, each with the best counterpart node of every pair that wanted its parent as a target."""
    leaves = []
    for row in rows:
        wanted = partners[int(tree.parent[row])]
        leaves.append(
            Leaf(tree, int(row), np.stack([_target(tree, int(row), p, calibration) for p in wanted]))
        )
    return leaves


def _target(tree: Tree, node: int, partner: Tree, calibration: Calibration) -> FloatArray:
    """x(m*) for a node."""
    (best,) = bridge_cost(tree, tree.cost[[node]], tree.codes[[node]], partner, calibration).best
    target: FloatArray = partner.state[best]
    return target


def _revived(
    moves: list[_Move],
    wanted: list[tuple[Tree, IntArray, dict[int, list[Tree]]]],
    calibration: Calibration,
) -> list[Leaf]:
    """Where a tree has nothing left to promote, its most promising node is sampled again."""
    moved = {id(tree) for tree, _, _ in wanted}
    leaves: dict[int, Leaf] = {}
    for move in moves:
        tree = move.tree
        if id(tree) not in moved:
            candidates = bridge_cost(tree, tree.cost, tree.codes, move.partner, calibration)
            node = int(np.argmin(candidates.cost.min(axis=1)))
            leaves[id(tree)] = Leaf(tree, node, move.partner.state[candidates.best[[node]]])
    return list(leaves.values())


def _lookahead_witnesses(forest: Forest, leaf: Leaf, calibration: Calibration) -> list[Witness]:
    found = leaf.tree.representatives.where(leaf.tree.representatives.node == leaf.node)
    return _witnesses(forest, leaf.tree, found.cost, found.tail_codes, calibration)


def _witnesses(
    forest: Forest, tree: Tree, cost: FloatArray, codes: NDArray[Any], calibration: Calibration
) -> list[Witness]:
    """The cheapest bridge from some rows of a tree for every pair the tree could close."""
    if len(cost) == 0:
        return []
    found = []
    for pair, partner in forest.partners(tree):
        candidates = bridge_cost(tree, cost, codes, partner, calibration)
        best = np.unravel_index(np.argmin(candidates.cost), candidates.cost.shape)
        found.append(Witness(pair, float(candidates.cost[best]), float(candidates.gap[best])))
    return found


def _meetings(
    forest: Forest, tree: Tree, rows: IntArray, models: SearchModels, params: SearchParams
) -> list[Meeting]:
    """Where the frames of new rows touch any other tree, on the route or off it."""
    found = []
    fresh = tree.frames_of(rows)
    for pair, partner in forest.partners(tree):
        near, far = Frames(tree, fresh), Frames(partner, np.arange(len(partner.frame_node)))
        source, target = (near, far) if forest.sides(pair)[0] is tree else (far, near)
        found.append(meet(pair, source, target, params.meeting_steps, models.step_length))
    return [meeting for meeting in found if meeting is not None]
