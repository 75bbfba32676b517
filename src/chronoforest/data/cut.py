"""Recordings made equal: parted where what lay between is unknown, and cut into windows of one length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronoforest.data.frames import plainly
from chronoforest.data.tracks import Finding, Tracks, split
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Cutting:
    """How recordings are cut.

    shortest, longest: rows of a window: the denoiser needs ten frames after the first, and no preset uses
    more than 200.
    filled_share, kept_share: of the rows lie in recordings that fill a window, and that fill half of one.
    much_lost: per cent of all rows in recordings that are too short, about which something should be done.
    few_recordings: with fewer a whole one would be too much to hold out.
    short_hole, long_hole: steps, a hole up to the first is filled, one beyond the second parts a recording.
    near, straight: usual moves across a hole that is filled: any way, and where the course before and after
    points across; same_course: cosine of the angle between them at most, about 45 degrees.
    most_across: moves from one end of the world to the other; recordings with more are thinned, and none get
    as many; most_parts: rows to make of one, and moves of a recording that presets make segments of.
    """

    shortest: int = 11
    longest: int = 201
    filled_share: float = 0.75
    kept_share: float = 0.9
    much_lost: float = 20.0
    few_recordings: int = 5
    short_hole: float = 3.0
    long_hole: float = 40.0
    near: float = 3.0
    straight: float = 10.0
    same_course: float = 0.7
    most_across: int = 1500
    most_parts: int = 40


def split_at_holes(tracks: Tracks, period: float, gap: float | None, unit: str) -> tuple[Tracks, Finding]:
    """Part recordings where rows are missing for longer than a gap or, without one, where a straight line at
    the recorded speeds is not plausible; period: seconds from row to row; unit: of times."""
    shortest = gap or Cutting.short_hole * period
    is_hole = tracks.took > shortest * (1 + 1e-6)
    what = f"longer than {plainly(shortest)} {unit}"
    if gap is not None:
        return split(tracks, is_hole, "gaps", what)
    if is_hole.any():
        what = f"of {is_hole.sum()} holes {what} are too long, too fast or too far to fill"
    return split(tracks, is_hole & ~_is_plausible(tracks, is_hole, period), "gaps", what)


def windows_of(tracks: Tracks, length: int) -> tuple[FloatArray, list[str], Finding]:
    """Windows [E, length, columns] and the recording each comes from.

    Windows are spread evenly over every part. One that fills half a window or more waits at its end for the
    rest of it, as bodies that have arrived do; a shorter one is left out.
    """
    least = max(Cutting.shortest, (length + 1) // 2)
    is_kept = tracks.lengths >= least
    if not is_kept.any():
        raise BadDataset(
            f"{tracks.names[0]}: no uninterrupted recording has {least} rows, the longest has "
            f"{tracks.lengths.max()}; take smaller steps, allow longer gaps, or ask for shorter episodes"
        )
    windows, names = [], []
    for track in (track for track, keep in zip(tracks, is_kept, strict=True) if keep):
        rows = np.pad(track.values, ((0, max(0, length - len(track.values))), (0, 0)), mode="edge")
        firsts = np.linspace(0, len(rows) - length, int(np.ceil((len(rows) - 1) / (length - 1))))
        windows += [rows[first : first + length] for first in np.round(firsts).astype(int)]
        names += [str(track.names[0])] * len(firsts)
    share = 100 * float(tracks.lengths[~is_kept].sum() / tracks.lengths.sum())
    num_padded = (tracks.lengths[is_kept] < length).sum()
    num_left_out = f"{(~is_kept).sum()} shorter than {least}, {share:.1f} % of all rows"
    found = f"{num_padded} parts shorter than {length} rows; {num_left_out}"
    done = f"the former wait at their end, the latter left out; {len(windows)} episodes of {length} rows"
    if share > Cutting.much_lost:
        done += "; a smaller --step keeps them, with rows between theirs"
    if len(set(names)) < Cutting.few_recordings:  # each window is a recording, or too many were held out
        names = [f"{name} {k}" for k, name in enumerate(names)]
    return np.stack(windows), names, Finding("episodes", found, done)


def fitting_length(tracks: Tracks) -> int:
    """Rows of a window: three quarters of all rows lie in recordings that fill it, nine tenths in such that
    fill half of it; within bounds. A single recording is cut into four, so that some can be held out."""
    lengths = np.sort(tracks.lengths)[::-1]
    shares = np.cumsum(lengths) / lengths.sum()
    wanted = np.searchsorted(shares, np.array([Cutting.kept_share, Cutting.filled_share]) - 1e-9)
    kept, filled = lengths[wanted].tolist()
    length = min(2 * kept, filled) if len(lengths) > 1 else -(-filled // 4)
    return int(np.clip(length, Cutting.shortest, Cutting.longest))


def _is_plausible(tracks: Tracks, is_hole: BoolArray, period: float) -> BoolArray:
    """[N − 1] whether a body may have gone straight on to the next row, as fast and far as bodies go."""
    is_whole = tracks.is_step & ~is_hole
    fast, move = np.inf, 0.0
    if is_whole.any():
        fast = float(np.quantile(tracks.speeds[is_whole], 0.99))
        move = float(np.quantile(tracks.hops[is_whole], 0.95))
    is_possible = (tracks.took <= Cutting.long_hole * period) & (tracks.speeds <= fast)
    course = tracks.moves / np.maximum(tracks.hops, 1e-12)[:, None]
    agrees = (course[1:] * course[:-1]).sum(axis=1) >= Cutting.same_course
    keeps_course = np.pad(agrees, (1, 0)) & np.pad(agrees, (0, 1))
    most = np.where(keeps_course, Cutting.straight, Cutting.near) * move
    return np.asarray(is_possible & (tracks.hops <= most))
