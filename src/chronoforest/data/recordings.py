"""From files to recordings: which columns are taken for what, and what tells recordings apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chronoforest.data.cleaning import Finding, Track, Tracks, counted
from chronoforest.data.clocks import HOURS_OF_A_DAY, past_midnight
from chronoforest.data.columns import Columns
from chronoforest.data.interleaving import interleaved
from chronoforest.data.names import EPISODE_ENDS, is_time
from chronoforest.data.sources import Source, opened
from chronoforest.data.tables import Table, read_table
from chronoforest.data.watching import Watch, unwatched
from chronoforest.errors import BadDataset
from chronoforest.types import IntArray


@dataclass(frozen=True)
class Recordings:
    """Recordings of all files; columns: which they are made of, as in the first file; has_clock: whether
    their times are seconds; findings: what is told about them."""

    tracks: Tracks
    columns: Columns
    has_clock: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _File:
    """Recordings of a file; clock: what its times are, where they are not plain seconds; odd: what else is
    to be told; guessed: names of its columns, where it has none itself; ends: the columns that are true in
    the last row of a recording."""

    tracks: Tracks
    columns: Columns
    clock: str
    odd: str
    guessed: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


def read_recordings(
    sources: Sequence[str | Path], columns: Columns, step: float | None, watch: Watch = unwatched
) -> Recordings:
    """Recordings of files and of all files in folders and archives.

    step: seconds between rows where the files have no times. A file that was named itself must be sound; of
    those in a folder some may be about something else. watch: is told of every file.
    """
    files, refused = [], []
    with opened(sources) as found:
        for number, source in enumerate(found):
            watch(number, len(found), f"reading {source.name}")
            try:
                files.append(_read(source, columns, step or 1.0))
            except BadDataset as error:
                if source.is_named:
                    raise
                refused.append(error)
        if not files:
            raise refused[0]
    files, timeless = _of_one_kind(files)
    tracks = [track for file in files for track in file.tracks]
    findings = [counted(tracks, len(files)), _chosen(files, step)]
    if refused:
        findings.append(Finding("other files", f"{len(refused)}, for example {refused[0]}", "left out"))
    if timeless is not None:
        findings.append(timeless)
    first = files[0].columns
    if step is not None and _is_counted(first):
        tracks = _in_seconds(tracks, step)
    return Recordings(tracks, first, first.has_clock or step is not None, tuple(findings))


def _of_one_kind(files: list[_File]) -> tuple[list[_File], Finding | None]:
    """Files that all have times or all have none, whichever hold more rows, and what became of the others:
    steps and seconds do not mix."""
    timed, timeless = (
        [file for file in files if (file.columns.time is None) is odd] for odd in (False, True)
    )
    if not timed or not timeless:
        return files, None
    kept, left_out = (timed, timeless) if _num_rows(timed) >= _num_rows(timeless) else (timeless, timed)
    what = "without times" if kept is timed else "with times, unlike the others"
    name = left_out[0].tracks[0].recording
    return kept, Finding("mixed clocks", f"{len(left_out)} files {what}, for example {name}", "left out")


def _num_rows(files: Sequence[_File]) -> int:
    return sum(len(track) for file in files for track in file.tracks)


def _read(source: Source, columns: Columns, step: float) -> _File:
    """A file's recordings, by name."""
    table = replace(read_table(source.place, columns.names), source=source.name)
    columns = columns.found_in(table)
    values = np.stack([table.numbers(name) for name in columns.values], axis=1)
    clock = table.clock(columns.time) if columns.time is not None else None
    seconds = clock.seconds if clock is not None else None
    ends = () if columns.ids else tuple(name for name in EPISODE_ENDS if table.has(name))
    labels = _labels(table, columns, ends)
    odd = "" if any(labels) else interleaved(table, columns, values[:, :2], seconds)
    names, codes = np.unique(labels, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    tracks = []
    for label, rows in zip(names, np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
        time = seconds[rows] if seconds is not None else step * np.arange(len(rows), dtype=np.float64)
        time = past_midnight(time) if clock is not None and clock.told == HOURS_OF_A_DAY else time
        tracks.append(Track(f"{table.source}: {label}" if label else table.source, time, values[rows]))
    return _File(tracks, columns, clock.told if clock is not None else "", odd, table.guessed, ends)


def _chosen(files: Sequence[_File], step: float | None) -> Finding:
    """Which columns were taken for what."""
    first, clock = files[0].columns, next((file.clock for file in files if file.clock), "")
    odd = next((file.odd for file in files if file.odd), "")
    if first.time is not None and not is_time(first.time):
        clock = clock or "by what it holds"
    if _is_counted(first):
        clock = _counted(step)
    told = {
        "coordinates": ", ".join(first.coordinates or ()),
        "episode": ", ".join(first.ids or files[0].ends) or "none: a file is a recording",
        "time": f"{first.time} ({clock})" if clock else first.time or _without_time(step),
    }
    found = "; ".join(f"{name} {which}" for name, which in told.items())
    done = [f"{odd}: name the column with --episode"] if odd else []
    guessed = next((file.guessed for file in files if file.guessed), ())
    if guessed:
        done.insert(0, f"no header: taken for {', '.join(guessed)}; --header gives other names")
    return Finding("columns", found, "; ".join(done))


def _without_time(step: float | None) -> str:
    if step is not None:
        return f"none: rows are {step:g} s apart, as told"
    return "none: rows are a step apart; --step tells how many seconds that is, --time names a column"


def _counted(step: float | None) -> str:
    """What is told of a column that counts rows or pictures."""
    if step is not None:
        return f"an order: rows are {step:g} s apart, as told"
    return "an order and no clock; --step tells how many seconds rows are apart"


def _is_counted(columns: Columns) -> bool:
    """Whether the column that orders rows is no clock."""
    return columns.time is not None and not columns.has_clock


def _in_seconds(tracks: Tracks, step: float) -> Tracks:
    """Tracks whose rows are counted, so many seconds from one to the next in the median."""
    hops = np.concatenate([np.diff(np.sort(track.time)) for track in tracks])
    hops = hops[hops > 0]
    scale = step / float(np.median(hops)) if len(hops) else 1.0
    return [replace(track, time=scale * track.time) for track in tracks]


def _labels(table: Table, columns: Columns, ends: Sequence[str]) -> list[str]:
    if columns.ids:
        parts = [table.labels(name) for name in columns.ids]
        return [" ".join(cells) for cells in zip(*parts, strict=True)]
    if ends:
        is_end = np.any([table.numbers(name) > 0 for name in ends], axis=0)
        numbers: IntArray = np.cumsum(is_end) - is_end
        return [str(number) for number in numbers.tolist()]
    return [""] * len(table)
