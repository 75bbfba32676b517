"""From other people's recordings to `Episodes`: choose columns, check, clean, resample and cut.

Recordings differ in length and have holes; training wants rows at equal times and episodes of one length.
So every recording is split where it is interrupted, resampled, and cut into windows of one length that
overlap where they must; what is too short for one window is left out. Each step reports what it found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chronoforest.data.episodes import Episodes, flat_arrays, jump_bound, write_arrays
from chronoforest.data.tables import Table, read_table
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import BoolArray, FloatArray, IntArray

SHORTEST, LONGEST = 11, 201
"""Rows of a window: the denoiser needs ten frames after the first, and no preset uses more than 200."""

KEPT_SHARE = 0.9  # of the rows must lie in recordings that are long enough for the window that is chosen
DEGREE = 111_195.0  # metres of a degree of latitude
MOST_ROWS = 50_000_000


@dataclass(frozen=True)
class Columns:
    """Which columns mean what, by their names in the files.

    Args:
        coordinates: the plane to plan in.
        episode: tells recordings apart; `episode` where there is one, else every file is one recording.
        time: seconds or dates; `time` where there is one, else rows are a second apart.
        states: further columns that the tracker may see.
        actions: what the body was told to do; without them plans can be made but not walked.
    """

    coordinates: tuple[str, str] = ("x", "y")
    episode: str | None = None
    time: str | None = None
    states: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """Coordinates, states, actions."""
        return (*self.coordinates, *self.states, *self.actions)

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values):
            raise InvalidParameter(f"every column can be chosen once, got {', '.join(self.values)}")


@dataclass(frozen=True)
class ImportParams:
    """How recordings are cleaned and cut; the recordings decide what is not told.

    Args:
        step: seconds between rows; the median of the recordings unless told.
        max_gap: a longer hole in seconds splits a recording, a shorter one is filled; 3 steps unless told.
        length: rows per episode; the longest that keeps nine tenths of all rows, at most 201, unless told.
        smoothing: seconds of a centred moving average over the coordinates.
        jumps: split recordings at implausibly long steps, or keep them where bodies really jump.
        is_degrees: the coordinates are longitude and latitude and become metres.
        origin: the place that becomes 0, 0.
    """

    step: float | None = None
    max_gap: float | None = None
    length: int | None = None
    smoothing: float = 0.0
    jumps: Literal["split", "keep"] = "split"
    is_degrees: bool = False
    origin: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("step", "max_gap"):
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise InvalidParameter(f"{name} must be a number of seconds above 0, got {value}")
        if self.length is not None and self.length < SHORTEST:
            raise InvalidParameter(f"length must be {SHORTEST} rows or more, got {self.length}")
        if not 0 <= self.smoothing < np.inf:
            raise InvalidParameter(f"smoothing must be 0 or more seconds, got {self.smoothing}")


@dataclass(frozen=True)
class Finding:
    """One row of the report: what was looked for, what was found, what was done about it."""

    check: str
    found: str
    done: str = ""


@dataclass(frozen=True)
class Imported:
    """The episodes, and what was found on the way to them."""

    episodes: Episodes
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Track:
    """An uninterrupted part of a recording: time [n] seconds; values [n, columns]."""

    recording: str
    time: FloatArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.time)

    @property
    def speeds(self) -> FloatArray:
        """[n − 1] units per second from each row to the next."""
        moved = np.linalg.norm(np.diff(self.values[:, :2], axis=0), axis=1)
        return moved / np.diff(self.time)

    def rows(self, keep: Any) -> Track:
        """The rows that `keep` (a mask, slice or index) chooses."""
        return Track(self.recording, self.time[keep], self.values[keep])

    def split(self, is_cut: BoolArray) -> list[Track]:
        """Parts between the rows k and k + 1 where `is_cut` [n − 1] holds."""
        ends = [0, *(np.flatnonzero(is_cut) + 1), len(self)]
        return [self.rows(slice(a, b)) for a, b in pairwise(ends)]


Tracks = list[Track]


def import_files(sources: Sequence[str | Path], columns: Columns, params: ImportParams) -> Imported:
    """Read, check, clean and cut recordings; what cannot be used raises BadDataset."""
    if not sources:
        raise BadDataset("no files to import")
    tracks = [track for source in sources for track in _tracks(read_table(source), columns)]
    findings = [_counted(tracks, len(sources))]

    def apply(step: Callable[[Tracks], tuple[Tracks, Finding]]) -> None:
        nonlocal tracks
        tracks, finding = step(tracks)
        findings.append(finding)

    for clean in (_without_holes, _in_order, _without_duplicates):
        apply(clean)
    _refuse_constant_coordinates(tracks, columns)
    tracks, columns, finding = _without_constants(tracks, columns)
    findings += [finding, _units(tracks)]
    tracks, origin = _placed(tracks, params)
    period = params.step or _median_period(tracks)
    gap = params.max_gap or 3.0 * period
    findings.append(
        Finding("sampling", f"rows every {_median_period(tracks):.3g} s", f"every {period:.3g} s")
    )
    apply(_without_spikes)
    apply(lambda tracks: _split_at_gaps(tracks, gap))
    if params.jumps == "split":
        apply(_split_at_jumps)
    findings += [_paces(tracks), _axes(tracks), _standing(tracks)]
    tracks = [_smoothed(_resampled(track, period), params.smoothing / period) for track in tracks]
    length = params.length or _fitting_length(tracks)
    windows, names, finding = _cut(tracks, length)
    findings.append(finding)
    scale = _action_scale(windows, columns)
    episodes = _episodes(
        windows, names, columns, scale, _about(sources, params, columns, period, origin, scale)
    )
    return Imported(episodes, tuple(findings))


def save_episodes(path: Path, episodes: Episodes) -> None:
    """Write imported episodes as a dataset that `load` reads."""
    arrays = flat_arrays(episodes)
    arrays["metadata"] = np.array(json.dumps(dict(episodes.metadata)))
    if episodes.recording is not None:
        arrays["recording"] = episodes.recording
    write_arrays(path, arrays)


def _tracks(table: Table, columns: Columns) -> Tracks:
    """The table's recordings, by name."""
    values = np.stack([table.numbers(name) for name in columns.values], axis=1)
    has_time = columns.time is not None or table.has("time")
    time = table.times(columns.time or "time") if has_time else None
    names, codes = np.unique(_labels(table, columns), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    tracks = []
    for label, rows in zip(names, np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
        clock = time[rows] if time is not None else np.arange(len(rows), dtype=np.float64)
        tracks.append(Track(f"{table.source}: {label}" if label else table.source, clock, values[rows]))
    return tracks


def _labels(table: Table, columns: Columns) -> list[str]:
    if columns.episode is not None or table.has("episode"):
        return table.labels(columns.episode or "episode")
    if table.has("terminals"):
        is_end = table.numbers("terminals") > 0
        numbers: IntArray = np.cumsum(is_end) - is_end
        return [str(number) for number in numbers.tolist()]
    return [""] * len(table)


def _counted(tracks: Tracks, num_files: int) -> Finding:
    lengths = [len(track) for track in tracks]
    return Finding(
        "recordings",
        f"{len(tracks)} of {min(lengths)} to {max(lengths)} rows, {sum(lengths)} rows in all",
        f"read from {num_files} {'file' if num_files == 1 else 'files'}",
    )


def _without_holes(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out rows with an empty, NaN or infinite value."""
    sound = [np.isfinite(track.values).all(axis=1) & np.isfinite(track.time) for track in tracks]
    num_rows = sum(map(len, tracks))
    num_odd = num_rows - sum(int(keep.sum()) for keep in sound)
    if num_odd > num_rows / 2:
        raise BadDataset(
            f"{tracks[0].recording}: {num_odd} of {num_rows} rows have an empty, NaN or infinite value in a "
            "chosen column; choose other columns or fill them"
        )
    kept = [track.rows(keep) for track, keep in zip(tracks, sound, strict=True)]
    return _longer_than_one(kept), Finding("empty or NaN", _rows(num_odd), "left out" if num_odd else "")


def _in_order(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Sort every recording by time."""
    num_odd = sum(int((np.diff(track.time) < 0).any()) for track in tracks)
    ordered = [track.rows(np.argsort(track.time, kind="stable")) for track in tracks]
    found = f"{num_odd} recordings with time running back" if num_odd else "none"
    return ordered, Finding("wrong order", found, "sorted by time" if num_odd else "")


def _without_duplicates(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Keep the first of rows with one time."""
    fresh = [np.diff(track.time, prepend=-np.inf) > 0 for track in tracks]
    num_odd = sum(int((~keep).sum()) for keep in fresh)
    kept = [track.rows(keep) for track, keep in zip(tracks, fresh, strict=True)]
    return _longer_than_one(kept), Finding("duplicates", _rows(num_odd), "first kept" if num_odd else "")


def _longer_than_one(tracks: Tracks) -> Tracks:
    kept = [track for track in tracks if len(track) > 1]
    if not kept:
        raise BadDataset(
            f"{tracks[0].recording if tracks else 'import'}: no recording has two sound rows with different "
            "times; choose other episode and time columns"
        )
    return kept


def _refuse_constant_coordinates(tracks: Tracks, columns: Columns) -> None:
    span = np.ptp(np.concatenate([track.values[:, :2] for track in tracks]), axis=0)
    for name, width in zip(columns.coordinates, span, strict=True):
        if width == 0:
            raise BadDataset(
                f"{tracks[0].recording}: {name} never changes; planning needs two coordinates that do"
            )


def _without_constants(tracks: Tracks, columns: Columns) -> tuple[Tracks, Columns, Finding]:
    """Leave out state and action columns that never change."""
    span = np.ptp(np.concatenate([track.values for track in tracks]), axis=0)
    constant = [name for name, width in zip(columns.values, span, strict=True) if width == 0]
    kept = [k for k, name in enumerate(columns.values) if name not in constant]
    left = replace(
        columns,
        states=tuple(name for name in columns.states if name not in constant),
        actions=tuple(name for name in columns.actions if name not in constant),
    )
    tracks = [replace(track, values=track.values[:, kept]) for track in tracks]
    found, done = (", ".join(constant), "left out") if constant else ("none", "")
    return tracks, left, Finding("constant columns", found, done)


def _units(tracks: Tracks) -> Finding:
    """Degrees where metres are wanted, and milliseconds where seconds are."""
    places = np.concatenate([track.values[:, :2] for track in tracks])
    is_small = (np.abs(places) <= (180.0, 90.0)).all() and np.linalg.norm(np.ptp(places, axis=0)) < 2.0
    moves = np.concatenate([np.abs(np.diff(track.values[:, :2], axis=0)).max(axis=1) for track in tracks])
    odd = []
    if is_small and np.median(moves) < 2e-3:
        odd.append("coordinates look like degrees (--is-degrees makes metres of longitude and latitude)")
    if _median_period(tracks) >= 100:
        odd.append("time looks like milliseconds (only the ratio of times matters)")
    return Finding("units", "; ".join(odd) or "nothing odd", "kept as they are" if odd else "")


def _placed(tracks: Tracks, params: ImportParams) -> tuple[Tracks, FloatArray]:
    """Degrees to metres, then the origin to (0, 0); 32-bit numbers must still tell steps apart."""
    places = np.concatenate([track.values[:, :2] for track in tracks])
    origin = np.zeros(2) if not params.is_degrees else places.mean(axis=0)
    origin = np.array(params.origin, dtype=np.float64) if params.origin is not None else origin
    scale = np.ones(2)
    if params.is_degrees:
        if (np.abs(places) > (180.0, 90.0)).any():
            raise BadDataset(
                f"{tracks[0].recording}: degrees must be longitude, then latitude; the first lies in "
                f"[{places[:, 0].min():g}, {places[:, 0].max():g}], the second in "
                f"[{places[:, 1].min():g}, {places[:, 1].max():g}]"
            )
        scale = DEGREE * np.array([np.cos(np.radians(origin[1])), 1.0])
    moved = [_with_places(track, (track.values[:, :2] - origin) * scale) for track in tracks]
    _refuse_coarse(moved)
    return moved, origin


def _with_places(track: Track, places: FloatArray) -> Track:
    return replace(track, values=np.concatenate([places, track.values[:, 2:]], axis=1))


def _refuse_coarse(tracks: Tracks) -> None:
    largest = max(float(np.abs(track.values[:, :2]).max()) for track in tracks)
    hops = np.concatenate([np.linalg.norm(np.diff(t.values[:, :2], axis=0), axis=1) for t in tracks])
    hop = float(np.median(hops[hops > 0])) if (hops > 0).any() else 0.0
    if not (largest < 1e30 and largest * np.finfo(np.float32).eps < 0.02 * hop):
        middle = np.concatenate([track.values[:, :2] for track in tracks]).mean(axis=0)
        raise BadDataset(
            f"{tracks[0].recording}: coordinates as large as {largest:.6g} cannot show moves of {hop:.3g} in "
            f"32 bits; shift them, for example with --origin {middle[0]:.6g} {middle[1]:.6g}"
        )


def _median_period(tracks: Tracks) -> float:
    return float(np.median(np.concatenate([np.diff(track.time) for track in tracks])))


def _without_spikes(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Leave out single rows that lie far off while their neighbours lie together."""
    bound = _speed_bound(tracks)
    kept = []
    for track in tracks:
        fast = track.speeds > bound
        is_spike = np.zeros(len(track), dtype=bool)
        if len(track) > 2:
            across = np.linalg.norm(track.values[2:, :2] - track.values[:-2, :2], axis=1)
            is_spike[1:-1] = fast[:-1] & fast[1:] & (across <= bound * (track.time[2:] - track.time[:-2]))
        kept.append(track.rows(~is_spike))
    count = sum(map(len, tracks)) - sum(map(len, kept))
    return _longer_than_one(kept), Finding("spikes", _rows(count), "left out" if count else "")


def _speed_bound(tracks: Tracks) -> float:
    return jump_bound(np.concatenate([track.speeds for track in tracks]))


def _split_at_gaps(tracks: Tracks, gap: float) -> tuple[Tracks, Finding]:
    """Part recordings where rows are missing for longer than `gap` seconds."""
    return _split(
        tracks, lambda track: np.diff(track.time) > gap * (1 + 1e-6), "gaps", f"longer than {gap:.3g} s"
    )


def _split_at_jumps(tracks: Tracks) -> tuple[Tracks, Finding]:
    """Part recordings where a step is implausibly fast."""
    bound = _speed_bound(tracks)
    return _split(tracks, lambda track: track.speeds > bound, "jumps", f"faster than {bound:.3g} units/s")


def _split(
    tracks: Tracks, is_cut: Callable[[Track], BoolArray], check: str, what: str
) -> tuple[Tracks, Finding]:
    parts = [part for track in tracks for part in track.split(is_cut(track))]
    count = len(parts) - len(tracks)
    found = f"{count} {what}" if count else f"none {what}"
    return _longer_than_one(parts), Finding(check, found, "split there" if count else "")


def _paces(tracks: Tracks) -> Finding:
    """Recordings whose speeds differ by orders of magnitude were probably written in different units."""
    paces = {track.recording: float(np.median(track.speeds)) for track in tracks}
    moving = {name: pace for name, pace in paces.items() if pace > 0}
    if not moving:
        return Finding("speeds", "most steps stand still", "kept")
    low, middle, high = np.quantile(list(moving.values()), (0.05, 0.5, 0.95))
    odd = [name for name, pace in moving.items() if not middle / 20 < pace < middle * 20]
    found = f"{middle:.3g} units/s in the median, {low:.3g} to {high:.3g} in nine of ten recordings"
    if odd:
        found += f"; {len(odd)} differ more than twentyfold, for example {odd[0]}"
    return Finding("speeds", found, "kept: look at their units" if odd else "")


def _axes(tracks: Tracks) -> Finding:
    """Axes whose moves differ by orders of magnitude were probably written in different units."""
    moves = np.concatenate([np.abs(np.diff(track.values[:, :2], axis=0)) for track in tracks])
    x, y = (float(value) for value in np.quantile(moves, 0.95, axis=0))
    is_odd = max(x, y) > 50 * min(x, y)
    found = f"moves up to {x:.3g} and {y:.3g} a row"
    return Finding("axes", found, "kept: look at their units" if is_odd else "")


def _standing(tracks: Tracks) -> Finding:
    speeds = np.concatenate([track.speeds for track in tracks])
    share = float((speeds < 0.1 * np.quantile(speeds, 0.9)).mean())
    return Finding("standing still", f"{100 * share:.0f} % of the steps", "kept" if share else "")


def _resampled(track: Track, period: float) -> Track:
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


def _smoothed(track: Track, window: float) -> Track:
    """A centred moving average over `window` rows of the coordinates; shorter at the ends."""
    reach = int(window // 2)
    if reach == 0:
        return track
    total = np.cumsum(np.concatenate([np.zeros((1, 2)), track.values[:, :2]]), axis=0)
    row = np.arange(len(track))
    around = np.minimum(np.minimum(row, row[::-1]), reach)
    places = (total[row + around + 1] - total[row - around]) / (2 * around + 1)[:, None]
    return _with_places(track, places)


def _fitting_length(tracks: Tracks) -> int:
    """The longest window for which `KEPT_SHARE` of the rows remain, within bounds."""
    lengths = np.sort([len(track) for track in tracks])[::-1]
    kept = np.cumsum(lengths) / lengths.sum()
    return int(np.clip(lengths[np.searchsorted(kept, KEPT_SHARE - 1e-9)], SHORTEST, LONGEST))


def _cut(tracks: Tracks, length: int) -> tuple[FloatArray, list[str], Finding]:
    """Windows [E, length, columns] spread evenly over every part, and the recording each comes from."""
    windows, names, num_short, num_lost = [], [], 0, 0
    for track in tracks:
        if len(track) < length:
            num_short, num_lost = num_short + 1, num_lost + len(track)
            continue
        count = int(np.ceil((len(track) - 1) / (length - 1)))
        for first in np.round(np.linspace(0, len(track) - length, count)).astype(int):
            windows.append(track.values[first : first + length])
            names.append(track.recording)
    if not windows:
        longest = max(map(len, tracks))
        raise BadDataset(
            f"{tracks[0].recording}: no uninterrupted recording has {length} rows, the longest has "
            f"{longest}; take smaller steps, allow longer gaps, or ask for shorter episodes"
        )
    share = num_lost / sum(map(len, tracks))
    found = f"{num_short} parts shorter than {length} rows, {100 * share:.1f} % of all rows"
    done = f"left out; {len(windows)} episodes of {length} rows"
    return np.stack(windows), names, Finding("episodes", found, done)


def _action_scale(windows: FloatArray, columns: Columns) -> FloatArray:
    """[A] what action columns are divided by to lie in [−1, 1]."""
    first = 2 + len(columns.states)
    return np.maximum(1.0, np.abs(windows[..., first:]).max(axis=(0, 1)))


def _episodes(
    windows: FloatArray, names: list[str], columns: Columns, scale: FloatArray, about: dict[str, Any]
) -> Episodes:
    first = 2 + len(columns.states)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return Episodes(
        windows[..., :first].astype(np.float32),
        (windows[..., first:] / scale).astype(np.float32),
        about,
        np.array([numbers[name] for name in names], dtype=np.int64),
    )


def _about(
    sources: Iterable[str | Path],
    params: ImportParams,
    columns: Columns,
    period: float,
    origin: FloatArray,
    scale: FloatArray,
) -> dict[str, Any]:
    """What made the file, for its metadata."""
    return {
        "generator": "chronoforest data import",
        "files": [Path(source).name for source in sources],
        "step_seconds": period,
        "smoothing_seconds": params.smoothing,
        "is_degrees": params.is_degrees,
        "origin": origin.tolist(),
        "action_scale": scale.tolist(),
        "columns": asdict(columns),
    }


def _rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}" if count else "none"
