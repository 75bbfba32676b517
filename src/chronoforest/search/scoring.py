"""What a candidate bridge would cost, and which leaf deserves to grow next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

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


def bridge_cost(
    tree: Tree, cost: FloatArray, codes: NDArray[Any], partner: Tree, calibration: Calibration
) -> Candidates:
    """J(ρ, m) = g(ρ) + h(d(x(ρ), x(m))) + g(m) for rows (cost [r], codes [r, F]) of `tree`."""
    gap = tree.outward_pairwise(codes, partner.codes)
    return Candidates(cost[:, None] + calibration.inflate(gap) + partner.cost, gap)


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


def uncertainty(tree: Tree, found: Representatives) -> float:
    """U(n): mass-weighted squared dispersion of the endpoints about the best of them."""
    share = found.mass / found.mass.sum()
    spread = tree.distance.pairwise(found.tail_codes, found.tail_codes)
    return float((share @ spread**2).min())


def rank_leaves(tree: Tree, promise: FloatArray, uncertainty_weight: float) -> IntArray:
    """Open leaves, the best score −(rank(cost) + λ rank(U)) first; promise [r] is per representative."""
    leaves = tree.open_leaves()
    rows = [tree.representatives.node == leaf for leaf in leaves]
    cost = np.array([promise[row].min() for row in rows])
    dispersion = np.array([uncertainty(tree, tree.representatives.where(row)) for row in rows])
    penalty = rankdata(cost, method="min") + uncertainty_weight * rankdata(dispersion, method="min")
    return leaves[np.lexsort((cost, penalty))]
