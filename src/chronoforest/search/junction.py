"""The junction detector: sample lookaheads for many leaves at once, prune, cluster, keep representatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.search.tree import Representatives, Tree, outward_each
from chronoforest.types import BoolArray, Density, Distance, FloatArray, IntArray, Query, Sampler

EXEC_SCALE = 0.2
"""d_exec per step of d: the unit of thresholds on travel time, about what a body moves in a step."""

NUM_TRIES = 2
"""Batches that a leaf is sampled in before it counts as barren."""


@dataclass(frozen=True)
class JunctionParams:
    """The samples of a leaf, and what is kept of them; d_exec = EXEC_SCALE · d.

    num_samples: lookaheads per leaf; scales: guidance that they are split over, world units; progress: least
    d_exec from the boundary, and from the leaf's own prefix, to the tail; continuity: largest d_exec between
    neighbouring frames, both directions; cluster_cut: steps at which complete linkage is cut; slip: world
    units that a segment may stray farther than an anchor that lies outside the support.
    """

    num_samples: int = 12
    scales: tuple[float, ...] = (16.0, 0.0)
    progress: float = 4.0
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


@dataclass(frozen=True)
class _Samples:
    """Lookaheads of many leaves that passed the tests so far.

    leaf [n] rows of the leaves; segment [n, horizon + 1, 2]; tail_codes [n, F].
    """

    leaf: IntArray
    segment: FloatArray
    tail_codes: NDArray[Any]

    def where(self, keep: BoolArray) -> _Samples:
        return _Samples(self.leaf[keep], self.segment[keep], self.tail_codes[keep])


@dataclass(frozen=True)
class _Batch:
    """Leaves that are looked ahead from together: is_incoming [leaves], and their codes [leaves, F]."""

    leaves: list[Leaf]
    distance: Distance
    is_incoming: BoolArray
    codes: NDArray[Any]

    @classmethod
    def of(cls, leaves: list[Leaf]) -> _Batch:
        """All trees of a forest share one distance."""
        is_incoming = np.array([leaf.tree.is_incoming for leaf in leaves])
        codes = np.stack([leaf.tree.codes[leaf.node] for leaf in leaves])
        return cls(leaves, leaves[0].tree.distance, is_incoming, codes)

    def outward(self, leaf: IntArray, near: NDArray[Any], far: NDArray[Any]) -> FloatArray:
        """[n] d between codes [n, F] in the direction of travel of their leaves' trees."""
        return outward_each(self.distance, self.is_incoming[leaf], near, far)


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
        batch, segments = _Batch.of(waiting), _sample(waiting, sampler, params, rng)
        samples = _possible(batch, segments, density, largest_hop, params)
        samples = samples.where(_advances(batch, samples, params, largest_hop / sampler.stride))
        for leaf, found in zip(waiting, _select(batch, samples, density, params), strict=True):
            leaf.tree.hold(found)
        waiting = [leaf for leaf in waiting if leaf.node not in leaf.tree.representatives.node]


def _sample(
    leaves: list[Leaf], sampler: Sampler, params: JunctionParams, rng: np.random.Generator
) -> FloatArray:
    """[leaves × samples, horizon + 1, 2]: samples alternate over a leaf's targets, then over the scales."""
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
    return sampler(query, rng)


def _possible(
    batch: _Batch, segments: FloatArray, density: Density, largest_hop: float, params: JunctionParams
) -> _Samples:
    """What somebody could have moved like, and the codes of its endpoints."""
    leaf = np.repeat(np.arange(len(batch.leaves)), params.num_samples)
    if density.is_one_way:
        segments = sound_part(segments, batch.is_incoming[leaf], density, largest_hop, params.slip)
    keep = is_supported(segments, density, params.slip) & has_no_jump(segments, largest_hop)
    keep &= goes_with_traffic(segments, batch.is_incoming[leaf], density)
    segments = segments[keep]
    return _Samples(leaf[keep], segments, batch.distance.encode(segments[:, -1]))


def _select(
    batch: _Batch, samples: _Samples, density: Density, params: JunctionParams
) -> list[Representatives]:
    """For every leaf: cluster, and keep the best-supported continuous member of every cluster.

    The next member is looked at only where the one before is not continuous, for all clusters at once.
    """
    clusters = _clusters(batch, samples, density, params)
    kept: dict[int, tuple[int, NDArray[Any]]] = {}
    rank, waiting = 0, list(range(len(clusters)))
    while waiting:
        rows = np.array([clusters[k][rank] for k in waiting])
        codes = _frame_codes(batch, samples.segment[rows, 1:])
        is_good = _is_continuous(batch, samples.leaf[rows], codes, params.continuity, density.is_one_way)
        kept |= {waiting[k]: (int(rows[k]), codes[k]) for k in np.flatnonzero(is_good)}
        rank += 1
        waiting = [k for k in waiting if k not in kept and rank < len(clusters[k])]
    found = [(*kept[k], len(clusters[k])) for k in sorted(kept)]
    return _representatives(batch, samples, found)


def _clusters(batch: _Batch, samples: _Samples, density: Density, params: JunctionParams) -> list[IntArray]:
    """Rows of the samples of each cluster, the best supported first; leaf by leaf."""
    support = density.log_density(samples.segment[:, 1:]).min(axis=1)
    spread = batch.distance.pairwise(samples.tail_codes, samples.tail_codes)
    clusters = []
    for leaf in range(len(batch.leaves)):
        rows = np.flatnonzero(samples.leaf == leaf)
        labels = cluster(spread[np.ix_(rows, rows)], params.cluster_cut, density.is_one_way)
        rows, labels = (values[np.argsort(-support[rows], kind="stable")] for values in (rows, labels))
        clusters += [rows[labels == label] for label in np.unique(labels)]
    return clusters


def _frame_codes(batch: _Batch, frames: FloatArray) -> NDArray[Any]:
    """[n, horizon, 2] → [n, horizon, F]."""
    codes = batch.distance.encode(frames.reshape(-1, frames.shape[-1]))
    return codes.reshape(*frames.shape[:2], codes.shape[1])


def _advances(
    batch: _Batch, samples: _Samples, params: JunctionParams, step_length: float
) -> NDArray[np.bool_]:
    """Progress from the boundary, and no overlap with the leaf's own prefix (both in d_exec)."""
    progress = batch.outward(samples.leaf, batch.codes[samples.leaf], samples.tail_codes)
    prefix_codes, rows = _near_prefix(batch, samples, params.progress / EXEC_SCALE * step_length)
    overlap = batch.outward(samples.leaf[rows], prefix_codes, samples.tail_codes[rows])
    advances = EXEC_SCALE * progress >= params.progress
    advances[rows[EXEC_SCALE * overlap < params.progress]] = False
    return np.asarray(advances)


def _near_prefix(batch: _Batch, samples: _Samples, reach: float) -> tuple[NDArray[Any], IntArray]:
    """Codes [n, F] of frames of a leaf's prefix, and rows [n] of its samples that end within `reach` of them:
    nobody covers more than that in so few steps, so others need no look."""
    codes, rows = [batch.codes[:0]], [samples.leaf[:0]]
    for number, leaf in enumerate(batch.leaves):
        own = np.flatnonzero(samples.leaf == number)
        prefix = leaf.tree.prefix_frames(leaf.node)
        gap = leaf.tree.frame_state[prefix, None] - samples.segment[own, -1]
        frames, tails = np.nonzero(np.linalg.norm(gap, axis=-1) <= reach)
        codes.append(leaf.tree.frame_codes[prefix[frames]])
        rows.append(own[tails])
    return np.concatenate(codes), np.concatenate(rows)


def _is_continuous(
    batch: _Batch, leaf: IntArray, codes: NDArray[Any], continuity: float, is_one_way: bool
) -> BoolArray:
    """[n] from codes [n, horizon, F]: neighbouring frames are near in both directions, or in that of travel
    where ways are one-way: there the way back is a detour wherever one is."""
    num_rows, horizon, width = codes.shape
    chain = np.concatenate([batch.codes[leaf][:, None], codes], axis=1)
    near, far = (part.reshape(-1, width) for part in (chain[:, :-1], chain[:, 1:]))
    leaf = np.repeat(leaf, horizon)
    hops = batch.outward(leaf, near, far)
    if not is_one_way:
        hops = np.maximum(hops, batch.outward(leaf, far, near))
    return np.asarray(EXEC_SCALE * hops.reshape(num_rows, horizon).max(axis=1) <= continuity)


def cluster(spread: FloatArray, cluster_cut: float, is_one_way: bool) -> IntArray:
    """[n] labels by complete linkage of the endpoints' d [n, n], symmetrised by the maximum, or by the
    minimum where ways are one-way."""
    if len(spread) < 2:
        return np.ones(len(spread), dtype=np.int64)
    spread = (np.minimum if is_one_way else np.maximum)(spread, spread.T)
    if spread.max() <= cluster_cut:
        return np.ones(len(spread), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage  # a plan over a roadmap alone does not need it

    linked = linkage(squareform(spread, checks=False), "complete")
    labels: IntArray = fcluster(linked, cluster_cut, "distance")
    return labels


def _representatives(
    batch: _Batch, samples: _Samples, found: list[tuple[int, NDArray[Any], int]]
) -> list[Representatives]:
    """For every leaf, from rows of the samples, their codes [horizon, F] and the sizes of their clusters."""
    rows = np.array([row for row, _, _ in found], dtype=np.int64)
    owner = samples.leaf[rows]
    horizon, width = samples.segment.shape[1] - 1, batch.codes.shape[1]
    codes = np.array([codes for _, codes, _ in found], dtype=batch.codes.dtype)
    start_cost = np.array([leaf.tree.cost[leaf.node] for leaf in batch.leaves])
    node = np.array([leaf.node for leaf in batch.leaves])
    every = Representatives(
        node=node[owner],
        segment=samples.segment[rows],
        codes=codes.reshape(len(rows), horizon, width),
        mass=np.array([float(size) for _, _, size in found]),
        cost=start_cost[owner] + batch.outward(owner, batch.codes[owner], samples.tail_codes[rows]),
    )
    return [every.where(owner == number) for number in range(len(batch.leaves))]


LEAST_STEPS = 4
"""Steps whose length two neighbouring frames may at least be apart. Where they are fewer steps apart, what a
denoiser blurs counts as much as what it moves, and of many single steps some are longer than hardly any."""


def sound_part(
    segments: FloatArray, is_incoming: BoolArray, density: Density, largest_hop: float, slip: float
) -> FloatArray:
    """Segments [n, frames, d] that stay where they are before they first do what no recording did.

    Lanes may be as narrow as recordings are wrong, and then hardly any segment keeps to one until its end.
    """
    is_sound = _is_inside(segments, density, slip) & _is_step(segments, largest_hop)
    is_sound &= _is_with_traffic(segments, is_incoming, density)
    num_sound = np.logical_and.accumulate(is_sound, axis=1).sum(axis=1)
    frame = np.minimum(np.arange(segments.shape[1]), num_sound[:, None])
    return np.take_along_axis(segments, frame[..., None], axis=1)


def is_supported(segments: FloatArray, density: Density, slip: float = 0.0) -> NDArray[np.bool_]:
    """[n]: every generated frame lies where recordings went, or no farther outside than the boundary does."""
    return np.asarray(_is_inside(segments, density, slip).all(axis=1))


def _is_inside(segments: FloatArray, density: Density, slip: float) -> BoolArray:
    """[n, frames − 1] for every generated frame."""
    margin = density.margin(segments)
    return np.asarray(margin[:, 1:] > np.minimum(margin[:, :1] - slip, 0.0))


def longest_hop(step_length: float, stride: int) -> float:
    """World units between two frames `stride` steps apart that hardly any recording exceeds."""
    return step_length * max(stride, LEAST_STEPS)


def has_no_jump(segments: FloatArray, largest_hop: float) -> NDArray[np.bool_]:
    """[n]: no two consecutive frames farther apart than a recording ever moved."""
    return np.asarray(_is_step(segments, largest_hop).all(axis=1))


def _is_step(segments: FloatArray, largest_hop: float) -> BoolArray:
    """[n, frames − 1] for every hop."""
    return np.asarray(np.linalg.norm(np.diff(segments, axis=1), axis=-1) <= largest_hop)


def goes_with_traffic(
    segments: FloatArray, is_incoming: BoolArray | bool, density: Density
) -> NDArray[np.bool_]:
    """[n]: every hop goes in a direction in which recordings moved there; is_incoming: of each or of all."""
    if not density.is_one_way:
        return np.ones(len(segments), dtype=np.bool_)
    return np.asarray(_is_with_traffic(segments, is_incoming, density).all(axis=1))


def _is_with_traffic(segments: FloatArray, is_incoming: BoolArray | bool, density: Density) -> BoolArray:
    """[n, frames − 1] for every hop."""
    moves = np.diff(segments, axis=1)
    middles = segments[:, :-1] + 0.5 * moves
    is_back = np.reshape(is_incoming, (-1, 1, 1))
    return density.follows(middles, np.where(is_back, -moves, moves))
