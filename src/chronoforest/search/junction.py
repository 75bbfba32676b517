"""The junction detector: sample lookaheads for many leaves at once, prune, cluster, keep representatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.search.tree import Representatives, Tree
from chronoforest.types import Density, FloatArray, IntArray, Query, Sampler

EXEC_SCALE = 0.2
"""d_exec per step of d: the unit of thresholds on travel time, about what a body moves in a step."""

NUM_TRIES = 2
"""Batches that a leaf is sampled in before it counts as barren."""


@dataclass(frozen=True)
class JunctionParams:
    """Samples per leaf split over guidance scales (world units), and what is kept of them.

    progress, overlap, continuity are in d_exec = EXEC_SCALE · d; cluster_cut is in steps; slip is in world
    units: how much farther a segment may stray than an anchor that lies outside the support.
    """

    num_samples: int = 12
    scales: tuple[float, ...] = (16.0, 0.0)
    progress: float = 4.0
    overlap: float = 4.0
    continuity: float = 4.0
    cluster_cut: float = 30.0
    slip: float = 0.05

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_samples")
        if not self.scales or min(self.scales) < 0:
            raise InvalidParameter(f"scales must be a non-empty list of numbers ≥ 0, got {self.scales}")


@dataclass(frozen=True)
class Leaf:
    """A node that wants lookaheads, and the places [t, 2] it should look toward."""

    tree: Tree
    node: int
    targets: FloatArray


def look_ahead(
    leaves: list[Leaf],
    sampler: Sampler,
    density: Density,
    largest_hop: float,
    params: JunctionParams,
    rng: np.random.Generator,
) -> None:
    """Give every leaf its representatives; one batch for all, and another try for those left with none."""
    waiting = leaves
    for _ in range(NUM_TRIES):
        if not waiting:
            return
        segments = _sample(waiting, sampler, params, rng)
        for leaf, samples in zip(waiting, segments, strict=True):
            leaf.tree.hold(_select(leaf, samples, density, largest_hop, params))
        waiting = [leaf for leaf in waiting if leaf.node not in leaf.tree.representatives.node]


def _sample(
    leaves: list[Leaf], sampler: Sampler, params: JunctionParams, rng: np.random.Generator
) -> FloatArray:
    """[leaves, samples, horizon + 1, 2]: samples alternate over a leaf's targets, then over the scales."""
    count = params.num_samples
    turn = np.arange(count)
    query = Query(
        boundary=np.repeat(np.stack([leaf.tree.state[leaf.node] for leaf in leaves]), count, axis=0),
        target=np.concatenate([leaf.targets[turn % len(leaf.targets)] for leaf in leaves]),
        is_incoming=np.repeat([leaf.tree.is_incoming for leaf in leaves], count),
        guidance=np.concatenate(
            [np.array(params.scales)[turn // len(leaf.targets) % len(params.scales)] for leaf in leaves]
        ),
    )
    segments = sampler(query, rng)
    return segments.reshape(len(leaves), count, *segments.shape[1:])


def _select(
    leaf: Leaf, samples: FloatArray, density: Density, largest_hop: float, params: JunctionParams
) -> Representatives:
    """Prune, cluster, and keep the best-supported continuous member of every cluster."""
    keep = is_supported(samples, density, params.slip) & has_no_jump(samples, largest_hop)
    samples = samples[keep & goes_with_traffic(samples, leaf.tree.is_incoming, density)]
    tail_codes = leaf.tree.distance.encode(samples[:, -1])
    keep = _advances(leaf, tail_codes, params)
    samples, tail_codes = samples[keep], tail_codes[keep]
    labels = cluster(leaf.tree, tail_codes, params.cluster_cut, density.is_one_way)
    support = density.log_density(samples[:, 1:]).min(axis=1)
    kept: list[tuple[int, int, NDArray[Any]]] = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        for member in members[np.argsort(-support[members], kind="stable")]:
            codes = leaf.tree.distance.encode(samples[member, 1:])
            if _is_continuous(leaf, codes, params.continuity, density.is_one_way):
                kept.append((int(member), len(members), codes))
                break
    return _representatives(leaf, samples, kept)


def is_supported(segments: FloatArray, density: Density, slip: float = 0.0) -> NDArray[np.bool_]:
    """[n]: every generated frame lies where recordings went, or no farther outside than the boundary does."""
    margin = density.margin(segments)
    return np.asarray((margin[:, 1:] > np.minimum(margin[:, :1] - slip, 0.0)).all(axis=1))


def has_no_jump(segments: FloatArray, largest_hop: float) -> NDArray[np.bool_]:
    """[n]: no two consecutive frames farther apart than a recording ever moved."""
    hops = np.linalg.norm(np.diff(segments, axis=1), axis=-1)
    return np.asarray((hops <= largest_hop).all(axis=1))


def goes_with_traffic(segments: FloatArray, is_incoming: bool, density: Density) -> NDArray[np.bool_]:
    """[n]: every hop goes in a direction in which recordings moved there."""
    moves = np.diff(segments, axis=1)
    middles = segments[:, :-1] + 0.5 * moves
    return np.asarray(density.follows(middles, -moves if is_incoming else moves).all(axis=1))


def _advances(leaf: Leaf, tail_codes: NDArray[Any], params: JunctionParams) -> NDArray[np.bool_]:
    """Progress from the boundary, and no overlap with the leaf's own prefix (both in d_exec)."""
    tree = leaf.tree
    start = np.repeat(tree.codes[[leaf.node]], len(tail_codes), axis=0)
    progress = EXEC_SCALE * tree.outward(start, tail_codes)
    prefix = tree.frame_codes[tree.prefix_frames(leaf.node)]
    overlap = EXEC_SCALE * tree.outward_pairwise(prefix, tail_codes).min(axis=0)
    return np.asarray((progress >= params.progress) & (overlap >= params.overlap))


def _is_continuous(leaf: Leaf, codes: NDArray[Any], continuity: float, is_one_way: bool) -> bool:
    """Neighbouring frames are near in both directions, or in that of travel where ways are one-way: there the
    way back is a detour wherever one is."""
    tree = leaf.tree
    chain = np.concatenate([tree.codes[[leaf.node]], codes])
    hops = tree.outward(chain[:-1], chain[1:])
    if not is_one_way:
        hops = np.maximum(hops, tree.outward(chain[1:], chain[:-1]))
    return bool(EXEC_SCALE * hops.max() <= continuity)


def cluster(tree: Tree, tail_codes: NDArray[Any], cluster_cut: float, is_one_way: bool) -> IntArray:
    """[n] labels by complete linkage of the endpoints' d, symmetrised by the maximum, or by the minimum
    where ways are one-way."""
    if len(tail_codes) < 2:
        return np.ones(len(tail_codes), dtype=np.int64)
    spread = tree.distance.pairwise(tail_codes, tail_codes)
    spread = (np.minimum if is_one_way else np.maximum)(spread, spread.T)
    linked = linkage(squareform(spread, checks=False), "complete")
    labels: IntArray = fcluster(linked, cluster_cut, "distance")
    return labels


def _representatives(
    leaf: Leaf, samples: FloatArray, kept: list[tuple[int, int, NDArray[Any]]]
) -> Representatives:
    tree = leaf.tree
    rows = np.array([member for member, _, _ in kept], dtype=np.int64)
    horizon, width = tree.horizon, tree.codes.shape[1]
    codes = np.array([found for _, _, found in kept], dtype=tree.codes.dtype).reshape(
        len(kept), horizon, width
    )
    start = np.repeat(tree.codes[[leaf.node]], len(kept), axis=0)
    return Representatives(
        node=np.full(len(kept), leaf.node),
        segment=samples[rows],
        codes=codes,
        mass=np.array([float(size) for _, size, _ in kept]),
        cost=tree.cost[leaf.node] + tree.outward(start, codes[:, -1]),
    )
