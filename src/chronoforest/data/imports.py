"""From other people's recordings to `Episodes`: choose columns, check, clean, resample and cut.

Recordings differ in length and have holes; training wants rows at equal times and episodes of one length.
So every recording is split where it is interrupted, resampled, and cut into windows of one length that
overlap where they must; what is too short for one window is left out. Each step reports what it found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chronoforest.data import cleaning
from chronoforest.data.cleaning import Finding, Track, Tracks
from chronoforest.data.episodes import Episodes, flat_arrays, write_arrays
from chronoforest.data.tables import Table, read_table
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray, IntArray

SHORTEST, LONGEST = 11, 201
"""Rows of a window: the denoiser needs ten frames after the first, and no preset uses more than 200."""

KEPT_SHARE = 0.9  # of the rows must lie in recordings that are long enough for the window that is chosen


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

    def without(self, names: Collection[str]) -> Columns:
        """The same without some states and actions."""
        states, actions = (
            tuple(name for name in known if name not in names) for known in (self.states, self.actions)
        )
        return replace(self, states=states, actions=actions)

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
class Imported:
    """The episodes, and what was found on the way to them."""

    episodes: Episodes
    findings: tuple[Finding, ...]


def import_files(sources: Sequence[str | Path], columns: Columns, params: ImportParams) -> Imported:
    """Read, check, clean and cut recordings; what cannot be used raises BadDataset."""
    if not sources:
        raise BadDataset("no files to import")
    tracks = [track for source in sources for track in _tracks(read_table(source), columns)]
    findings = [cleaning.counted(tracks, len(sources))]
    tracks = _through(REPAIRS, tracks, findings)
    tracks, constant, finding = cleaning.without_constants(tracks, columns.values)
    columns = columns.without(constant)
    findings += [finding, cleaning.units(tracks)]
    tracks, origin = cleaning.placed(tracks, params.is_degrees, params.origin)
    usual = cleaning.median_period(tracks)
    period = params.step or usual
    findings.append(Finding("sampling", f"rows every {usual:.3g} s", f"every {period:.3g} s"))
    tracks = _through(_splits(params, period), tracks, findings)
    findings += [look(tracks) for look in (cleaning.paces, cleaning.axes, cleaning.standing)]
    tracks = [cleaning.resampled(track, period) for track in tracks]
    tracks = [cleaning.smoothed(track, params.smoothing / period) for track in tracks]
    windows, names, finding = _cut(tracks, params.length or _fitting_length(tracks))
    about = {
        "generator": "chronoforest data import",
        "files": [Path(source).name for source in sources],
        "step_seconds": period,
        "smoothing_seconds": params.smoothing,
        "is_degrees": params.is_degrees,
        "origin": origin.tolist(),
    }
    return Imported(_episodes(windows, names, columns, about), (*findings, finding))


Step = Callable[[Tracks], tuple[Tracks, Finding]]

REPAIRS: tuple[Step, ...] = (cleaning.without_holes, cleaning.in_order, cleaning.without_duplicates)
"""What every recording goes through first."""


def _splits(params: ImportParams, period: float) -> list[Step]:
    """Where recordings are interrupted; rows should be `period` seconds apart."""
    at_gaps = partial(cleaning.split_at_gaps, gap=params.max_gap or 3.0 * period)
    at_jumps = [cleaning.split_at_jumps] if params.jumps == "split" else []
    return [cleaning.without_spikes, at_gaps, *at_jumps]


def _through(steps: Iterable[Step], tracks: Tracks, findings: list[Finding]) -> Tracks:
    """Tracks after all the steps; what they found is added to the findings."""
    for step in steps:
        tracks, finding = step(tracks)
        findings.append(finding)
    return tracks


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


def _episodes(windows: FloatArray, names: list[str], columns: Columns, about: Mapping[str, Any]) -> Episodes:
    """Episodes with actions in [−1, 1]; what they were divided by is added to what made the file."""
    observations, actions = np.split(windows, [2 + len(columns.states)], axis=-1)
    scale = np.maximum(1.0, np.abs(actions).max(axis=(0, 1)))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return Episodes(
        observations.astype(np.float32),
        (actions / scale).astype(np.float32),
        {**about, "action_scale": scale.tolist(), "columns": asdict(columns)},
        np.array([numbers[name] for name in names], dtype=np.int64),
    )
