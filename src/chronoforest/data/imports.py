"""From other people's recordings to `Episodes`: choose columns, check, clean, resample and cut.

Recordings differ in length and have holes; training wants rows at equal times and episodes of one length.
So every recording is split where nobody knows what lay between, resampled, and cut into windows of one length
that overlap where they must. Each step reports what it found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chronoforest.data import clean, placing
from chronoforest.data.columns import Columns
from chronoforest.data.cut import Cutting, fitting_length, split_at_holes, windows_of
from chronoforest.data.densify import Between, densified
from chronoforest.data.episodes import RECORDED_ROWS, Episodes, flat_arrays, write_arrays
from chronoforest.data.frames import Frame, plainly
from chronoforest.data.recordings import read_recordings
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
    """How recordings are cleaned and cut; the recordings decide what is not told.

    Args:
        step: seconds between rows; the median of the recordings unless told, several of them where the world
            is more than 1500 moves wide or moves are lost in noise, or a part of it where rows are too far
            apart to show the ways or recordings too short. Of files without times, how far apart their rows
            are.
        max_gap: a longer hole in seconds splits a recording, a shorter one is filled. Unless told, a hole
            splits a recording where a straight line at the recorded speeds does not explain it.
        length: rows per episode, at most 201 unless told: three quarters of all rows lie in recordings that
            fill it.
        jumps: split recordings at implausibly long steps, or keep them where bodies really jump.
        stops: cut stops of more than 60 rows to 20, or keep them.
        between: rows too far apart to show the ways are led over the rows of other recordings where that is
            nearer to rows that are held out, or joined by straight lines.
        units: degrees are longitude and latitude and become metres; auto finds out.
        region: west, south, east and north, or the least x and y and the largest: what lies elsewhere is left
            out, and recordings are parted there.
        origin: the place that becomes 0, 0; a place amid the recordings unless told, if they lie far from 0.
        max_gib: GiB of text that a file may hold, unpacked; a sixteenth of the machine's memory unless told.
    """

    step: float | None = None
    max_gap: float | None = None
    length: int | None = None
    jumps: Literal["split", "keep"] = "split"
    stops: Literal["cut", "keep"] = "cut"
    between: Between = "followed"
    units: placing.Units = "auto"
    region: placing.Region | None = None
    origin: tuple[float, float] | None = None
    max_gib: float | None = None

    def __post_init__(self) -> None:
        for name, unit in {
            "step": "a number of seconds ",
            "max_gap": "a number of seconds ",
            "max_gib": "",
        }.items():
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise InvalidParameter(f"{name} must be {unit}above 0, got {value}")
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
    """Read, check, clean and cut recordings; what cannot be used raises BadDataset.

    watch: receives how far reading and what else takes long has come.
    """
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

    axes = placing.axes_of(tracks, params.units, read.columns.are_degrees, read.has_clock)
    tracks = take(partial(placing.longitude_first, axes=axes))
    if params.region is not None:
        tracks = take(partial(placing.within, region=params.region))
    frame, finding = placing.chosen_frame(tracks, axes, params.origin, read.has_clock)
    findings.append(finding)
    tracks = placing.placed(take(partial(placing.without_nowhere, frame=frame)), frame)

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
    about = {
        "generator": "chronoforest data import",
        "files": [Path(source).name for source in sources],
        "step_seconds": dense.period,
        "frame": replace(frame, step_seconds=dense.period * frame.has_clock).to_dict(),
        **({RECORDED_ROWS: dense.added} if dense.added else {}),
    }
    episodes = _episodes(windows, names, read.columns.without(constant), about)
    return Imported(episodes, (*findings, finding))


def save_episodes(path: Path, episodes: Episodes) -> None:
    """Write imported episodes as a dataset that `load` reads."""
    arrays = flat_arrays(episodes)
    arrays["metadata"] = np.array(json.dumps(dict(episodes.metadata)))
    if episodes.recording is not None:
        arrays["recording"] = episodes.recording
    write_arrays(path, arrays)


def _sampling(tracks: Tracks, step: float | None, frame: Frame) -> tuple[float, Finding]:
    """Seconds between rows: told, the median of the recordings, or as many medians as it takes to cross the
    world in the most moves that a distance in steps can be learned over, or to see moves among noise."""
    usual, across = median_period(tracks), moves_across(tracks)
    is_odd = frame.has_clock and usual >= 100 and float(np.abs(tracks.time).max()) < 1e8
    wide, noisy = max(1, round(across / Cutting.most_across)), rows_to_see_a_move(tracks)
    period, why = step or max(wide, noisy) * usual, ""
    if step is None and period > usual:
        why = (
            f": the world is {across:.0f} rows wide"
            if wide >= noisy
            else ": moves of a row are lost in noise"
        )
    found, done = (
        f"every {plainly(value)} {frame.time_unit if frame.has_clock or value != 1 else 'step'}"
        for value in (usual, period)
    )
    return period, Finding("sampling", f"rows {found}{'; or are these milliseconds?' * is_odd}", done + why)


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
