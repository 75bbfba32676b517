"""Hops between places: what recordings do from state to state, how often, and how long it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from chronoforest.errors import require_positive, require_within
from chronoforest.roadmap.states import Cover, Samples, StateSpace, means
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class HopParams:
    """Which hops a roadmap has.

    stray: a place that fewer recordings pass than this share of the busiest one within `around` scales of the
    position is one of strays; aside: scales that a hop may lie farther off its recordings at one end than at
    the other; thin: recordings up to which a place is joined to others by inferred hops, `reach` scales of
    the state space away; alike: degrees between such a hop and the headings at its ends; cost_factor: times
    its length that such a hop costs; last_factor: and one far off its recordings, which is kept where it
    alone leads to a place or from it, and taken where nothing else leads on.
    """

    stray: float = 0.005
    around: float = 8.0
    aside: float = 1.0
    thin: int = 3
    reach: float = 2.0
    alike: float = 45.0
    cost_factor: float = 3.0
    last_factor: float = 40.0

    def __post_init__(self) -> None:
        require_positive(self, "around", "aside", "reach", "cost_factor", "last_factor")


@dataclass(frozen=True, eq=False)
class Transitions:
    """Hops [e] from source to target places; count: recordings that make each, 0 where it is inferred; cost:
    units of length, more where in doubt; steps: how long it takes in the median."""

    source: IntArray
    target: IntArray
    count: IntArray
    cost: FloatArray
    steps: FloatArray

    def __len__(self) -> int:
        return len(self.source)

    @property
    def is_recorded(self) -> BoolArray:
        """[e] whether some recording made a hop."""
        return np.asarray(self.count > 0)

    def where(self, keep: BoolArray) -> Transitions:
        """Some of them."""
        return Transitions(*(column[keep] for column in vars(self).values()))

    def with_more(self, more: Transitions) -> Transitions:
        """These and others behind them."""
        pairs = zip(vars(self).values(), vars(more).values(), strict=True)
        return Transitions(*(np.concatenate(pair) for pair in pairs))

    def numbers(self, places: IntArray, num_places: int) -> IntArray:
        """[k − 1] numbers of the hops along a chain of places [k], −1 where there is none."""
        return self.numbers_of(places[:-1], places[1:], num_places)

    def numbers_of(self, source: IntArray, target: IntArray, num_places: int) -> IntArray:
        """[k] numbers of the hops between places, −1 where there is none."""
        keys = self.source * num_places + self.target
        order = np.argsort(keys, kind="stable")
        asked = source * num_places + target
        found = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
        return np.where(keys[found] == asked, found, -1)

    def graph(self, num_places: int) -> csr_matrix:
        """[n, n] cost from place to place."""
        ends = (self.source, self.target)
        return csr_matrix((np.maximum(self.cost, 1e-9), ends), shape=(num_places,) * 2)


@dataclass(frozen=True, eq=False)
class Passes:
    """Every time that a recording went from a place to the next: source, target, owner and duration [n];
    aside: units that the places lie farther off the recording at one end than at the other."""

    source: IntArray
    target: IntArray
    owner: IntArray
    duration: FloatArray
    aside: FloatArray


def passes_of(samples: Samples, cover: Cover) -> Passes:
    """The passes of recordings from place to place, timed where they are amid each."""
    is_new = np.append(True, ~samples.goes_on | (cover.place[1:] != cover.place[:-1]))
    visit = np.cumsum(is_new) - 1
    ones = np.ones(len(visit))
    time = means(samples.time[:, None], visit, ones)[:, 0]
    off = cover.position[cover.place] - samples.position
    off -= (off * samples.heading).sum(axis=1, keepdims=True) * samples.heading
    ends, starts = np.flatnonzero(is_new[1:]), np.flatnonzero(is_new)[1:]
    is_pass = samples.goes_on[ends]
    ends, starts = ends[is_pass], starts[is_pass]
    return Passes(
        cover.place[ends],
        cover.place[starts],
        samples.owner[starts],
        time[visit[starts]] - time[visit[ends]],
        np.linalg.norm(off[starts] - off[ends], axis=1),
    )


def transitions_of(
    samples: Samples, cover: Cover, space: StateSpace, passes: Passes, params: HopParams
) -> Transitions:
    """All hops between places: those that recordings make, without strays, and inferred ones."""
    recorded, aside = _recorded(cover, passes)
    support = num_recordings(samples, cover, space)
    if not space.is_open:
        is_kept = _is_kept(cover, space, support, params)
        is_usual = is_kept[recorded.source] & is_kept[recorded.target]
        is_usual &= _goes_ahead(cover, recorded) | (space.angle is None)
        recorded, aside = recorded.where(is_usual), aside[is_usual]
        is_sure = aside <= params.aside * space.spacing
        cost = np.where(is_sure, 1.0, params.last_factor) * recorded.cost
        recorded = replace(recorded, cost=cost).where(_with_only_ones(recorded, is_sure))
    more = _inferred(cover, space, support, recorded, params)
    return recorded.with_more(more)


def _goes_ahead(cover: Cover, hops: Transitions) -> BoolArray:
    """[e] whether hops lead the way that their ends head; noise alone makes others."""
    move = cover.position[hops.target] - cover.position[hops.source]
    return np.asarray((move * (cover.heading[hops.source] + cover.heading[hops.target])).sum(axis=1) > 0)


def _with_only_ones(hops: Transitions, keep: BoolArray) -> BoolArray:
    """[e] hops that are kept, and the most made one of each place that would be left, or reached, by none."""
    found = keep.copy()
    for ends in (hops.source, hops.target):
        is_bare = ~np.isin(ends, ends[keep])
        rows = np.flatnonzero(is_bare)[np.argsort(-hops.count[is_bare], kind="stable")]
        found[rows[np.unique(ends[rows], return_index=True)[1]]] = True
    return found


def _recorded(cover: Cover, passes: Passes) -> tuple[Transitions, FloatArray]:
    """Each hop once, and [e] how far it lies aside of its recordings at one end more than at the other."""
    count = len(cover.position)
    keys, hop = np.unique(passes.source * count + passes.target, return_inverse=True)
    source, target = np.divmod(keys, count)
    made = np.unique(np.stack([hop, passes.owner]), axis=1)[0]
    length = np.linalg.norm(cover.position[target] - cover.position[source], axis=1)
    aside = np.bincount(hop, passes.aside) / np.bincount(hop)
    steps = group_median(hop, passes.duration, len(keys))
    return Transitions(source, target, np.bincount(made), length, steps), aside


def group_median(group: IntArray, values: FloatArray, count: int) -> FloatArray:
    """[count] the lower median of the values [n] of each group."""
    order = np.lexsort((values, group))
    first = np.searchsorted(group[order], np.arange(count))
    size = np.bincount(group, minlength=count)
    return values[order][first + (size - 1) // 2]


def num_recordings(samples: Samples, cover: Cover, space: StateSpace) -> IntArray:
    """[n] recordings that pass within the scale of each place: more than come to no other place first."""
    count = len(cover.position)
    visited = np.unique(np.stack([cover.place, samples.owner]), axis=1)
    owners = csr_matrix((np.ones(visited.shape[1]), visited), shape=(count, samples.owner.max() + 1))
    tree = cKDTree(space.embedded(cover.position, cover.heading))
    near = tree.sparse_distance_matrix(tree, 1.5, output_type="coo_matrix")
    ends = (np.append(near.row, np.arange(count)), np.append(near.col, np.arange(count)))
    around = csr_matrix((np.ones(len(ends[0])), ends), shape=(count, count)) @ owners
    return np.diff(around.indptr).astype(np.int64)


def _is_kept(cover: Cover, space: StateSpace, support: IntArray, params: HopParams) -> BoolArray:
    """[n] whether enough recordings pass a place for one so near to busy ones."""
    near = cKDTree(cover.position).query_ball_point(cover.position, params.around * space.spacing)
    busiest = np.array([support[rows].max() for rows in near])
    return np.asarray(support >= params.stray * busiest)


def _inferred(
    cover: Cover, space: StateSpace, support: IntArray, recorded: Transitions, params: HopParams
) -> Transitions:
    """Hops that nothing recorded makes: between places near each other, in the open all of them; along ways,
    where recordings are thin, those in a direction both have, and back over hops that may be taken back."""
    used = np.unique(np.concatenate([recorded.source, recorded.target]))
    states = space.embedded(cover.position, cover.heading)[used]
    pairs = cKDTree(states).query_pairs(params.reach, output_type="ndarray")
    source, target = used[np.concatenate([pairs, pairs[:, ::-1]]).T]
    move = cover.position[target] - cover.position[source]
    length = np.linalg.norm(move, axis=1)
    keep = length > 0
    if space.angle is not None:
        least = np.cos(np.radians(params.alike)) * length
        leaves, joins = ((cover.heading[ends] * move).sum(axis=1) for ends in (source, target))
        keep &= (leaves >= least) & (joins >= least)
    if not space.is_open:
        keep &= np.maximum(support[source], support[target]) <= params.thin
    count = len(cover.position)
    keep &= ~np.isin(source * count + target, recorded.source * count + recorded.target)
    source, target, length = source[keep], target[keep], length[keep]
    pace = float(np.median(recorded.steps / recorded.cost)) if len(recorded) else 1.0
    cost = length if space.is_open else params.cost_factor * length
    more = Transitions(source, target, np.zeros(len(source), dtype=np.int64), cost, pace * length)
    return more.with_more(_back(recorded, count)) if space.angle is None and not space.is_open else more


def _back(hops: Transitions, num_places: int) -> Transitions:
    """Hops the other way, where there are none."""
    back = replace(hops, source=hops.target, target=hops.source, count=np.zeros_like(hops.count))
    return back.where(hops.numbers_of(back.source, back.target, num_places) < 0)


@dataclass(frozen=True)
class TimeParams:
    """How times are checked: on stretches of recordings of so many hops, if there are `least` of them; share:
    of the true times that shall lie in an interval."""

    num_hops: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256)
    share: float = 0.9
    least: int = 30

    def __post_init__(self) -> None:
        require_positive(self, "least")
        require_within(self, 0, 1, "share")


@dataclass(frozen=True)
class Took:
    """Steps that a way takes in the middle, and between which it lies for most recordings."""

    steps: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Times:
    """steps: [e] of each hop in the median; ratios: [k, 3] times the sum of these that stretches of
    num_hops [k] hops take in the median, at least and at most: hops in a row are slow together."""

    steps: FloatArray
    num_hops: FloatArray
    ratios: FloatArray

    def of(self, hops: IntArray) -> Took:
        """How long some hops take, one after the other."""
        steps, count = float(self.steps[hops].sum()), np.log(max(1, len(hops)))
        return Took(*(steps * float(np.interp(count, np.log(self.num_hops), part)) for part in self.ratios.T))


def times_of(hops: Transitions, passes: Passes, num_places: int, params: TimeParams) -> Times:
    """Times of hops, and intervals from how long the recordings of one half took on stretches, against the
    medians of the other half."""
    hop = hops.numbers_of(passes.source, passes.target, num_places)
    is_known = hop >= 0
    half = passes.owner % 2 == 0
    expected = np.where(
        half,
        _medians(hops, hop, passes, is_known & ~half)[hop],
        _medians(hops, hop, passes, is_known & half)[hop],
    )
    is_next = (passes.source[1:] == passes.target[:-1]) & (passes.owner[1:] == passes.owner[:-1])
    follows = np.append(False, is_next)
    chain: IntArray = np.cumsum(~(follows & is_known), dtype=np.int64)
    found = [_ratios(passes.duration, expected, chain, is_known, count) for count in params.num_hops]
    some = [(k, ratio) for k, ratio in zip(params.num_hops, found, strict=True) if len(ratio) >= params.least]
    if not some:
        return Times(hops.steps, np.ones(1), np.ones((1, 3)))
    tail = 0.5 * (1.0 - params.share)
    ratios = np.array([np.quantile(ratio, [0.5, tail, 1.0 - tail]) for _, ratio in some])
    return Times(hops.steps, np.array([k for k, _ in some], dtype=np.float64), ratios)


def _medians(hops: Transitions, hop: IntArray, passes: Passes, keep: BoolArray) -> FloatArray:
    """[e] steps of hops in the median of some passes, as all have it where none of these makes one."""
    steps = hops.steps.copy()
    made, group = np.unique(hop[keep], return_inverse=True)
    steps[made] = group_median(group, passes.duration[keep], len(made))
    return steps


def _ratios(
    duration: FloatArray, expected: FloatArray, chain: IntArray, is_known: BoolArray, count: int
) -> FloatArray:
    """[n] of stretches of so many hops that recordings made in a row, the time taken over that expected."""
    start = np.arange(0, len(duration) - count, max(1, count // 2))
    total = [np.append(0.0, np.cumsum(np.where(is_known, values, 0.0))) for values in (duration, expected)]
    # A chain begins at a pass that does not follow the one before, or is not known.
    is_whole = (chain[start] == chain[start + count - 1]) & is_known[start]
    took, usual = (part[start + count][is_whole] - part[start][is_whole] for part in total)
    return np.asarray(took[usual > 0] / usual[usual > 0])
