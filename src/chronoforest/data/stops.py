"""Long stops: cut to short ones, so that what is learned is how bodies move and not where they wait."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chronoforest.data.cleaning import Finding, Track, Tracks
from chronoforest.data.paces import MOVING, median_move
from chronoforest.types import BoolArray, FloatArray

LONG_STOP, SHORT_STOP = 60, 20
"""Rows: a stop longer than the first is cut to the second."""

STOP_MOVES = 3.0
"""Usual moves that a body that stands may seem to have gone meanwhile: receivers wander, anchored ships
swing."""

CALM, TO_AND_FRO = 0.5, -0.2
"""Usual moves that rows of a stop are apart at most on average, or the cosine between their moves: noise runs
to and fro, and who drives round a few blocks does not."""

Stops = list[tuple[int, int]]


def without_long_stops(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out the middle of long stops; the clock stands still meanwhile."""
    usual = median_move(tracks)
    stops = [_stops(track, _radius(track, usual)) if len(track) > LONG_STOP else [] for track in tracks]
    count = sum(map(len, stops))
    longer = f"longer than {LONG_STOP} rows"
    if count == 0:
        return tracks, Finding("stops", f"none {longer}")
    shorter = [_cut(track, found) for track, found in zip(tracks, stops, strict=True)]
    share = 1 - sum(map(len, shorter)) / sum(map(len, tracks))
    done = f"cut to {SHORT_STOP} rows each, {100 * share:.0f} % of all rows left out"
    return shorter, Finding("stops", f"{count} {longer}", done)


def _radius(track: Track, usual: float) -> float:
    """How far a track may wander where it stands: by its own moves, so that walkers among cars do not stand,
    but not by those of a track that never moves.

    usual: units from row to row of all tracks.
    """
    return STOP_MOVES * min(usual, max(median_move([track]), MOVING * usual))


def _stops(track: Track, radius: float) -> Stops:
    """The first row of every long stop and the one after its last: where more than LONG_STOP rows lie within
    the radius of the first of them."""
    places = track.values[:, :2]
    quarters = np.linspace(0, LONG_STOP, 5).astype(int)[1:]
    stays = np.all([_apart(places, later, len(track) - LONG_STOP) < radius for later in quarters], axis=0)
    stays &= _stands(track, radius / STOP_MOVES)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stays.astype(int), [0]]))).reshape(-1, 2)
    stops: Stops = []
    for first, end in edges.tolist():
        last = end + LONG_STOP
        if stops and first < stops[-1][1]:
            stops[-1] = stops[-1][0], last
        else:
            stops.append((first, last))
    return stops


def _stands(track: Track, usual: float) -> BoolArray:
    """[n − LONG_STOP] whether moves over the next rows are small or run to and fro; usual: of a move."""
    moves = track.moves
    lengths, squares = _sums(track.hops, LONG_STOP), _sums(track.hops**2, LONG_STOP)
    turns = _sums((moves[1:] * moves[:-1]).sum(axis=1), LONG_STOP - 1)
    return np.asarray((lengths < CALM * LONG_STOP * usual) | (turns < TO_AND_FRO * squares))


def _sums(values: FloatArray, count: int) -> FloatArray:
    """[n − count + 1] sums of so many values in a row."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[count:] - total[:-count])


def _apart(places: FloatArray, later: int, count: int) -> FloatArray:
    """[count] from places to those `later` rows later."""
    return np.asarray(np.linalg.norm(places[later : later + count] - places[:count], axis=1))


def _cut(track: Track, stops: Stops) -> Track:
    """A track without the middle of its stops; what follows comes as much earlier."""
    keep, time = np.ones(len(track), dtype=bool), track.time.copy()
    for first, last in stops:
        before, after = first + SHORT_STOP // 2, last - SHORT_STOP // 2
        keep[before:after] = False
        time[after:] -= track.time[after] - track.time[before]
    return replace(track, time=time).rows(keep)
