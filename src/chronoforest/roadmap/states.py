"""What a state is made of, and the recorded states of a world.

Two agents at one place who came from different sides are not in the same state, unless recordings leave such
places in every direction. So a state is a position and, where ways have directions, the heading in which it
was reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from chronoforest.data.episodes import Episodes
from chronoforest.errors import BadDataset, require_positive, require_within
from chronoforest.types import BoolArray, FloatArray, IntArray, lengths_along


@dataclass(frozen=True)
class StateParams:
    """How a state space is found.

    num_probes: recorded states that are looked at, in recordings with about `most_rows` rows; per_window,
    per_spacing: samples of a track across the window in which they are looked at, and within the scale of the
    position; full_step: quantile of the recorded steps that is one at full speed: where any way may be taken
    back and recordings of one way lie such a step or more apart, they cover an area and not ways; open_steps:
    full steps that the scale of the position has there at most; drop: share of the recordings beside each
    other in the middle of a way, at whose distance the way ends; least_pairs: pairs of recordings from which
    that is found; corner: of the usual step, the least width of ways that have directions, since two
    recordings of a right-angled corner lie up to 1/√8 of a step apart; alike: degrees between headings along
    one way; memory: of the scale of the position, the way back over which a heading is measured; angle:
    degrees within which headings are the same; both_ways: share of the places which several recordings pass
    that must show both directions for a world in which any way may be taken back; stray: share of the
    recordings of a place below which those of one direction are strays.
    """

    num_probes: int = 500
    most_rows: int = 200_000
    per_window: float = 16.0
    per_spacing: float = 3.0
    full_step: float = 0.95
    open_steps: float = 4.0
    drop: float = 0.5
    least_pairs: float = 20.0
    corner: float = 0.125**0.5
    alike: float = 45.0
    memory: float = 1.5
    angle: float = 30.0
    both_ways: float = 0.7
    stray: float = 0.05

    def __post_init__(self) -> None:
        require_positive(
            self,
            "num_probes",
            "most_rows",
            "per_window",
            "per_spacing",
            "open_steps",
            "least_pairs",
            "corner",
            "memory",
            "angle",
        )
        require_within(self, 0, 1, "drop", "both_ways", "full_step", "stray")


@dataclass(frozen=True, eq=False)
class Track:
    """A recording, or a part of one, without jumps: position [n, d] and time [n] of its rows, in seconds or
    steps, and the number of the recording."""

    position: FloatArray
    time: FloatArray
    recording: int


@dataclass(frozen=True)
class StateSpace:
    """columns: names of the numbers of a state, the position first; spacing: units of position, and angle:
    degrees of heading, within which two states are the same. Without an angle a state is a position, and any
    way may be taken back. is_open: whether ways may be straightened wherever something was recorded, and not
    only within a way; width: units across a way within which recordings lie."""

    columns: tuple[str, ...]
    spacing: float
    angle: float | None
    is_open: bool = False
    width: float = 0.0

    def embedded(self, position: FloatArray, heading: FloatArray) -> FloatArray:
        """[n, k] states of which those count as the same that are within 1 of each other."""
        if self.angle is None:
            return np.asarray(position / self.spacing)
        chord = 2.0 * np.sin(np.radians(self.angle) / 2.0)
        return np.hstack([position / self.spacing, heading / chord])


@dataclass(frozen=True, eq=False)
class Samples:
    """Tracks read at even distances: position and heading [n, d], time [n], and the track and the recording
    of each, track and owner [n], counted from 0."""

    position: FloatArray
    heading: FloatArray
    time: FloatArray
    track: IntArray
    owner: IntArray

    @cached_property
    def goes_on(self) -> BoolArray:
        """[n − 1] whether a sample and the next are of one track."""
        return np.asarray(self.track[1:] == self.track[:-1])


def tracks_of(episodes: Episodes) -> list[Track]:
    """The recordings that episodes were cut from, put together again, parted where they jump."""
    seconds = episodes.frame.step_seconds or 1.0
    ways: list[tuple[FloatArray, int]] = []
    for way, recording in zip(episodes.xy.astype(np.float64), episodes.owner.tolist(), strict=True):
        last = ways[-1][0] if ways and ways[-1][1] == recording else way[:0]
        rows = np.flatnonzero((last == way[0]).all(axis=1))
        again = [row for row in rows.tolist() if np.array_equal(last[row:], way[: len(last) - row])]
        if again:
            ways[-1] = np.concatenate([last[: again[0]], way]), recording
        else:
            ways.append((way, recording))
    found = []
    for way, recording in ways:
        is_jump = np.linalg.norm(np.diff(way, axis=0), axis=1) > episodes.jump
        bounds = [0, *(np.flatnonzero(is_jump) + 1).tolist(), len(way)]
        parts = (way[first:last] for first, last in pairwise(bounds))
        found += [Track(part, seconds * np.arange(len(part), dtype=np.float64), recording) for part in parts]
    return found


def samples_of(tracks: Sequence[Track], step: float, memory: float) -> Samples:
    """Tracks read every `step` units, with headings over the `memory` units before; what never moves is left
    out."""
    moving = [track for track in tracks if np.ptp(track.position, axis=0).any()]
    if not moving:
        raise BadDataset("no recording moves, so there are no ways to plan over")
    parts = [_evenly(track, step) for track in moving]
    number = np.repeat(np.arange(len(parts)), [len(time) for _, time in parts])
    owner = np.unique([track.recording for track in moving], return_inverse=True)[1][number]
    position, time = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, row = np.searchsorted(number, number), np.arange(len(number))
    before = np.maximum(row - max(1, round(memory / step)), first)
    # A recording begins in the heading of its first move.
    before, after = np.where(row == first, row, before), np.where(row == first, row + 1, row)
    return Samples(position, _units(position[after] - position[before]), time, number, owner)


def find_space(tracks: Sequence[Track], params: StateParams, both_ways: bool | None = None) -> StateSpace:
    """The state space of recordings; both_ways: whether any way may be taken back, found where not given."""
    tracks = tracks[:: max(1, sum(len(track.time) for track in tracks) // params.most_rows)]
    hops = np.concatenate([np.linalg.norm(np.diff(track.position, axis=0), axis=1) for track in tracks])
    if not hops.any():
        raise BadDataset("no recording moves, so there are no ways to plan over")
    usual = float(np.median(hops[hops > 0]))
    samples, width = _across(tracks, usual, params)
    names = tuple("xyz"[: samples.position.shape[1]])
    if both_ways is None:
        both_ways = _share_both_ways(samples, width, params) >= params.both_ways
    if both_ways:
        step = float(np.quantile(hops, params.full_step))
        if width >= step:
            return StateSpace(names, min(width, params.open_steps * step), None, True, width)
    width = max(width, params.corner * usual)
    if both_ways:
        return StateSpace(names, width, None, width=width)
    return StateSpace(names + tuple(f"heading_{name}" for name in names), width, params.angle, width=width)


def _across(tracks: Sequence[Track], reach: float, params: StateParams) -> tuple[Samples, float]:
    """Recordings read finely around some places, and the units across a way within which they lie: ever wider
    windows are looked at, from `reach` on, until one is wider than a way."""
    everything = np.concatenate([track.position for track in tracks])
    extent = float(np.linalg.norm(np.ptp(everything, axis=0)))
    along = np.cumsum(
        np.concatenate([np.diff(lengths_along(track.position), prepend=0.0) for track in tracks])
    )
    probes = everything[np.searchsorted(along, np.linspace(along[0], along[-1], params.num_probes))]
    while True:
        samples = samples_of(_near(tracks, probes, 2.0 * reach), reach / params.per_window, reach / 4)
        width = _width(samples, probes, reach, params)
        if width < 0.5 * reach or reach > extent:
            return samples, width
        reach *= 2.0


def _near(tracks: Sequence[Track], places: FloatArray, reach: float) -> list[Track]:
    """The parts of tracks that pass within reach of places [n, d], and one row more at both ends."""
    tree, found = cKDTree(places), []
    for track in tracks:
        hops = np.linalg.norm(np.diff(track.position, axis=0), axis=1)
        gap, _ = tree.query(track.position)
        is_near = np.minimum(gap[1:], gap[:-1]) <= reach + hops
        bounds = np.flatnonzero(np.diff(is_near, prepend=False, append=False)).reshape(-1, 2).tolist()
        found += [
            Track(track.position[first : last + 1], track.time[first : last + 1], track.recording)
            for first, last in bounds
        ]
    return found


def _width(samples: Samples, places: FloatArray, reach: float, params: StateParams) -> float:
    """Units across a way within which recordings lie around some places [n, d], up to `reach`: where their
    number per unit beside each other has dropped."""
    tree, beside = cKDTree(samples.position), 0.5 * reach / params.per_window
    probes = tree.query(places)[1]
    least = np.cos(np.radians(params.alike))
    aside: list[FloatArray] = []
    pairs: list[IntArray] = []
    for row, near in zip(probes, tree.query_ball_point(samples.position[probes], reach), strict=True):
        rows = np.array(near)[samples.owner[near] != samples.owner[row]]
        move, ahead = samples.position[rows] - samples.position[row], samples.heading[row]
        along = move @ ahead
        is_beside = (np.abs(along) <= beside) & (np.abs(samples.heading[rows] @ ahead) >= least)
        others = samples.owner[rows[is_beside]]
        aside.append(np.linalg.norm(move - along[:, None] * ahead, axis=1)[is_beside])
        pairs.append(np.sort(np.stack([others, np.full_like(others, samples.owner[row])], axis=1), axis=1))
    # Two recordings that go side by side for long are one observation, however often they are looked at.
    pair, often = np.unique(np.concatenate(pairs), axis=0, return_inverse=True, return_counts=True)[1:]
    order = np.argsort(np.concatenate(aside), kind="stable")
    found = np.concatenate(aside)[order]
    count = np.cumsum(1.0 / often[pair.ravel()[order]])
    is_steady = count >= params.least_pairs
    if not is_steady.any():
        return reach
    rate = count / np.maximum(found, beside / params.per_window)
    last = np.flatnonzero(is_steady & (rate >= params.drop * rate[is_steady].max()))[-1]
    return float(found[last])


def _share_both_ways(samples: Samples, spacing: float, params: StateParams) -> float:
    """Of the places along ways which several recordings pass, the share that shows both directions, of what
    it would be if each recording had either as likely."""
    cells = np.unique(np.floor(samples.position / spacing).astype(np.int64), axis=0, return_inverse=True)[1]
    axis = samples.heading[np.unique(cells, return_index=True)[1]][cells]
    along = (samples.heading * axis).sum(axis=1)
    is_along = np.abs(along) >= np.cos(np.radians(params.alike))
    keys = np.unique(np.stack([cells, samples.owner, along > 0])[:, is_along], axis=1)
    ahead, back = (np.bincount(keys[0][keys[2] == k], minlength=cells.max() + 1) for k in (1, 0))
    count = ahead + back
    chance = 1.0 - 0.5 ** (np.maximum(count, 1) - 1)
    is_shown = np.minimum(ahead, back) > params.stray * count
    return float(is_shown.sum() / max(1e-9, chance.sum()))


def _evenly(track: Track, step: float) -> tuple[FloatArray, FloatArray]:
    along = lengths_along(track.position)
    ticks = np.linspace(0.0, along[-1], max(2, round(along[-1] / step) + 1))
    position = np.stack([np.interp(ticks, along, column) for column in track.position.T], axis=1)
    return position, np.interp(ticks, along, track.time)


def _units(moves: FloatArray) -> FloatArray:
    return np.asarray(moves / (np.linalg.norm(moves, axis=-1, keepdims=True) + 1e-9))


@dataclass(frozen=True)
class CoverParams:
    """How places are laid, in scales of the state space.

    grain: of the small groups of states that are moved together; blur: of the states that move a group to
    the middle of its way, as a Gaussian's deviation, cut at `cut`; num_moves: how often they do.
    """

    grain: float = 0.5
    blur: float = 0.7
    cut: float = 2.0
    num_moves: int = 5

    def __post_init__(self) -> None:
        require_positive(self, "grain", "blur", "cut")


@dataclass(frozen=True, eq=False)
class Cover:
    """position, heading: [n, d] of the places; place: [samples] that of each recorded state."""

    position: FloatArray
    heading: FloatArray
    place: IntArray


def cover(samples: Samples, space: StateSpace, params: CoverParams) -> Cover:
    """Places no nearer to each other than the scale of the space, which cover all samples.

    Groups of states move aside, never along their heading, into the middle of those like them; then the
    busiest become places, so that a way recorded with noise is one row of places and not many.
    """
    cells = np.floor(space.embedded(samples.position, samples.heading) / params.grain).astype(np.int64)
    cells -= cells.min(axis=0)
    key = np.ravel_multi_index(tuple(cells.T), tuple(cells.max(axis=0) + 1))
    group = np.unique(key, return_inverse=True)[1]
    count = np.bincount(group).astype(np.float64)
    position = means(samples.position, group, np.ones(len(group)))
    heading = _units(means(samples.heading, group, np.ones(len(group))))
    if space.angle is not None:
        position = _moved_aside(position, heading, count, space, params)
    states = space.embedded(position, heading)
    chosen = apart(states, np.argsort(-count, kind="stable"))
    place = cKDTree(states[chosen]).query(states)[1]
    return Cover(means(position, place, count), _units(means(heading, place, count)), place[group])


def _moved_aside(
    position: FloatArray, heading: FloatArray, count: FloatArray, space: StateSpace, params: CoverParams
) -> FloatArray:
    """[n, d] positions of groups, moved into the middle of those like them, each weighed by its count."""
    fixed, still = cKDTree(space.embedded(position, heading)), position
    for _ in range(params.num_moves):
        moving = cKDTree(space.embedded(position, heading))
        near = moving.sparse_distance_matrix(fixed, params.cut, output_type="coo_matrix")
        weight = count[near.col] * np.exp(-0.5 * (near.data / params.blur) ** 2)
        graph = csr_matrix((weight, (near.row, near.col)), shape=(len(count),) * 2)
        move = graph @ still / np.asarray(graph.sum(axis=1)) - position
        position = position + move - (move * heading).sum(axis=1, keepdims=True) * heading
    return position


def apart(states: FloatArray, order: IntArray) -> IntArray:
    """Rows of states [n, k], taken in an order, no two within 1 of each other and one within 1 of each."""
    tree, is_open, chosen = cKDTree(states), np.ones(len(states), dtype=np.bool_), []
    for row in order.tolist():
        if is_open[row]:
            chosen.append(row)
            is_open[tree.query_ball_point(states[row], 1.0)] = False
    return np.array(chosen, dtype=np.int64)


def means(values: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
    """[groups, d] weighted means of values [n, d]."""
    total = np.bincount(group, weight)[:, None]
    return np.stack([np.bincount(group, weight * column) for column in values.T], axis=1) / total
