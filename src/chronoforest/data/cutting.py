"""Recordings made equal: parted where nobody knows what lay between, and cut into windows of one length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronoforest.data.cleaning import Finding, Track, Tracks, split
from chronoforest.data.frames import plainly
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray

SHORTEST, LONGEST = 11, 201
"""Rows of a window: the denoiser needs ten frames after the first, and no preset uses more than 200."""

FILLED_SHARE, KEPT_SHARE = 0.75, 0.9
"""Of the rows lie in recordings that fill a window, and that fill half of one or more."""

MUCH_LOST = 20.0
"""Per cent of all rows; where short recordings hold more, something should be done about it."""

FEW_RECORDINGS = 5
"""With fewer of them a whole one would be too much to hold out."""

SHORT_HOLE, LONG_HOLE = 3.0, 40.0
"""Steps: a hole up to the first is filled, one beyond the second parts a recording."""

NEAR, STRAIGHT = 3.0, 10.0
"""Usual moves across a hole that is filled: any way, and where the course before and after points across."""

SAME_COURSE = 0.7
"""Cosine of the angle between a course and the line across a hole, about 45 degrees."""


@dataclass(frozen=True)
class Pace:
    """How recordings move: period: seconds from row to row; fast: units per second that hardly any exceeds;
    move: units from row to row that few exceed."""

    period: float
    fast: float
    move: float

    @classmethod
    def of(cls, tracks: Tracks, period: float) -> Pace:
        """Measured where no row is missing."""
        is_whole = [np.diff(track.time) <= SHORT_HOLE * period * (1 + 1e-6) for track in tracks]
        speeds = np.concatenate([t.speeds[whole] for t, whole in zip(tracks, is_whole, strict=True)])
        moves = np.concatenate([t.hops[whole] for t, whole in zip(tracks, is_whole, strict=True)])
        if len(moves) == 0:
            return cls(period, np.inf, 0.0)
        return cls(period, float(np.quantile(speeds, 0.99)), float(np.quantile(moves, 0.95)))


def split_at_gaps(tracks: Tracks, gap: float, unit: str) -> tuple[Tracks, Finding]:
    """Part recordings where rows are missing for longer than `gap`; unit: of times."""
    cuts = [np.diff(track.time) > gap * (1 + 1e-6) for track in tracks]
    return split(tracks, cuts, "gaps", f"longer than {plainly(gap)} {unit}")


def split_at_holes(tracks: Tracks, period: float, unit: str) -> tuple[Tracks, Finding]:
    """Part recordings where rows are missing and a straight line at the recorded speeds is not plausible.

    unit: of times.
    """
    pace = Pace.of(tracks, period)
    cuts = [_holes(track, pace) & ~_is_plausible(track, pace) for track in tracks]
    num_holes = sum(int(_holes(track, pace).sum()) for track in tracks)
    longer = f"longer than {plainly(SHORT_HOLE * period)} {unit}"
    too_much = f"of {num_holes} holes {longer} are too long, too fast or too far to fill"
    what = too_much if num_holes else longer
    return split(tracks, cuts, "gaps", what)


def cut(tracks: Tracks, length: int) -> tuple[FloatArray, list[str], Finding]:
    """Windows [E, length, columns] and the recording each comes from.

    Windows are spread evenly over every part. One that fills half a window or more waits at its end for the
    rest of it, as bodies that have arrived do; a shorter one is left out.
    """
    least = _least(length)
    kept = [track for track in tracks if len(track) >= least]
    if not kept:
        longest = max(map(len, tracks))
        raise BadDataset(
            f"{tracks[0].recording}: no uninterrupted recording has {least} rows, the longest has "
            f"{longest}; take smaller steps, allow longer gaps, or ask for shorter episodes"
        )
    windows = [(window, track.recording) for track in kept for window in _windows(track, length)]
    num_lost = sum(len(track) for track in tracks if len(track) < least)
    share = 100 * num_lost / sum(map(len, tracks))
    num_padded = sum(len(track) < length for track in kept)
    num_left_out = f"{len(tracks) - len(kept)} shorter than {least}, {share:.1f} % of all rows"
    found = f"{num_padded} parts shorter than {length} rows; {num_left_out}"
    done = f"the former wait at their end, the latter left out; {len(windows)} episodes of {length} rows"
    if share > MUCH_LOST:
        done += "; a smaller --step keeps them, with rows between theirs"
    names = _told_apart([name for _, name in windows])
    return np.stack([window for window, _ in windows]), names, Finding("episodes", found, done)


def fitting_length(tracks: Tracks) -> int:
    """Rows of a window: three quarters of all rows lie in recordings that fill it, nine tenths in such that
    fill half of it; within bounds. A single recording is cut into four, so that some can be held out."""
    lengths = np.sort([len(track) for track in tracks])[::-1]
    shares = np.cumsum(lengths) / lengths.sum()
    kept, filled = (
        int(lengths[np.searchsorted(shares, share - 1e-9)]) for share in (KEPT_SHARE, FILLED_SHARE)
    )
    wanted = min(2 * kept, filled) if len(lengths) > 1 else -(-filled // 4)
    return int(np.clip(wanted, SHORTEST, LONGEST))


def _least(length: int) -> int:
    """Rows that a recording needs for a window of its own."""
    return max(SHORTEST, (length + 1) // 2)


def _windows(track: Track, length: int) -> list[FloatArray]:
    if len(track) < length:
        return [np.pad(track.values, ((0, length - len(track)), (0, 0)), mode="edge")]
    count = int(np.ceil((len(track) - 1) / (length - 1)))
    firsts = np.round(np.linspace(0, len(track) - length, count)).astype(int)
    return [track.values[first : first + length] for first in firsts]


def _told_apart(names: list[str]) -> list[str]:
    """Recordings of the windows; where they come from a few, each is its own, or too many were held out."""
    return [f"{name} {k}" for k, name in enumerate(names)] if len(set(names)) < FEW_RECORDINGS else names


def _holes(track: Track, pace: Pace) -> BoolArray:
    return np.asarray(np.diff(track.time) > SHORT_HOLE * pace.period * (1 + 1e-6))


def _is_plausible(track: Track, pace: Pace) -> BoolArray:
    """[n − 1] whether a body may have gone straight from a row to the next."""
    took, moved = np.diff(track.time), track.hops
    is_possible = (took <= LONG_HOLE * pace.period) & (track.speeds <= pace.fast)
    is_near = moved <= NEAR * pace.move
    return np.asarray(is_possible & (is_near | (_keeps_course(track) & (moved <= STRAIGHT * pace.move))))


def _keeps_course(track: Track) -> BoolArray:
    """[n − 1] whether the moves before and after point the same way as the one between."""
    course = track.moves / np.maximum(track.hops, 1e-12)[:, None]
    agrees = (course[1:] * course[:-1]).sum(axis=1) >= SAME_COURSE
    return np.concatenate([[False], agrees]) & np.concatenate([agrees, [False]])
