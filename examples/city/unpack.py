"""The published archives of the city as the two tables that the example reads.

    python examples/city/unpack.py tracks_chicago.zip maps_chicago.zip [FOLDER]

Writes trips.csv and streets.csv into FOLDER (the present one unless told). docs/city.md says where the
archives are.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZipFile

Row = Sequence[object]


def unpack(tracks: Path, maps: Path, folder: Path) -> None:
    """Write both tables."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "trips.csv", ("trip", "time", "x", "y"), trips(tracks))
    _write(folder / "streets.csv", ("edge", "x1", "y1", "x2", "y2"), streets(maps))


def trips(archive: Path) -> Iterator[Row]:
    """trip, time, x, y of every fix; a file trip_N.txt is a trip, a line of it x, y and time."""
    with ZipFile(archive) as files:
        for name in files.namelist():
            if number := re.search(r"(?:^|/)trip_(\d+)\.txt$", name):
                for x, y, time in _lines(files, name):
                    yield number[1], time, x, y


def streets(archive: Path) -> Iterator[Row]:
    """edge, x1, y1, x2, y2 of every piece of a street; vertices have a number and a place, edges two ends."""
    with ZipFile(archive) as files:
        vertices, edges = (_only(files, f"{kind}_osm.txt") for kind in ("vertices", "edges"))
        places = {line[0]: line[1:3] for line in _lines(files, vertices)}
        for edge, source, target, *_ in _lines(files, edges):
            yield edge, *places[source], *places[target]


def _only(files: ZipFile, ending: str) -> str:
    """The file of an archive with that ending."""
    found = [name for name in files.namelist() if name.endswith(ending)]
    if len(found) != 1:
        sys.exit(f"{files.filename}: one file should end with {ending}, found {found or 'none'}")
    return found[0]


def _lines(files: ZipFile, name: str) -> Iterator[list[str]]:
    """The numbers of every line, whether commas or blanks divide them."""
    for line in files.read(name).decode().splitlines():
        if line.strip():
            yield re.split(r"[,\s]+", line.strip())


def _write(path: Path, header: Row, rows: Iterator[Row]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    print(path)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: python examples/city/unpack.py tracks_chicago.zip maps_chicago.zip [FOLDER]")
    unpack(*map(Path, (*sys.argv[1:], ".")[:3]))
