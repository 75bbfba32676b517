"""Checks and repairs of raw recordings: each step takes tracks and returns better ones and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.data.frames import plainly
from chronoforest.data.tracks import (
    Finding,
    Tracks,
    are_moves,
    jump_bound,
    kept,
    median_move,
    moving_steps,
    split,
    usual_speed,
)
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray


def without_holes(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out rows with an empty, NaN or infinite value."""
    is_sound = np.isfinite(tracks.values).all(axis=1) & np.isfinite(tracks.time)
    num_rows, num_odd = len(is_sound), int((~is_sound).sum())
    if num_odd > num_rows / 2:
        raise BadDataset(
            f"{tracks.names[0]}: {num_odd} of {num_rows} rows have an empty, NaN or infinite value in a "
            "chosen column; choose other columns or fill them"
        )
    return kept(tracks, is_sound, "empty or NaN", "left out")


def in_order(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Sort every recording by time."""
    parts = tracks.part[1:]
    backward = np.unique(parts[tracks.took < 0])
    if len(backward) == 0:
        return tracks, Finding("wrong order", "none")
    whole = np.setdiff1d(backward, parts[tracks.took > 0])
    order = np.lexsort((tracks.time, tracks.part))
    done = "sorted by time"
    if len(whole):
        done += f"; {len(whole)} of them ran back throughout: if they were recorded so, name another --time"
    ordered = replace(tracks, time=tracks.time[order], values=tracks.values[order])
    return ordered, Finding("wrong order", f"{len(backward)} recordings with time running back", done)


def with_fine_times(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Spread rows of one time evenly until the next, where most rows share theirs with others nearby: a clock
    of whole minutes. Rows are in the order in which they were recorded.

    Where most share theirs with others far away, or lie nearer to those of the next time than to each other,
    these are several bodies, and refused.
    """
    firsts = np.cumsum(tracks.lengths) - tracks.lengths
    extent = np.maximum.reduceat(tracks.places, firsts) - np.minimum.reduceat(tracks.places, firsts)
    near = 0.1 * np.linalg.norm(extent, axis=1)[tracks.part[1:]]
    is_shared = (tracks.took == 0) & (tracks.hops > 0)
    num_rows, num_shared = len(tracks.time), int(is_shared.sum())
    num_near = int((is_shared & (tracks.hops < near)).sum())
    if max(num_near, num_shared - num_near) <= num_rows / 2:
        return tracks, Finding("coarse clock", "no")
    odd = tracks if num_near <= num_rows / 2 else next(filter(_are_side_by_side, tracks), None)
    if odd is not None:
        raise BadDataset(
            f"{odd.names[0]}: {num_shared} of {num_rows} rows have the time of the one before and lie "
            "elsewhere, as those of several bodies do; name the column that tells them apart with --episode"
        )
    found = f"{num_near} of {num_rows} rows have the time of the one before, elsewhere"
    spread = replace(tracks, time=np.concatenate([_spread(track.time) for track in tracks]))
    return spread, Finding("coarse clock", found, "spread evenly in between")


def _are_side_by_side(track: Tracks) -> bool:
    """Whether rows of one time lie farther apart than from those of the next time: several bodies do."""
    firsts = np.flatnonzero(np.diff(track.time, prepend=-np.inf) > 0)
    counts = np.diff(firsts, append=len(track.time))
    usual = int(np.median(counts))
    starts = firsts[:-1][(counts[:-1] == usual) & (counts[1:] == usual)]
    if usual < 2 or len(starts) == 0:
        return False
    now, later = (track.places[starts[:, None] + np.arange(usual) + ahead] for ahead in (0, usual))
    beside = np.linalg.norm(np.diff(now, axis=1), axis=2)
    return bool(np.median(np.linalg.norm(later - now, axis=2)) < np.median(beside))


def _spread(time: FloatArray) -> FloatArray:
    """Rows of one time, evenly until the next time, or as long as usual after the last."""
    times, firsts, counts = np.unique(time, return_index=True, return_counts=True)
    if len(times) == 1:
        return time
    lasts = np.minimum(np.diff(times, append=np.inf), np.median(np.diff(times)))
    within = (np.arange(len(time)) - np.repeat(firsts, counts)) / np.repeat(counts, counts)
    return np.asarray(np.repeat(times, counts) + within * np.repeat(lasts, counts))


def without_duplicates(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Keep the first of rows with one time."""
    return kept(tracks, np.append(True, ~(tracks.took <= 0)), "duplicates", "first kept")


def without_constants(tracks: Tracks, names: Sequence[str]) -> tuple[Tracks, set[str], Finding]:
    """Leave out columns that never change, also returns which; neither coordinate may be one of them."""
    span = np.ptp(tracks.values, axis=0)
    constant = [name for name, width in zip(names, span, strict=True) if width == 0]
    if odd := [name for name in names[:2] if name in constant]:
        raise BadDataset(f"{tracks.names[0]}: {odd[0]} never changes; planning needs two coordinates that do")
    found, done = (", ".join(constant), "left out") if constant else ("none", "")
    changing = replace(tracks, values=tracks.values[:, span > 0])
    return changing, set(constant), Finding("constant columns", found, done)


def described(tracks: Tracks, unit: str) -> tuple[Finding, ...]:
    """What is odd about speeds, such as other units, and how often nothing moved; unit: of speeds."""
    share = 1.0 - float(moving_steps(tracks).sum() / tracks.is_step.sum())
    still = Finding("standing still", f"{100 * share:.0f} % of the steps", "kept" if share else "")
    usual, paces = usual_speed(tracks), {}
    for track in tracks:  # the median where a track moves; where it hardly does, that of all its steps
        moving = track.speeds[are_moves(track.speeds, usual)]
        pace = np.median(moving if len(moving) >= len(track.speeds) / 10 else track.speeds)
        if pace > 0:
            paces[str(track.names[0])] = float(pace)
    if not paces:
        return Finding("speeds", "most steps stand still", "kept"), still
    low, middle, high = np.quantile(list(paces.values()), (0.05, 0.5, 0.95))
    odd = [name for name, pace in paces.items() if not middle / 20 < pace < middle * 20]
    span = f"{plainly(low)} to {plainly(high)} in nine of ten recordings"
    found = f"{plainly(middle)} {unit} in the median, {span}"
    if odd:
        found += f"; {len(odd)} differ more than twentyfold, for example {odd[0]}"
    return Finding("speeds", found, "kept: look at their units" if odd else ""), still


def without_spikes(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out up to three rows that were reached and left too fast, and one far aside, reached and left
    faster than 95 % of all moves in opposite directions: nothing turns round so fast."""
    calm = _calm_speeds(tracks)
    bound, fast = jump_bound(calm), float(np.quantile(calm, 0.95))
    places, time, took = tracks.places, tracks.time, tracks.took
    share = (took[:-1] / (took[:-1] + took[1:]))[:, None]
    between = (1 - share) * places[:-2] + share * places[2:]  # where its neighbours say a row was at its time
    aside = np.nan_to_num(np.pad(np.linalg.norm(places[1:-1] - between, axis=1), 1), posinf=np.inf)
    before, after = tracks.moves[:-1], tracks.moves[1:]
    is_round = (before * after).sum(axis=1) < -0.5 * tracks.hops[:-1] * tracks.hops[1:]
    is_round &= (tracks.speeds[:-1] > fast) & (tracks.speeds[1:] > fast)
    is_off = (aside > 3.0 * float(np.quantile(aside, 0.95))) & np.pad(is_round, 1)
    is_fast = tracks.speeds > bound
    for count in (1, 2, 3):
        first, last = slice(None, -count - 1), slice(count + 1, None)
        is_near = np.linalg.norm(places[last] - places[first], axis=1) <= bound * (time[last] - time[first])
        is_one = is_near & (tracks.part[last] == tracks.part[first])
        rows = np.flatnonzero(is_fast[:-count] & is_fast[count:] & is_one) + 1
        is_off[rows[:, None] + np.arange(count)] = True
    return kept(tracks, ~is_off, "spikes", "left out")


def split_at_jumps(tracks: Tracks, unit: str) -> tuple[Tracks, Finding]:
    """Part recordings where a step is implausibly fast; unit: of speeds."""
    bound = jump_bound(_calm_speeds(tracks))
    return split(tracks, tracks.speeds > bound, "jumps", f"faster than {plainly(bound)} {unit}")


def _calm_speeds(tracks: Tracks) -> FloatArray:
    """[n] speeds of all steps over medians of three rows, so that a hundredth of stray rows hides nothing."""
    places = tracks.places.copy()
    around = np.sort(np.stack([places[:-2], places[1:-1], places[2:]]), axis=0)
    is_inner = tracks.is_step[:-1] & tracks.is_step[1:]
    places[1:-1] = np.where(is_inner[:, None], around[1], places[1:-1])
    return tracks.placed(places).speeds[tracks.is_step]


@dataclass(frozen=True)
class StopParams:
    """Which stops are cut: those of more rows than `longest`, to `left`; radius: usual moves within which a
    body stays, small: share of a usual move that its moves are smaller than on average."""

    longest: int = 60
    left: int = 20
    radius: float = 3.0
    small: float = 0.5


def without_long_stops(tracks: Tracks, params: StopParams | None = None) -> tuple[Tracks, Finding]:
    """Leave out the middle of long stops; the clock stands still meanwhile."""
    params = params or StopParams()
    usual, longer = median_move(tracks), f"longer than {params.longest} rows"
    keep, time, count = np.ones(len(tracks.time), dtype=bool), tracks.time.copy(), 0
    for end, track in zip(np.cumsum(tracks.lengths), tracks, strict=True):
        start = end - len(track.time)
        for first, last in _stops(track, usual, params):
            before, after = start + first + params.left // 2, start + last - params.left // 2
            keep[before:after] = False
            time[after:end] -= tracks.time[after] - tracks.time[before]
            count += 1
    if count == 0:
        return tracks, Finding("stops", f"none {longer}")
    done = f"cut to {params.left} rows each, {100 * (1 - keep.mean()):.0f} % of all rows left out"
    return replace(tracks, time=time).where(keep), Finding("stops", f"{count} {longer}", done)


def _stops(track: Tracks, usual: float, params: StopParams) -> list[tuple[int, int]]:
    """The first row of every long stop and the one after its last: where more rows than the longest lie
    within the radius of the first of them, with moves that are small on average or run to and fro, as noise
    does and a drive round a few blocks does not.

    usual: units from row to row of all tracks; that of the track counts where it is less, so that walkers
    among cars do not stand, but not that of a track that never moves.
    """
    length, places, moves = params.longest, track.places, track.moves
    if len(places) <= length:
        return []
    own = median_move(track)
    move = min(usual, own if are_moves(np.array([own]), usual).all() else 0.1 * usual)
    ahead = [places[k : len(places) - length + k] for k in np.linspace(0, length, 5).astype(int)]
    apart = np.linalg.norm(np.stack(ahead[1:]) - ahead[0], axis=2).max(axis=0)
    lengths, squares = _sums(track.hops, length), _sums(track.hops**2, length)
    turns = _sums((moves[1:] * moves[:-1]).sum(axis=1), length - 1)
    stands: BoolArray = (lengths < length * params.small * move) | (turns < -0.2 * squares)
    stays = np.pad(((apart < params.radius * move) & stands).astype(int), 1)
    stops: list[tuple[int, int]] = []
    for first, end in np.flatnonzero(np.diff(stays)).reshape(-1, 2).tolist():
        if stops and first < stops[-1][1]:
            first, _ = stops.pop()
        stops.append((first, end + length))
    return stops


def _sums(values: FloatArray, count: int) -> FloatArray:
    """[n − count + 1] sums of so many values in a row."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[count:] - total[:-count])
