"""From other people's recordings to `Episodes`: choose columns, check, clean, resample and cut.

Recordings differ in length and have holes; training wants rows at equal times and episodes of one length.
So every recording is split where nobody knows what lay between, resampled, and cut into windows of one length
that overlap where they must. Each step reports what it found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from chronoforest.data import axes as places
from chronoforest.data import clean
from chronoforest.data.clocks import HOURS_OF_A_DAY, past_midnight
from chronoforest.data.columns import Columns, Table, interleaved
from chronoforest.data.cut import Cutting, fitting_length, split_at_holes, windows_of
from chronoforest.data.densify import Between, densified
from chronoforest.data.episodes import RECORDED_ROWS, Episodes, flat_arrays, write_arrays
from chronoforest.data.frames import Frame, plainly
from chronoforest.data.names import NAMES, is_time
from chronoforest.data.read import Source, opened, read_table
from chronoforest.data.tracks import (
    Finding,
    Tracks,
    Watch,
    median_period,
    moves_across,
    resampled,
    rows_to_see_a_move,
    unwatched,
)
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray

Step = Callable[[Tracks], tuple[Tracks, Finding]]


@dataclass(frozen=True)
class ImportParams:
    """How recordings are cleaned and cut; what is not given is found from the recordings.

    Args:
        step: seconds between rows; the median of the recordings unless given, several of them where the world
            is more than 1500 moves wide or moves are lost in noise, or a part of it where rows are too far
            apart to show the ways or recordings too short. Of files without times, how far apart their rows
            are.
        max_gap: a hole of more seconds splits a recording, a shorter one is filled. Without it, a hole
            splits a recording where a straight line at the recorded speeds does not explain it.
        length: rows per episode, at most 201 unless given: three quarters of all rows lie in recordings that
            fill it.
        jumps: split recordings at implausibly long steps, or keep them where bodies really jump.
        stops: cut stops of more than 60 rows to 20, or keep them.
        between: rows too far apart to show the ways are led over the rows of other recordings where that is
            nearer to rows that are held out, or joined by straight lines.
        units: degrees are longitude and latitude and become metres; auto recognises them.
        region: west, south, east and north, or the least x and y and the largest: what lies elsewhere is left
            out, and recordings are split there.
        origin: the place that becomes 0, 0; a place among the recordings unless given, if they lie far from
            0.
        max_gib: GiB of text that a file may hold, unpacked; a sixteenth of the machine's memory unless given.
    """

    step: float | None = None
    max_gap: float | None = None
    length: int | None = None
    jumps: Literal["split", "keep"] = "split"
    stops: Literal["cut", "keep"] = "cut"
    between: Between = "followed"
    units: places.Units = "auto"
    region: places.Region | None = None
    origin: tuple[float, float] | None = None
    max_gib: float | None = None

    def __post_init__(self) -> None:
        for name in ("step", "max_gap", "max_gib"):
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise InvalidParameter(f"{name} must be above 0, got {value}")
        if self.length is not None and self.length < Cutting.shortest:
            raise InvalidParameter(f"length must be {Cutting.shortest} rows or more, got {self.length}")
        if self.origin is not None and not np.isfinite(self.origin).all():
            raise InvalidParameter(f"origin must be two finite numbers, got {self.origin}")
        west, south, east, north = self.region or (0, 0, 1, 1)
        if not (west < east and south < north):
            expected = "west, south, east and north, or the least x and y and the largest"
            raise InvalidParameter(f"region must be {expected}, got {self.region}")


@dataclass(frozen=True)
class Imported:
    """The episodes, and what was found on the way to them."""

    episodes: Episodes
    findings: tuple[Finding, ...]


def import_files(
    sources: Sequence[str | Path], columns: Columns, params: ImportParams, watch: Watch = unwatched
) -> Imported:
    """Read, check, clean and cut recordings; what cannot be used raises BadDataset; watch: sees how far."""
    if not sources:
        raise BadDataset("no files to import")
    largest = None if params.max_gib is None else int(params.max_gib * 2**30)
    read = read_recordings(sources, columns, params.step, watch, largest)
    tracks, findings = read.tracks, list(read.findings)

    def take(*steps: Step) -> Tracks:
        """The tracks after some steps, each of which also says what it found."""
        after = tracks
        for step in steps:
            after, finding = step(after)
            findings.append(finding)
        return after

    tracks = take(clean.without_holes, clean.in_order, clean.with_fine_times, clean.without_duplicates)
    tracks, constant, finding = clean.without_constants(tracks, read.columns.values)
    findings.append(finding)

    axes = places.axes_of(tracks, params.units, read.columns.are_degrees, read.has_clock)
    tracks = take(partial(places.longitude_first, axes=axes))
    if params.region is not None:
        tracks = take(partial(places.within, region=params.region))
    frame, finding = places.chosen_frame(tracks, axes, params.origin, read.has_clock)
    findings.append(finding)
    tracks = places.placed(take(partial(places.without_nowhere, frame=frame)), frame)

    tracks = take(clean.without_spikes, *([clean.without_long_stops] if params.stops == "cut" else []))
    period, finding = _sampling(tracks, params.step, frame)
    findings.append(finding)
    tracks = take(
        partial(split_at_holes, period=median_period(tracks), gap=params.max_gap, unit=frame.time_unit)
    )
    if params.jumps == "split":
        tracks = take(partial(clean.split_at_jumps, unit=frame.speed_unit))
    findings += clean.described(tracks, frame.speed_unit)

    dense = densified(tracks, params.step, period, params.between, frame.unit, watch)
    findings.append(dense.finding)
    tracks = resampled(dense.tracks, dense.period)
    windows, names, finding = windows_of(tracks, params.length or fitting_length(tracks))
    observations, actions = np.split(windows, [2 + len(read.columns.without(constant).states)], axis=-1)
    scale = np.maximum(1.0, np.abs(actions).max(axis=(0, 1)))
    about = {
        "generator": "chronoforest data import",
        "files": [Path(source).name for source in sources],
        "step_seconds": dense.period,
        "frame": replace(frame, step_seconds=dense.period * frame.has_clock).to_dict(),
        **({RECORDED_ROWS: dense.added} if dense.added else {}),
        "action_scale": scale.tolist(),
        "columns": asdict(read.columns.without(constant)),
    }
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    episodes = Episodes(
        observations.astype(np.float32),
        (actions / scale).astype(np.float32),
        about,
        np.array([numbers[name] for name in names], dtype=np.int64),
    )
    return Imported(episodes, (*findings, finding))


def save_episodes(path: Path, episodes: Episodes) -> None:
    """Write imported episodes as a dataset that `load` reads."""
    arrays = flat_arrays(episodes)
    arrays["metadata"] = np.array(json.dumps(dict(episodes.metadata)))
    if episodes.recording is not None:
        arrays["recording"] = episodes.recording
    write_arrays(path, arrays)


def _sampling(tracks: Tracks, step: float | None, frame: Frame) -> tuple[float, Finding]:
    """Seconds between rows: told, or as many medians as show moves among noise and across the world."""
    usual, across = median_period(tracks), moves_across(tracks)
    is_odd = frame.has_clock and usual >= 100 and float(np.abs(tracks.time).max()) < 1e8
    wide, noisy = max(1, round(across / Cutting.most_across)), rows_to_see_a_move(tracks)
    period, why = step or max(wide, noisy) * usual, ""
    if step is None and period > usual:
        is_wide = wide >= noisy
        why = f": the world is {across:.0f} rows wide" if is_wide else ": moves of a row are lost in noise"
    found, done = (
        f"every {plainly(value)} {frame.time_unit if frame.has_clock or value != 1 else 'step'}"
        for value in (usual, period)
    )
    return period, Finding("sampling", f"rows {found}{'; or are these milliseconds?' * is_odd}", done + why)


@dataclass(frozen=True)
class Recordings:
    """Recordings of all files; columns: which they are made of, as in the first file; has_clock: whether
    their times are seconds; findings: what to say about them."""

    tracks: Tracks
    columns: Columns
    has_clock: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _File:
    """Recordings of a file: the name, times [n] and values [n, columns] of each; clock, odd: what to say of
    its times and rows; guessed: names it lacks itself; ends: columns that are true in last rows."""

    parts: Sequence[tuple[str, FloatArray, FloatArray]]
    columns: Columns
    clock: str
    odd: str
    guessed: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    @property
    def is_counted(self) -> bool:
        """Whether the column that orders rows is no clock."""
        return self.columns.time is not None and not self.columns.has_clock


def read_recordings(
    sources: Sequence[str | Path],
    columns: Columns,
    step: float | None,
    watch: Watch = unwatched,
    largest: int | None = None,
) -> Recordings:
    """Recordings of files and of all files in folders and archives.

    step: seconds between rows where the files have no times. A file that was named itself must be sound; of
    those in a folder some may be about something else. watch: is told of every file;
    largest: bytes of text in a file, what this machine's memory suffices for unless given.
    """
    files, refused = [], []
    with opened(sources, largest) as found:
        for number, source in enumerate(found):
            watch(number, len(found), f"reading {source.name}")
            try:
                files.append(_read(source, columns, step or 1.0, largest))
            except BadDataset as error:
                if source.is_named:
                    raise
                refused.append(str(error).replace(str(source.place), source.name))
        if not files:
            raise BadDataset(refused[0])
    # Steps and seconds do not mix: of files with times and without those with more rows are taken.
    kinds = [[file for file in files if (file.columns.time is None) is odd] for odd in (True, False)]
    others, files = sorted(kinds, key=lambda kind: sum(len(part[1]) for file in kind for part in file.parts))
    mixed = []
    if others:
        what = "without times" if files[0].columns.time is not None else "with times, unlike the others"
        found_in = f"{len(others)} files {what}, for example {others[0].parts[0][0]}"
        mixed = [Finding("mixed clocks", found_in, "left out")]
    tracks, first = Tracks.joined(part for file in files for part in file.parts), files[0]
    low, high, total = tracks.lengths.min(), tracks.lengths.max(), len(tracks.time)
    counts = f"{len(tracks)} of {low} to {high} rows, {total} rows in all"
    origin = f"read from {len(files)} {'file' if len(files) == 1 else 'files'}"
    findings = [Finding("recordings", counts, origin), _chosen(files, step)]
    if refused:
        findings.append(Finding("other files", f"{len(refused)}, for example {refused[0]}", "left out"))
    if step is not None and first.is_counted:  # so many seconds from one row to the next in the median
        hops = np.diff(tracks.time[np.lexsort((tracks.time, tracks.part))])[tracks.is_step]
        usual = float(np.median(hops[hops > 0])) if (hops > 0).any() else step
        tracks = replace(tracks, time=step / usual * tracks.time)
    return Recordings(tracks, first.columns, first.columns.has_clock or step is not None, (*findings, *mixed))


def _read(source: Source, columns: Columns, step: float, largest: int | None) -> _File:
    """A file's recordings, by name."""
    table = replace(read_table(source.place, columns.names, largest), source=source.name)
    columns = columns.found_in(table)
    values = np.stack([table.numbers(name) for name in columns.values], axis=1)
    clock = table.clock(columns.time) if columns.time is not None else None
    seconds = clock.seconds if clock is not None else None
    ends = () if columns.ids else tuple(name for name in NAMES["last row"] if name in table.columns)
    labels = _labels(table, columns, ends)
    odd = "" if any(labels) else interleaved(table, columns, values[:, :2], seconds)
    names, codes = np.unique(labels, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    parts = []
    for label, rows in zip(names, np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
        time = seconds[rows] if seconds is not None else step * np.arange(len(rows), dtype=np.float64)
        time = past_midnight(time) if clock is not None and clock.writing == HOURS_OF_A_DAY else time
        parts.append((f"{table.source}: {label}" if label else table.source, time, values[rows]))
    return _File(parts, columns, clock.writing if clock is not None else "", odd, table.guessed, ends)


def _labels(table: Table, columns: Columns, ends: Sequence[str]) -> list[str]:
    """[N] which recording of its file each row belongs to."""
    if columns.ids:
        parts = [table.labels(name) for name in columns.ids]
        return [" ".join(cells) for cells in zip(*parts, strict=True)]
    if ends:
        is_end = np.any([table.numbers(name) > 0 for name in ends], axis=0)
        return [str(number) for number in (np.cumsum(is_end) - is_end).tolist()]
    return [""] * len(table)


def _chosen(files: Sequence[_File], step: float | None) -> Finding:
    """Which columns were taken for what."""
    first, columns = files[0], files[0].columns
    clock, odd, guessed = (
        next((value for file in files if (value := getattr(file, name))), "")
        for name in ("clock", "odd", "guessed")
    )
    time, apart = columns.time, f": rows are {step:g} s apart, as given" if step is not None else ""
    if time is None:
        tells = ": rows are a step apart; --step tells how many seconds that is, --time names a column"
        time = f"none{apart or tells}"
    elif first.is_counted:
        tells = " and no clock; --step tells how many seconds rows are apart"
        time = f"{time} (an order{apart or tells})"
    elif clock or not is_time(time):
        time = f"{time} ({clock or 'by what it holds'})"
    found = (
        f"coordinates {', '.join(columns.coordinates or ())}; "
        f"episode {', '.join(columns.ids or first.ends) or 'none: a file is a recording'}; time {time}"
    )
    done = [f"no header: taken for {', '.join(guessed)}; --header gives other names"] if guessed else []
    done += [f"{odd}: name the column with --episode"] if odd else []
    return Finding("columns", found, "; ".join(done))
