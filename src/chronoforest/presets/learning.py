"""From recordings to a planner in seconds, without training: import, preset, density, roadmap of states; and
the same for a world that gets new recordings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.columns import Columns
from chronoforest.data.episodes import Episodes, load
from chronoforest.data.imports import Imported, ImportParams, import_files, save_episodes
from chronoforest.data.tracks import Watch, unwatched
from chronoforest.errors import BadDataset, CannotWrite
from chronoforest.files import locked
from chronoforest.names import check_new_name
from chronoforest.presets.loading import PresetPlanner, load_planner
from chronoforest.presets.named import get_preset, write_preset_file
from chronoforest.presets.options import TrainOptions
from chronoforest.presets.proposal import Ways, head, propose
from chronoforest.presets.roadmaps import kept_roadmap
from chronoforest.presets.training import train_preset
from chronoforest.roadmap.changes import Change, ChangeParams, changes
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.roadmap.states import tracks_of
from chronoforest.typed import from_plain

BATCHES = "batches"
"""What metadata says of recordings that were taken in together: from which number on, and when."""


@dataclass(frozen=True)
class Added:
    """What importing new recordings found, what they change, and how many recordings were forgotten."""

    imported: Imported
    changes: list[Change]
    num_forgotten: int


def learn(
    recordings: Any,
    name: str = "world",
    *,
    columns: Columns | None = None,
    params: ImportParams | None = None,
    overwrite: bool = False,
    add: bool = False,
    ways: Ways | None = None,
) -> PresetPlanner:
    """A planner for the ways of recordings, without training.

    recordings: a file, several, or a DataFrame; name: of the world, which is there by it from then on, since
    NAME.npz, NAME.toml and runs/NAME are written to the current folder; add: to the world that is there;
    ways: what recordings do not show of them.
    """
    with _files(recordings) as files:
        if add:
            add_files(files, name)
        else:
            learn_files(files, name, columns, params, overwrite, ways=ways)
    return load_planner(name)


def learn_files(
    files: Sequence[str | Path],
    name: str,
    columns: Columns | None = None,
    params: ImportParams | None = None,
    overwrite: bool = False,
    watch: Watch = unwatched,
    ways: Ways | None = None,
) -> Imported:
    """What importing found; the recordings, a preset, a density and a roadmap of states are written."""
    check_new_name(name)
    data, preset = Path(f"{name}.npz"), Path(f"{name}.toml")
    with locked(data):
        for path in (data, preset):
            if path.exists() and not overwrite:
                raise CannotWrite(f"{path} exists already; --overwrite replaces it, --name chooses another")
        imported = import_files(files, columns or Columns(), params or ImportParams(), watch)
        save_episodes(data, imported.episodes)
        write_preset_file(preset, head("learn", name), propose(imported.episodes, os.fspath(data), ways))
        list(train_preset(TrainOptions(name), ["density"]))
    return imported


def is_learned(files: Sequence[str | Path], name: str) -> bool:
    """Whether a world is there that was learned from just these files, none of which was written since."""
    data = Path(f"{name}.npz")
    if not files or not data.is_file() or load(data).metadata.get("files") != [Path(f).name for f in files]:
        return False
    return all(Path(f).exists() and Path(f).stat().st_mtime < data.stat().st_mtime for f in files)


def add_files(
    files: Sequence[str | Path], name: str, forget_before: date | None = None, watch: Watch = unwatched
) -> Added:
    """What new recordings of a world change; its roadmap and density are made anew from all recordings.

    They are imported with the columns, the coordinates and the clock of those that are there; forget_before:
    recordings that were taken in before that day are left out.
    """
    path = get_preset(name).recordings
    with locked(path):
        known = load(path)
        learned = date.fromtimestamp(path.stat().st_mtime).isoformat()
        batches = known.metadata.get(BATCHES, [{"first": 0, "taken_in": learned}])
        known = replace(known, metadata={**known.metadata, BATCHES: batches}, recording=known.owner)
        imported = import_files(files, *_as_before(known), watch)
        batch = np.searchsorted([one["first"] for one in batches], known.owner, side="right") - 1
        taken_in = [date.fromisoformat(one["taken_in"]) for one in batches]
        is_late = [forget_before is None or day >= forget_before for day in taken_in]
        kept = known.where(np.array(is_late)[batch])
        save_episodes(path, _together(kept, imported.episodes))
        list(train_preset(TrainOptions(name), ["density"]))
    num_forgotten = len(np.unique(known.owner)) - len(np.unique(kept.owner))
    return Added(imported, _changes(name, kept, imported.episodes), num_forgotten)


def _as_before(known: Episodes) -> tuple[Columns, ImportParams]:
    """How the recordings of a world were imported."""
    about = known.metadata
    if "columns" not in about:
        raise BadDataset("recordings can be added to those of `chronoforest learn` or `data import` alone")
    return from_plain(Columns, about["columns"]), ImportParams(
        step=about["step_seconds"],
        length=known.num_steps,
        units="degrees" if known.frame.kind == "degrees" else "plain",
        origin=(known.frame.origin[0], known.frame.origin[1]),
    )


def _together(known: Episodes, more: Episodes) -> Episodes:
    """Episodes, and new ones behind them."""
    if known.observations.shape[1:] != more.observations.shape[1:] or known.frame != more.frame:
        raise BadDataset(
            f"the new recordings have {more.frame.summary()} and {more.observations.shape[2]} numbers a row, "
            f"those of the world {known.frame.summary()} and {known.observations.shape[2]}"
        )
    scales = [np.array(episodes.metadata["action_scale"]) for episodes in (known, more)]
    actions = [episodes.actions * scale for episodes, scale in zip((known, more), scales, strict=True)]
    first = 1 + max([*known.owner.tolist(), *(one["first"] for one in known.metadata[BATCHES])])
    batch = {"first": first, "taken_in": date.today().isoformat()}
    return Episodes(
        np.concatenate([known.observations, more.observations]),
        (np.concatenate(actions) / np.maximum(*scales)).astype(np.float32),
        {
            **known.metadata,
            "action_scale": np.maximum(*scales).tolist(),
            BATCHES: [*known.metadata[BATCHES], batch],
        },
        np.concatenate([known.owner, first + more.owner]),
    )


def _changes(name: str, known: Episodes, more: Episodes) -> list[Change]:
    """What new recordings change, by the roadmap of all."""
    preset = get_preset(name)
    roadmap = kept_roadmap(preset.weights, preset.name)
    if roadmap is None or len(known) == 0:
        return []
    earlier, later = tracks_of(known), tracks_of(more)
    made = [roadmap.matched(track) for track in (*earlier, *later)]
    is_later = np.arange(len(made)) >= len(earlier)
    return changes(roadmap.position, roadmap.hops, made, is_later, roadmap.space.spacing, ChangeParams())


def change_lines(name: str, added: Added) -> Iterator[str]:
    """What new recordings change, in words."""
    preset = get_preset(name)
    if added.num_forgotten:
        yield f"{added.num_forgotten} recordings were forgotten"
    for change in added.changes:
        place = preset.frame.show(preset.frame.to_user(change.position[None])[0])
        yield change.sentence(place, preset.frame.unit)


def world_lines(name: str) -> Iterator[str]:
    """What the roadmap of a world of one's own says of it, and whether planning can work."""
    preset = get_preset(name)
    roadmap = kept_roadmap(preset.weights, preset.name)
    if roadmap is not None:
        yield from roadmap_lines(roadmap, preset.frame.unit)


def roadmap_lines(roadmap: Roadmap, unit: str) -> Iterator[str]:
    """What a roadmap of states is made of, and how much of it can be reached; unit: of lengths."""
    space, hops = roadmap.space, roadmap.hops
    if space.angle is None:
        yield f"recordings go both ways: places are positions, {space.spacing:.3g} {unit} apart"
    else:
        apart = f"{space.spacing:.3g} {unit} and {space.angle:g}° apart"
        yield f"ways have directions: places have a heading, {apart}"
    share = 100 * float(hops.is_recorded.mean())
    yield f"{len(roadmap.position)} places, {len(hops)} hops between them, {share:.0f} % of them recorded"
    largest = 100 * float(np.bincount(roadmap.parts).max() / len(roadmap.position))
    yield f"{largest:.0f} % of the places can all be reached from each other"


@contextmanager
def _files(recordings: Any) -> Iterator[list[str | Path]]:
    """The files that recordings are in; a table is written to one for the time being."""
    if not hasattr(recordings, "to_csv"):
        yield [recordings] if isinstance(recordings, (str, Path)) else list(recordings)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recordings.csv"
        recordings.to_csv(file, index=False)
        yield [file]
