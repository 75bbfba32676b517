"""Sparse recordings: rows between theirs, so that ways are shown and short ones are long enough to learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from chronoforest.data import paces
from chronoforest.data.cleaning import Finding, Tracks, resampled
from chronoforest.data.corners import Spacing
from chronoforest.data.cutting import FEW_RECORDINGS, KEPT_SHARE, MUCH_LOST, SHORTEST
from chronoforest.data.frames import plainly
from chronoforest.data.watching import Watch, unwatched
from chronoforest.types import FloatArray

if TYPE_CHECKING:
    from chronoforest.data.between import Followed

Between = Literal["followed", "straight"]

MOST_ACROSS = 1500
"""Moves from one end of the world to the other; recordings with more are thinned, and none get as many."""

THINNED = 1.5
"""Of the median, from which rows were to be farther apart than they are: by two of it or more."""

FINE = 0.15
"""Of the usual move, which lines between rows may cut corners by where rows are put between others."""

MOST_PARTS = 40
"""Rows for one."""

NUM_TRIED = 300
"""Recordings that show how many rows to make of one."""

WANTED_MOVES = 40
"""Of a recording: what presets make segments of."""


@dataclass(frozen=True)
class Joined:
    """Recordings whose ways between rows are known as well as they can be; period: seconds between the rows
    to make of them; told: what was added between rows, "" where nothing was."""

    tracks: Tracks
    period: float
    finding: Finding
    told: str = ""


def joined(
    tracks: Tracks,
    step: float | None,
    period: float,
    between: Between,
    unit: str,
    watch: Watch = unwatched,
) -> Joined:
    """Recordings with the ways between their rows, and how many rows to make of one.

    step: told, in which case it stays; period: what rows were to be apart; unit: of lengths.
    """
    spacing = Spacing.of(track.values[:, :2] for track in tracks)
    is_thinned = period > THINNED * paces.median_period(tracks)
    is_asked = spacing.is_coarse and between == "followed" and not is_thinned
    led = _followed(tracks, spacing.move, watch) if is_asked else None
    num_parts = 1
    if step is None and not is_thinned:
        num_parts = _num_parts(tracks, period, led.tracks if led is not None else None)
    done = [] if led is None else [_gain(led, unit)]
    if num_parts > 1:
        done.append(f"{num_parts} rows made of each{'' if led is not None else ', on straight lines'}")
    found = spacing.summary(unit) if led is None else spacing.told(unit)
    told = "; ".join([found, *done]) if done else ""
    kept = "kept" if spacing.is_coarse else ""
    return Joined(
        led.tracks if led is not None else tracks,
        period / num_parts,
        Finding("rows", found, "; ".join(done) or kept),
        told,
    )


def _followed(tracks: Tracks, move: float, watch: Watch) -> Followed | None:
    """Tracks led over the rows of others; SciPy is imported only where that is tried."""
    from chronoforest.data.between import followed

    return followed(tracks, move, watch)


def _gain(led: Followed, unit: str) -> str:
    return (
        f"led over the rows of others: held-out ones lie {plainly(led.missed)} {unit} off on average, "
        f"{plainly(led.missed_by_lines)} {unit} with straight lines"
    )


def _num_parts(tracks: Tracks, period: float, led: Tracks | None) -> int:
    """Rows to make of one: as many as show the ways of others that recordings were led over, and as make
    recordings long enough where they are not; within bounds."""
    lengths = np.array([(track.time[-1] - track.time[0]) / period + 1 for track in tracks])
    lost = 100 * lengths[lengths < SHORTEST].sum() / lengths.sum()
    is_short = lost > MUCH_LOST and len(tracks) >= FEW_RECORDINGS
    for_length = _parts_for_length(lengths) if led is not None or is_short else 1
    for_ways = _parts_for_ways(led, period) if led is not None else 1
    most = min(MOST_PARTS, int(MOST_ACROSS / max(1.0, paces.moves_across(tracks))))
    return max(1, min(most, max(for_length, for_ways)))


def _parts_for_length(lengths: FloatArray) -> int:
    """So that nine tenths of all rows [n recordings] lie in recordings of `WANTED_MOVES`."""
    order = np.sort(lengths)[::-1]
    kept = order[np.searchsorted(np.cumsum(order) / order.sum(), KEPT_SHARE - 1e-9)]
    return int(np.ceil(WANTED_MOVES / max(1.0, kept - 1)))


def _parts_for_ways(tracks: Tracks, period: float) -> int:
    """So that lines between rows hardly cut corners any more, as some of the tracks show."""
    tracks = tracks[:: -(-len(tracks) // NUM_TRIED)]
    for num_parts in range(1, MOST_PARTS):
        rows = [resampled(track, period / num_parts).values[:, :2] for track in tracks]
        spacing = Spacing.of(rows)
        if spacing.cut <= FINE * spacing.move:
            return num_parts
    return MOST_PARTS
