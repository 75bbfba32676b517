"""How recordings move: how fast, how often there is a row, and how far it is from one to the next."""

from __future__ import annotations

import numpy as np

from chronoforest.data.cleaning import Finding, Track, Tracks
from chronoforest.data.episodes import JUMP_FACTOR
from chronoforest.data.frames import plainly
from chronoforest.types import BoolArray, FloatArray

MOST_WAY = 0.75
"""Share of all ways; bodies that stand wander over some of the rest."""

LAGS, STRAIGHT = (1, 2, 3, 5, 8, 12, 20, 30), 0.9
"""Rows of a move that are tried, and the way across two of them by the way along them that is asked for."""

MOVING = 0.1
"""Share of the usual speed below which a body stands."""


def usual_speed(tracks: Tracks) -> float:
    """Units per second that most of the way was gone at or below, jumps left out; however long bodies stand
    and wander meanwhile does not matter."""
    steady = [_is_steady(track.speeds) for track in tracks]
    speeds, hops = (
        np.concatenate([getattr(track, name)[keep] for track, keep in zip(tracks, steady, strict=True)])
        for name in ("speeds", "hops")
    )
    if len(speeds) == 0:
        return 0.0
    order = np.argsort(speeds)
    gone = np.cumsum(hops[order])
    return float(speeds[order][np.searchsorted(gone, MOST_WAY * gone[-1])])


def median_period(tracks: Tracks) -> float:
    """Seconds from a row to the next, where bodies move: receivers may report less often while they stand."""
    steps = np.concatenate([np.diff(track.time) for track in tracks])
    return float(np.median(steps[_moving(tracks)]))


def median_move(tracks: Tracks) -> float:
    """Units from a row to the next, where bodies move."""
    hops = np.concatenate([track.hops for track in tracks])
    return float(np.median(hops[_moving(tracks)]))


def moves_across(tracks: Tracks) -> float:
    """Usual moves from one end of the world to the other."""
    places = np.concatenate([track.values[:, :2] for track in tracks])
    width = float(np.linalg.norm(np.diff(np.quantile(places, (0.01, 0.99), axis=0), axis=0)))
    move = median_move(tracks)
    return width / move if move > 0 else 0.0


def rows_to_see_a_move(tracks: Tracks) -> int:
    """Rows that it takes until moves are no longer lost in noise: two of them lead on and not to and fro; 1
    where no number of rows does."""
    return next((lag for lag in LAGS if _straightness(tracks, lag) >= STRAIGHT), 1)


def differing(tracks: Tracks, unit: str) -> Finding:
    """Recordings whose speeds differ by orders of magnitude were probably written in different units.

    unit: of speeds.
    """
    least = MOVING * usual_speed(tracks)
    paces = {track.recording: _pace(track, least) for track in tracks}
    moving = {name: pace for name, pace in paces.items() if pace > 0}
    if not moving:
        return Finding("speeds", "most steps stand still", "kept")
    low, middle, high = np.quantile(list(moving.values()), (0.05, 0.5, 0.95))
    odd = [name for name, pace in moving.items() if not middle / 20 < pace < middle * 20]
    most = f"{plainly(low)} to {plainly(high)} in nine of ten recordings"
    found = f"{plainly(middle)} {unit} in the median, {most}"
    if odd:
        found += f"; {len(odd)} differ more than twentyfold, for example {odd[0]}"
    return Finding("speeds", found, "kept: look at their units" if odd else "")


def standing(tracks: Tracks) -> Finding:
    """How often nothing moved."""
    share = 1.0 - float(_moving(tracks).mean())
    return Finding("standing still", f"{100 * share:.0f} % of the steps", "kept" if share else "")


def _is_steady(speeds: FloatArray) -> BoolArray:
    """[n] whether a step is no jump: the one before or after it is not much slower."""
    if len(speeds) < 2:
        return np.ones(len(speeds), dtype=bool)
    beside = np.maximum(np.append(speeds[1:], 0.0), np.append(0.0, speeds[:-1]))
    return np.asarray(speeds <= JUMP_FACTOR * beside)


def _straightness(tracks: Tracks, lag: int) -> float:
    """The way across two moves of `lag` rows each by the way along them, in the median; 0 where rows are too
    few."""
    pairs = [_pair(track.values[:, :2], lag) for track in tracks if len(track) > 2 * lag]
    if not pairs:
        return 0.0
    across, along = np.concatenate(pairs, axis=1)
    moving = along > MOVING * np.quantile(along, 0.9)
    return float(np.median(across[moving] / along[moving])) if moving.any() else 0.0


def _pair(places: FloatArray, lag: int) -> FloatArray:
    """[2, n − 2 lag] the ways across and along two moves of `lag` rows each, from every row on."""
    moves = places[lag:] - places[:-lag]
    lengths = np.linalg.norm(moves, axis=1)
    return np.stack([np.linalg.norm(moves[:-lag] + moves[lag:], axis=1), lengths[:-lag] + lengths[lag:]])


def _moving(tracks: Tracks) -> BoolArray:
    """Of all steps, one recording after the other, whether they move; all where none does."""
    speeds = np.concatenate([track.speeds for track in tracks])
    moving = speeds > MOVING * usual_speed(tracks)
    return moving if moving.any() else np.ones(len(speeds), dtype=bool)


def _pace(track: Track, least: float) -> float:
    """The median speed where a track moves; where it never does, that of all its steps."""
    speeds = track.speeds
    moving = speeds[speeds > least]
    return float(np.median(moving if len(moving) >= len(speeds) / 10 else speeds))
