"""What a candidate bridge would cost, and which leaf deserves to grow next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chronoforest.search.tree import Representatives, Tree
from chronoforest.types import Calibration, FloatArray, IntArray


@dataclass(frozen=True)
class Candidates:
    """Bridges from some rows of one tree to all nodes of another, [r, n]: J in steps, and its gap."""

    cost: FloatArray
    gap: FloatArray

    @property
    def best(self) -> IntArray:
        """[r] the counterpart node m* of each row."""
        return np.argmin(self.cost, axis=1)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a tree from which bridges may lead on: cost [r] in steps, codes [r, F]."""

    tree: Tree
    cost: FloatArray
    codes: NDArray[Any]


def bridge_cost(
    tree: Tree, cost: FloatArray, codes: NDArray[Any], partner: Tree, calibration: Calibration
) -> Candidates:
    """J(ρ, m) = g(ρ) + h(d(x(ρ), x(m))) + g(m) for rows (cost [r], codes [r, F]) of `tree`."""
    (found,) = bridge_costs([(Rows(tree, cost, codes), partner)], calibration)
    return found


def bridge_costs(asked: Sequence[tuple[Rows, Tree]], calibration: Calibration) -> list[Candidates]:
    """The same for many rows and partners; all against all in one table for each direction of growth."""
    found: dict[tuple[int, int], Candidates] = {}
    for is_incoming in (False, True):
        some = [ask for ask in asked if ask[0].tree.is_incoming == is_incoming]
        found |= _table(some, calibration) if some else {}
    return [found[id(rows), id(partner)] for rows, partner in asked]


def _table(asked: Sequence[tuple[Rows, Tree]], calibration: Calibration) -> dict[tuple[int, int], Candidates]:
    """Candidates by the ids of rows and partner, for trees of one direction."""
    here, there = _stacked([rows for rows, _ in asked]), _stacked([partner for _, partner in asked])
    gap = asked[0][0].tree.outward_pairwise(here.codes, there.codes)
    cost = here.cost[:, None] + calibration.inflate(gap) + there.cost
    found = {}
    for rows, partner in asked:
        block = here.place[id(rows)], there.place[id(partner)]
        found[id(rows), id(partner)] = Candidates(cost[block], gap[block])
    return found


class _Stacked(NamedTuple):
    """cost [n] and codes [n, F] of several one after the other, and by their ids where each one's lie."""

    cost: FloatArray
    codes: NDArray[Any]
    place: dict[int, slice]


def _stacked(values: Sequence[Rows] | Sequence[Tree]) -> _Stacked:
    """Each is taken once."""
    once = {id(value): value for value in values}
    ends = np.cumsum([0, *(len(value.cost) for value in once.values())])
    places = [slice(int(first), int(last)) for first, last in pairwise(ends)]
    return _Stacked(
        np.concatenate([value.cost for value in once.values()]),
        np.concatenate([value.codes for value in once.values()]),
        dict(zip(once, places, strict=True)),
    )


class Ranking(Protocol):
    """Orders representatives by promise: lower is better."""

    def __call__(self, partner: Tree, found: Representatives, candidates: Candidates, /) -> FloatArray:
        """[r] one number per representative; candidates [r, n] are its bridges to the partner's nodes."""


def temporal_ranking(_: Tree, __: Representatives, candidates: Candidates) -> FloatArray:
    """The cost of the best bridge, min over m of J(ρ, m)."""
    return candidates.cost.min(axis=1)


def straight_ranking(partner: Tree, found: Representatives, _: Candidates) -> FloatArray:
    """The straight line to the counterpart's root (variant `l2-root`)."""
    return np.linalg.norm(found.state - partner.state[0], axis=1)


def uncertainty(tree: Tree) -> FloatArray:
    """[leaves] U(n) of the open leaves: mass-weighted squared dispersion of the endpoints about the best."""
    found = tree.representatives
    spread = tree.distance.pairwise(found.tail_codes, found.tail_codes) ** 2
    least = []
    for leaf in tree.open_leaves():
        rows = np.flatnonzero(found.node == leaf)
        mass = found.mass[rows]
        least.append(float((mass / mass.sum() @ spread[np.ix_(rows, rows)]).min()))
    return np.array(least)


def rank_leaves(tree: Tree, promise: FloatArray, dispersion: FloatArray, weight: float) -> IntArray:
    """Open leaves, the best score −(rank(cost) + λ rank(U)) first; promise [r] is per representative,
    dispersion [leaves] per open leaf, weight is λ."""
    leaves = tree.open_leaves()
    cost = np.array([promise[tree.representatives.node == leaf].min() for leaf in leaves])
    penalty = _ranks(cost) + weight * _ranks(dispersion)
    return leaves[np.lexsort((cost, penalty))]


def _ranks(values: FloatArray) -> IntArray:
    """[n] from 1 on, the same for equal ones."""
    return np.searchsorted(np.sort(values), values) + 1
