"""`chronoforest data`: download, import and look at datasets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, arg

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files, save_episodes

if TYPE_CHECKING:
    from chronoforest.data.episodes import Episodes
    from chronoforest.roadmap.roadmap import Roadmap

DATA_FOLDER = Path("data")

Name = Annotated[Positional[str], arg(metavar="NAME")]
File = Annotated[Positional[Path], arg(metavar="FILE")]
Files = Annotated[Positional[tuple[str, ...]], arg(metavar="FILE…")]


def fetch(name: Name, out_dir: Path = DATA_FOLDER) -> None:
    """Download the official training and validation files of a dataset.

    Args:
        name: dataset, such as pointmaze-giant-stitch-v0.
        out_dir: folder for NAME.npz and NAME-val.npz.
    """
    from chronoforest.envs.tasks import fetch as download

    for path in download(name, out_dir):
        print(f"{path} is there")


def inspect(file: File, png: Path | None = None) -> None:
    """Print what a dataset holds and whether planning on it can work, and draw both.

    Args:
        file: an official, generated or imported .npz.
        png: where to draw the coverage; FILE with the ending .png unless given.
    """
    _check_dataset(file, png)
    from chronoforest.data.episodes import load
    from chronoforest.report.coverage import draw_coverage

    episodes = load(file)
    print(episodes.summary())
    roadmap = _roadmap(episodes)
    picture = png if png is not None else file.with_suffix(".png")
    draw_coverage(episodes, picture, title=file.stem, roadmap=roadmap)
    print(f"{'coverage':<12} {picture}")


def _check_dataset(file: Path, png: Path | None) -> None:
    """Refuse what is not there and what no dataset or picture is called, before heavy imports."""
    from chronoforest.errors import BadDataset, InvalidParameter

    if png is not None and png.suffix.lower() != ".png":
        raise InvalidParameter(f"--png must end in .png, got {png}")

    if not os.path.isfile(file):
        raise BadDataset(f"{file}: no such file; `chronoforest data import` or `generate` makes one")
    if file.suffix.lower() != ".npz":
        made = f"`chronoforest data import {file} --out {file.stem}.npz`"
        raise BadDataset(f"{file} is no .npz dataset; {made} makes one of recordings")


def _roadmap(episodes: Episodes) -> Roadmap | None:
    """The places that planning would know, printed with what to record next; None where the recordings hardly
    move."""
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    from chronoforest.errors import BadDataset
    from chronoforest.presets.learning import roadmap_lines
    from chronoforest.presets.proposal import Statistics
    from chronoforest.roadmap.roadmap import build_roadmap
    from chronoforest.roadmap.states import tracks_of

    frame = episodes.frame
    try:
        Statistics(episodes).step  # noqa: B018
    except BadDataset as error:
        print(f"{'reach':<12} not known: {error}")
        return None
    roadmap = build_roadmap(tracks_of(episodes))
    for name, line in zip(("ways", "places", "reach"), roadmap_lines(roadmap, frame.unit), strict=True):
        print(f"{name:<12} {line}")
    away = np.flatnonzero(roadmap.parts != np.argmax(np.bincount(roadmap.parts)))
    if len(away):
        hops = roadmap.hops.graph(len(roadmap.position))[away][:, away]
        group = connected_components(hops, directed=False)[1]
        largest = roadmap.position[away[group == np.argmax(np.bincount(group))], :2]
        apart, _ = cKDTree(np.delete(roadmap.position[:, :2], away, axis=0)).query(largest)
        place = frame.show_local(largest[np.argmax(apart)])
        print(f"{'record next':<12} a way there and back to {place}, and {len(largest)} places on it")
    return roadmap


def import_recordings(
    files: Files,
    out: Path,
    columns: Annotated[Columns, arg(name="")],
    params: Annotated[ImportParams, arg(name="")],
    overwrite: bool = False,
) -> None:
    """Turn recordings of your own into a dataset, and report what was found in them.

    Args:
        files: CSV, Parquet, GPX, GeoJSON, KML, PLT or NumPy files, location histories of Google Takeout,
            folders, .zip or .tar of them, logs of ROS, a LeRobot folder, or minari:NAME for a Minari dataset.
        out: the .npz to write.
        columns: which columns mean what.
        params: how recordings are cleaned and cut.
        overwrite: replace a file that exists.
    """
    from rich.console import Console
    from rich.table import Table

    from chronoforest.cli.terminal import LINE_SECONDS, shown
    from chronoforest.errors import CannotWrite, InvalidParameter
    from chronoforest.files import locked

    if out.suffix != ".npz":
        raise InvalidParameter(f"--out must end in .npz, got {out}")
    with locked(out):
        if out.exists() and not overwrite:
            raise CannotWrite(f"{out} exists already; --overwrite replaces it")
        with shown("import", LINE_SECONDS) as watch:
            imported = import_files(files, columns, params, watch)
        table = Table("check", "found", "done")
        for finding in imported.findings:
            table.add_row(finding.check, finding.found, finding.done)
        Console().print(table)
        save_episodes(out, imported.episodes)
    print(f"{out}: {len(imported.episodes)} episodes of {imported.episodes.num_steps} rows")
