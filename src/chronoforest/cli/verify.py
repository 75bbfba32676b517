"""`chronoforest verify`: whether recorded motion covers a path from a file, piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from chronoforest.cli.terminal import Choice
from chronoforest.data.columns import Columns

if TYPE_CHECKING:
    from rich.table import Table

    from chronoforest.data.frames import Frame
    from chronoforest.planning.verification import Verification
    from chronoforest.types import FloatArray

REFUTED = 3
"""How the command ends when a piece is refuted."""


def verify(
    file: Annotated[Positional[Path], arg(metavar="FILE")],
    choice: Choice,
    columns: Annotated[Columns, arg(name="")],
    seed: int = 0,
    out: Path | None = None,
) -> int:
    """Check every path of a file as the ways of plans are checked; ends with 3 when a piece is refuted.

    Args:
        file: GeoJSON, GPX, CSV and what else recordings are read from, in the coordinates of the recordings.
        columns: which columns mean what.
        seed: the same seed gives the same verdicts.
        out: a picture of the first path, .png, .svg or .pdf.
    """
    from rich.console import Console

    from chronoforest.typed import check_whole

    choice.check()
    check_whole("seed", seed)
    planner = choice.load()
    console, found = Console(), []
    for name, path in paths_of(file, columns, planner.frame).items():
        found.append(planner.verify(path, seed=seed))
        console.print(pieces_table(name, found[-1]))
        console.print(found[-1].summary())
    if out is not None:
        found[0].plot(out)
    return REFUTED if any(one.share("refuted") for one in found) else 0


def paths_of(file: Path, columns: Columns, frame: Frame) -> dict[str, FloatArray]:
    """[t, 2] of every path of a file by its name, in the coordinates of a world; single points are none."""
    from chronoforest.data import clean
    from chronoforest.data.axes import axes_of, longitude_first
    from chronoforest.data.imports import read_recordings
    from chronoforest.errors import BadDataset

    read = read_recordings([file], columns, None)
    if read.columns.are_degrees and not frame.is_degrees:
        names = ", ".join(read.columns.coordinates or ())
        raise BadDataset(f"{file} has {names}; this world is not in longitude and latitude")
    tracks, _ = clean.in_order(clean.without_holes(read.tracks)[0])
    if frame.is_degrees:
        tracks, _ = longitude_first(tracks, axes_of(tracks, "auto", read.columns.are_degrees, read.has_clock))
    paths = {str(track.names[0]): track.places for track in tracks if track.hops.any()}
    if not paths:
        raise BadDataset(f"{file}: no path of two points or more")
    return paths


def pieces_table(name: str, found: Verification) -> Table:
    """A row for every piece."""
    from rich.table import Table

    unit = found.frame.unit
    table = Table(title=name)
    for header in ("piece", f"from, {unit}", f"to, {unit}", "state", "by"):
        table.add_column(header, justify="left" if header in ("state", "by") else "right")
    for number, (begin, end, state, by) in enumerate(found.rows(), start=1):
        table.add_row(str(number), f"{begin:.1f}", f"{end:.1f}", state, by)
    return table
