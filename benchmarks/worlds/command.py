"""`python -m benchmarks record`: datasets of the directed worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from benchmarks.worlds import strait
from benchmarks.worlds.trips import write_trips
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files, save_episodes


def record(
    world: Literal["strait", "city"], source: Path = Path("data/chicago"), out: Path = Path("data")
) -> None:
    """Write WORLD.npz and WORLD-val.npz: of the strait generated, of the city from its trips, imported as
    `chronoforest data import` does by default.

    Args:
        world: strait or city.
        source: folder with the city's trips.csv.gz and streets.csv.gz.
        out: folder for the datasets.
    """
    if world == "strait":
        strait.write(out / "strait.npz", strait.Traffic(), seed=0)
        strait.write(out / "strait-val.npz", strait.Traffic(num_recordings=150), seed=1)
        return
    for path in write_trips(source, out):
        found = import_files([path], Columns(), ImportParams())
        save_episodes(path.with_suffix(".npz"), found.episodes)
