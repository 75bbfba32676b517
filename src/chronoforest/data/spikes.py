"""Rows and steps of raw recordings that are too fast to be motion: left out, or recordings parted there."""

from __future__ import annotations

import numpy as np

from chronoforest.data.cleaning import Finding, Track, Tracks, kept, split, with_places
from chronoforest.data.episodes import jump_bound
from chronoforest.data.frames import plainly
from chronoforest.types import BoolArray, FloatArray

SPIKES = (1, 2, 3)
"""Rows in succession that may lie far off and be left out."""

FAST, FAR_ASIDE = 0.95, 3.0
"""A row is also far off that was reached and left faster than this share of all moves, in opposite
directions, and lies so many times farther from the line between its neighbours than the same share of all
rows. Nothing that moves so fast turns round within a row."""

ROUND = -0.5
"""Cosine of the angle between two moves in opposite directions."""


def without_spikes(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out a few rows that lie far off while those before and after them lie together."""
    bound, turned = _speed_bound(tracks), _turned_back(tracks)
    sound = [
        ~np.any([is_back, *(_far_off(track, bound, count) for count in SPIKES)], axis=0)
        for track, is_back in zip(tracks, turned, strict=True)
    ]
    return kept(tracks, sound, "spikes", "left out")


def _far_off(track: Track, bound: float, count: int) -> BoolArray:
    """[n] whether a row is one of `count` that were reached and left too fast."""
    is_off = np.zeros(len(track), dtype=bool)
    if len(track) < count + 2:
        return is_off
    fast = track.speeds > bound
    took = track.time[count + 1 :] - track.time[: -count - 1]
    across = np.linalg.norm(track.values[count + 1 :, :2] - track.values[: -count - 1, :2], axis=1)
    firsts = np.flatnonzero(fast[:-count] & fast[count:] & (across <= bound * took)) + 1
    is_off[firsts[:, None] + np.arange(count)] = True
    return is_off


def _turned_back(tracks: Tracks) -> list[BoolArray]:
    """[n] of each track whether a row lies off to one side, reached and left too fast for that."""
    aside = [_aside(track) for track in tracks]
    far = FAR_ASIDE * float(np.quantile(np.concatenate(aside), FAST))
    fast = float(np.quantile(np.concatenate([_calmed(track).speeds for track in tracks]), FAST))
    found = []
    for track, offset in zip(tracks, aside, strict=True):
        before, after = track.moves[:-1], track.moves[1:]
        is_round = (before * after).sum(axis=1) < ROUND * track.hops[:-1] * track.hops[1:]
        is_fast = (track.speeds[:-1] > fast) & (track.speeds[1:] > fast)
        inner = is_round & is_fast & (offset[1:-1] > far)
        found.append(np.concatenate([[False], inner, [False]])[: len(track)])
    return found


def _aside(track: Track) -> FloatArray:
    """[n] units from each row to where its neighbours say it was at its time; 0 at the ends."""
    places, found = track.values[:, :2], np.zeros(len(track))
    share = ((track.time[1:-1] - track.time[:-2]) / (track.time[2:] - track.time[:-2]))[:, None]
    between = (1 - share) * places[:-2] + share * places[2:]
    found[1:-1] = np.linalg.norm(places[1:-1] - between, axis=1)
    return found


def split_at_jumps(tracks: Tracks, unit: str) -> tuple[Tracks, Finding]:
    """Part recordings where a step is implausibly fast; unit: of speeds."""
    bound = _speed_bound(tracks)
    cuts = [track.speeds > bound for track in tracks]
    return split(tracks, cuts, "jumps", f"faster than {plainly(bound)} {unit}")


def _speed_bound(tracks: Tracks) -> float:
    """Units per second beyond which a body did not move; rows that lie far off do not count, or a hundredth
    of them would hide all."""
    return jump_bound(np.concatenate([_calmed(track).speeds for track in tracks]))


def _calmed(track: Track) -> Track:
    """The same with the median of three rows for every place, which a single stray row does not move."""
    if len(track) < 3:
        return track
    places = track.values[:, :2]
    around = np.sort(np.stack([places[:-2], places[1:-1], places[2:]]), axis=0)
    return with_places(track, np.concatenate([places[:1], around[1], places[-1:]]))
