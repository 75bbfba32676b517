"""From other people's recordings to `Episodes`: choose columns, check, clean, resample and cut.

Recordings differ in length and have holes; training wants rows at equal times and episodes of one length.
So every recording is split where nobody knows what lay between, resampled, and cut into windows of one length
that overlap where they must. Each step reports what it found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chronoforest.data import cleaning, paces, spikes
from chronoforest.data.cleaning import Finding, Tracks
from chronoforest.data.columns import Columns
from chronoforest.data.cutting import SHORTEST, cut, fitting_length, split_at_gaps, split_at_holes
from chronoforest.data.episodes import RECORDED_ROWS, Episodes, flat_arrays, write_arrays
from chronoforest.data.frames import plainly
from chronoforest.data.placing import (
    Units,
    chosen_frame,
    placed,
    refuse_bad_origin,
    turned_round,
    without_nowhere,
)
from chronoforest.data.recordings import read_recordings
from chronoforest.data.regions import Region, refuse_bad_region, within
from chronoforest.data.sparse import MOST_ACROSS, Between, Joined, joined
from chronoforest.data.stops import without_long_stops
from chronoforest.data.watching import Watch, unwatched
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray


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
        smoothing: seconds of a centred moving average over the coordinates.
        jumps: split recordings at implausibly long steps, or keep them where bodies really jump.
        stops: cut stops of more than 60 rows to 20, or keep them.
        between: rows too far apart to show the ways are led over the rows of other recordings where that is
            nearer to rows that are held out, or joined by straight lines.
        units: degrees are longitude and latitude and become metres; auto finds out.
        region: west, south, east and north, or the least x and y and the largest: what lies elsewhere is left
            out, and recordings are parted there.
        origin: the place that becomes 0, 0; a place amid the recordings unless told, if they lie far from 0.
    """

    step: float | None = None
    max_gap: float | None = None
    length: int | None = None
    smoothing: float = 0.0
    jumps: Literal["split", "keep"] = "split"
    stops: Literal["cut", "keep"] = "cut"
    between: Between = "followed"
    units: Units = "auto"
    region: Region | None = None
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
        refuse_bad_origin(self.origin)
        refuse_bad_region(self.region)


@dataclass(frozen=True)
class Imported:
    """The episodes, and what was found on the way to them."""

    episodes: Episodes
    findings: tuple[Finding, ...]


def import_files(
    sources: Sequence[str | Path], columns: Columns, params: ImportParams, watch: Watch = unwatched
) -> Imported:
    """Read, check, clean and cut recordings; what cannot be used raises BadDataset.

    watch: is told how far reading and what else takes long has come.
    """
    if not sources:
        raise BadDataset("no files to import")
    read = read_recordings(sources, columns, params.step, watch)
    columns, findings = read.columns, list(read.findings)
    tracks = _through(REPAIRS, read.tracks, findings)
    tracks, constant, finding = cleaning.without_constants(tracks, columns.values)
    columns = columns.without(constant)
    findings.append(finding)
    tracks, finding = turned_round(tracks, params.units, columns.are_degrees)
    findings.append(finding)
    if params.region is not None:
        tracks, finding = within(tracks, params.region)
        findings.append(finding)
    frame, finding = chosen_frame(tracks, params.units, columns.are_degrees, params.origin)
    findings.append(finding)
    tracks, finding = without_nowhere(tracks, frame)
    findings.append(finding)
    tracks = _through(_calmers(params), placed(tracks, frame), findings)
    period, finding = _sampling(tracks, params.step, read.has_clock)
    findings.append(finding)
    speed_unit = f"{frame.unit}/{'s' if read.has_clock else 'step'}"
    splits = _splits(params, paces.median_period(tracks), "s" if read.has_clock else "steps", speed_unit)
    tracks = _through(splits, tracks, findings)
    findings += [paces.differing(tracks, speed_unit), cleaning.axes(tracks), paces.standing(tracks)]
    whole = joined(tracks, params.step, period, params.between, frame.unit, watch)
    tracks = _evenly(whole, params.smoothing)
    windows, names, finding = cut(tracks, params.length or fitting_length(tracks))
    about = {
        "generator": "chronoforest data import",
        "files": [Path(source).name for source in sources],
        "step_seconds": whole.period,
        "smoothing_seconds": params.smoothing,
        "frame": replace(frame, step_seconds=whole.period if read.has_clock else 0.0).to_dict(),
        **({RECORDED_ROWS: whole.told} if whole.told else {}),
    }
    return Imported(_episodes(windows, names, columns, about), (*findings, whole.finding, finding))


Step = Callable[[Tracks], tuple[Tracks, Finding]]

REPAIRS: tuple[Step, ...] = (
    cleaning.without_holes,
    cleaning.in_order,
    cleaning.with_fine_times,
    cleaning.without_duplicates,
)
"""What every recording goes through first."""


def _calmers(params: ImportParams) -> list[Step]:
    """What is left out before anybody looks at how recordings move."""
    at_stops = [without_long_stops] if params.stops == "cut" else []
    return [spikes.without_spikes, *at_stops]


def _splits(params: ImportParams, period: float, time_unit: str, speed_unit: str) -> list[Step]:
    """Where recordings are interrupted; rows should be a period apart."""
    at_gaps = (
        partial(split_at_holes, period=period, unit=time_unit)
        if params.max_gap is None
        else partial(split_at_gaps, gap=params.max_gap, unit=time_unit)
    )
    at_jumps = [partial(spikes.split_at_jumps, unit=speed_unit)] if params.jumps == "split" else []
    return [at_gaps, *at_jumps]


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


def _sampling(tracks: Tracks, step: float | None, has_clock: bool) -> tuple[float, Finding]:
    """Seconds between rows: told, the median of the recordings, or as many medians as it takes to cross the
    world in `MOST_ACROSS` moves, since a distance in steps cannot be learned over tens of thousands, or to
    see moves at all among noise."""
    usual = paces.median_period(tracks)
    is_odd = has_clock and usual >= 100 and max(float(np.abs(track.time).max()) for track in tracks) < 1e8
    doubt = "; or are these milliseconds?" if is_odd else ""
    across = paces.moves_across(tracks)
    wide, noisy = max(1, round(across / MOST_ACROSS)), paces.rows_to_see_a_move(tracks)
    why = f": the world is {across:.0f} rows wide" if wide >= noisy else ": moves of a row are lost in noise"
    period = step or max(wide, noisy) * usual
    why = why if step is None and period > usual else ""
    seconds, every = (_lasting(value, has_clock) for value in (usual, period))
    return period, Finding("sampling", f"rows every {seconds}{doubt}", f"every {every}{why}")


def _lasting(period: float, has_clock: bool) -> str:
    """A time between rows, in what they were counted by."""
    return f"{plainly(period)} {'s' if has_clock else 'step' if period == 1 else 'steps'}"


def _evenly(whole: Joined, smoothing: float) -> Tracks:
    """Rows at equal times; smoothing: seconds."""
    tracks = [cleaning.resampled(track, whole.period) for track in whole.tracks]
    return [cleaning.smoothed(track, smoothing / whole.period) for track in tracks]


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
