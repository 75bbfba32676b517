"""From files to recordings: which columns are taken for what, and what tells recordings apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chronoforest.data.clean import counted
from chronoforest.data.clocks import HOURS_OF_A_DAY, past_midnight
from chronoforest.data.columns import Columns, interleaved
from chronoforest.data.names import NAMES, is_time
from chronoforest.data.read import Source, opened, read_table
from chronoforest.data.tables import Table
from chronoforest.data.tracks import Finding, Tracks, Watch, unwatched
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray


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
    """Recordings of a file: the name, times [n] and values [n, columns] of each; clock: what its times are,
    where they are not plain seconds; odd: what else is to be said; guessed: names of its columns, where it
    has none itself; ends: the columns that are true in the last row of a recording."""

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
                refused.append(error)
        if not files:
            raise refused[0]
    files, timeless = _of_one_kind(files)
    tracks, first = Tracks.joined(part for file in files for part in file.parts), files[0]
    findings = [counted(tracks, len(files)), _chosen(files, step)]
    if refused:
        findings.append(Finding("other files", f"{len(refused)}, for example {refused[0]}", "left out"))
    if step is not None and first.is_counted:
        tracks = _in_seconds(tracks, step)
    has_clock = first.columns.has_clock or step is not None
    return Recordings(tracks, first.columns, has_clock, (*findings, *timeless))


def _of_one_kind(files: list[_File]) -> tuple[list[_File], list[Finding]]:
    """Files that all have times or all have none, whichever hold more rows, and what became of the others:
    steps and seconds do not mix."""
    timed, timeless = (
        [file for file in files if (file.columns.time is None) is odd] for odd in (False, True)
    )
    if not timed or not timeless:
        return files, []
    kept, left_out = sorted((timeless, timed), key=_num_rows)[::-1]
    what = "without times" if kept is timed else "with times, unlike the others"
    name = left_out[0].parts[0][0]
    return kept, [Finding("mixed clocks", f"{len(left_out)} files {what}, for example {name}", "left out")]


def _num_rows(files: Iterable[_File]) -> int:
    return sum(len(time) for file in files for _, time, _ in file.parts)


def _read(source: Source, columns: Columns, step: float, largest: int | None) -> _File:
    """A file's recordings, by name."""
    table = replace(read_table(source.place, columns.names, largest), source=source.name)
    columns = columns.found_in(table)
    values = np.stack([table.numbers(name) for name in columns.values], axis=1)
    clock = table.clock(columns.time) if columns.time is not None else None
    seconds = clock.seconds if clock is not None else None
    ends = () if columns.ids else tuple(name for name in NAMES["last row"] if table.has(name))
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
    found = (
        f"coordinates {', '.join(columns.coordinates or ())}; "
        f"episode {', '.join(columns.ids or first.ends) or 'none: a file is a recording'}; "
        f"time {_clock(first, step, clock)}"
    )
    done = [f"no header: taken for {', '.join(guessed)}; --header gives other names"] if guessed else []
    done += [f"{odd}: name the column with --episode"] if odd else []
    return Finding("columns", found, "; ".join(done))


def _clock(file: _File, step: float | None, clock: str) -> str:
    """What the times of a file are."""
    name = file.columns.time
    apart = f": rows are {step:g} s apart, as told" if step is not None else ""
    if name is None:
        tells = ": rows are a step apart; --step tells how many seconds that is, --time names a column"
        return f"none{apart or tells}"
    if file.is_counted:
        tells = " and no clock; --step tells how many seconds rows are apart"
        return f"{name} (an order{apart or tells})"
    clock = clock or ("" if is_time(name) else "by what it holds")
    return f"{name} ({clock})" if clock else name


def _in_seconds(tracks: Tracks, step: float) -> Tracks:
    """Tracks whose rows are counted, so many seconds from one to the next in the median."""
    ordered = tracks.time[np.lexsort((tracks.time, tracks.part))]
    hops = np.diff(ordered)[tracks.is_step]
    hops = hops[hops > 0]
    scale = step / float(np.median(hops)) if len(hops) else 1.0
    return replace(tracks, time=scale * tracks.time)
