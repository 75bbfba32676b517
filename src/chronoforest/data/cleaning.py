"""Checks and repairs of raw recordings: each step takes tracks and returns better ones and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from chronoforest.data.frames import plainly
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray

MOST_ROWS = 50_000_000

NEARBY = 0.1
"""Share of a recording's extent that the next row lies within."""


@dataclass(frozen=True)
class Finding:
    """One row of the report: what was looked for, what was found, what was done about it."""

    check: str
    found: str
    done: str = ""


@dataclass(frozen=True)
class Track:
    """An uninterrupted part of a recording: time [n] seconds; values [n, columns]."""

    recording: str
    time: FloatArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.time)

    @property
    def moves(self) -> FloatArray:
        """[n − 1, 2] from each place to the next."""
        return np.diff(self.values[:, :2], axis=0)

    @cached_property
    def hops(self) -> FloatArray:
        """[n − 1] units from each place to the next."""
        return np.asarray(np.linalg.norm(self.moves, axis=1))

    @cached_property
    def speeds(self) -> FloatArray:
        """[n − 1] units per second from each row to the next."""
        with np.errstate(over="ignore"):  # a damaged time may lie next to another; the speed is then a jump
            return np.asarray(self.hops / np.diff(self.time))

    def rows(self, keep: Any) -> Track:
        """The rows that `keep` (a mask, slice or index) chooses."""
        return Track(self.recording, self.time[keep], self.values[keep])

    def split(self, is_cut: BoolArray) -> list[Track]:
        """Parts between the rows k and k + 1 where `is_cut` [n − 1] holds."""
        ends = [0, *(np.flatnonzero(is_cut) + 1), len(self)]
        return [self.rows(slice(a, b)) for a, b in pairwise(ends)]


Tracks = list[Track]


def counted(tracks: Tracks, num_files: int) -> Finding:
    """How much there is."""
    lengths = [len(track) for track in tracks]
    return Finding(
        "recordings",
        f"{len(tracks)} of {min(lengths)} to {max(lengths)} rows, {sum(lengths)} rows in all",
        f"read from {num_files} {'file' if num_files == 1 else 'files'}",
    )


def without_holes(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out rows with an empty, NaN or infinite value."""
    sound = [np.isfinite(track.values).all(axis=1) & np.isfinite(track.time) for track in tracks]
    num_rows = sum(map(len, tracks))
    num_odd = num_rows - sum(map(np.count_nonzero, sound))
    if num_odd > num_rows / 2:
        raise BadDataset(
            f"{tracks[0].recording}: {num_odd} of {num_rows} rows have an empty, NaN or infinite value in a "
            "chosen column; choose other columns or fill them"
        )
    return kept(tracks, sound, "empty or NaN", "left out")


def in_order(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Sort every recording by time."""
    num_odd = sum(int((np.diff(track.time) < 0).any()) for track in tracks)
    ordered = [track.rows(np.argsort(track.time, kind="stable")) for track in tracks]
    found = f"{num_odd} recordings with time running back" if num_odd else "none"
    return ordered, Finding("wrong order", found, "sorted by time" if num_odd else "")


def with_fine_times(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Spread rows of one time evenly until the next, where most rows share theirs with others nearby: a clock
    of whole minutes. Rows are in the order in which they were recorded.

    Where most share theirs with others far away, these are several bodies, and refused.
    """
    num_near, num_far = (sum(counts) for counts in zip(*map(_num_shared, tracks), strict=True))
    num_rows = sum(map(len, tracks))
    if num_far > num_rows / 2:
        raise BadDataset(
            f"{tracks[0].recording}: {num_far} of {num_rows} rows have the time of the one before and lie "
            "far from it, as those of several bodies do; name the column that tells them apart with --episode"
        )
    if num_near <= num_rows / 2:
        return tracks, Finding("coarse clock", "no")
    found = f"{num_near} of {num_rows} rows have the time of the one before, elsewhere"
    return [_spread(track) for track in tracks], Finding("coarse clock", found, "spread evenly in between")


def _num_shared(track: Track) -> tuple[int, int]:
    """Rows with the time of the one before that lie near it, and such that lie far."""
    near = NEARBY * float(np.linalg.norm(np.ptp(track.values[:, :2], axis=0)))
    is_shared = (np.diff(track.time) == 0) & (track.hops > 0)
    return int((is_shared & (track.hops < near)).sum()), int((is_shared & (track.hops >= near)).sum())


def _spread(track: Track) -> Track:
    """Rows of one time, evenly until the next time, or as long as usual after the last."""
    times, firsts, counts = np.unique(track.time, return_index=True, return_counts=True)
    if len(times) == 1:
        return track
    lasts = np.minimum(np.diff(times, append=np.inf), np.median(np.diff(times)))
    within = (np.arange(len(track)) - np.repeat(firsts, counts)) / np.repeat(counts, counts)
    return replace(track, time=np.repeat(times, counts) + within * np.repeat(lasts, counts))


def without_duplicates(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Keep the first of rows with one time."""
    fresh = [np.diff(track.time, prepend=-np.inf) > 0 for track in tracks]
    return kept(tracks, fresh, "duplicates", "first kept")


def without_constants(tracks: Tracks, names: Sequence[str]) -> tuple[Tracks, set[str], Finding]:
    """Leave out columns that never change, also returns which; neither coordinate may be one of them."""
    span = np.ptp(np.concatenate([track.values for track in tracks]), axis=0)
    constant = [name for name, width in zip(names, span, strict=True) if width == 0]
    for name in names[:2]:
        if name in constant:
            raise BadDataset(
                f"{tracks[0].recording}: {name} never changes; planning needs two coordinates that do"
            )
    kept = [k for k, name in enumerate(names) if name not in constant]
    tracks = [replace(track, values=track.values[:, kept]) for track in tracks]
    found, done = (", ".join(constant), "left out") if constant else ("none", "")
    return tracks, set(constant), Finding("constant columns", found, done)


def axes(tracks: Tracks) -> Finding:
    """Axes whose moves differ by orders of magnitude were probably written in different units."""
    moves = np.abs(np.concatenate([track.moves for track in tracks]))
    x, y = (float(value) for value in np.quantile(moves, 0.95, axis=0))
    is_odd = max(x, y) > 50 * min(x, y)
    found = f"moves up to {plainly(x)} and {plainly(y)} a row"
    return Finding("axes", found, "kept: look at their units" if is_odd else "")


def resampled(track: Track, period: float) -> Track:
    """Rows `period` seconds apart, interpolated linearly."""
    steps = np.diff(track.time)
    if len(steps) == 0 or np.allclose(steps, period, rtol=1e-3):
        return track
    num_rows = (track.time[-1] - track.time[0]) / period + 1
    if num_rows > MOST_ROWS:
        raise BadDataset(f"{track.recording}: {num_rows:.3g} rows at a step of {period:g} s are too many")
    time = track.time[0] + period * np.arange(int(np.floor(num_rows + 1e-6)))
    values = np.stack([np.interp(time, track.time, column) for column in track.values.T], axis=1)
    return Track(track.recording, time, values)


def smoothed(track: Track, window: float) -> Track:
    """A centred moving average over `window` rows of the coordinates; shorter at the ends."""
    reach = int(window // 2)
    if reach == 0:
        return track
    total = np.cumsum(np.concatenate([np.zeros((1, 2)), track.values[:, :2]]), axis=0)
    row = np.arange(len(track))
    around = np.minimum(np.minimum(row, row[::-1]), reach)
    places = (total[row + around + 1] - total[row - around]) / (2 * around + 1)[:, None]
    return with_places(track, places)


def _longer_than_one(tracks: Tracks) -> Tracks:
    kept = [track for track in tracks if len(track) > 1]
    if not kept:
        raise BadDataset(
            f"{tracks[0].recording if tracks else 'import'}: no recording has two sound rows with different "
            "times; choose other episode and time columns"
        )
    return kept


def with_places(track: Track, places: FloatArray) -> Track:
    """The same track elsewhere."""
    return replace(track, values=np.concatenate([places, track.values[:, 2:]], axis=1))


def kept(tracks: Tracks, keep: Sequence[BoolArray], check: str, done: str) -> tuple[Tracks, Finding]:
    """Tracks with the rows that their masks [n] keep, and how many there were of the others."""
    count = sum(np.count_nonzero(~mask) for mask in keep)
    found = f"{count} {'row' if count == 1 else 'rows'}" if count else "none"
    kept = [track.rows(mask) for track, mask in zip(tracks, keep, strict=True)]
    return _longer_than_one(kept), Finding(check, found, done if count else "")


def split(tracks: Tracks, cuts: Sequence[BoolArray], check: str, what: str) -> tuple[Tracks, Finding]:
    """Parts of tracks between their cuts [n − 1], and how many cuts there were."""
    parts = [part for track, is_cut in zip(tracks, cuts, strict=True) for part in track.split(is_cut)]
    count = len(parts) - len(tracks)
    found = f"{count} {what}" if count else f"none {what}"
    return _longer_than_one(parts), Finding(check, found, "split there" if count else "")
