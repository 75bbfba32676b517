"""From trips of buses to a plan for two vehicles with eight stops, by the commands a person would type.

    python examples/city/run.py TRIPS STREETS [FOLDER]

TRIPS and STREETS are trips.csv and streets.csv, packed (.gz) or not; docs/city.md says where they come from.
Everything is written into FOLDER (runs/city-example unless told). A world that is there is not learned anew.
Ends with 1 when the plan is incomplete.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

from city import draw, for_maps, read_streets, viewer_link

from chronoforest import load_result
from chronoforest.cli import main
from chronoforest.files import write_text

STARTS = "445200,4636030 444490,4635300"
GOALS = "443860,4635850 445970,4634900"
STOPS = (
    "443400,4635470 443062,4635800 444480,4635620 444800,4636025 "
    "445498,4635800 445300,4635228 446310,4635600 446315,4634850"
)

LEARN = "learn {trips} --name city --overwrite"
PLAN = f'plan --preset city --starts "{STARTS}" --goals "{GOALS}" --waypoints "{STOPS}" --snap --out plan'

PORT = 8000
"""Of the viewer whose address is printed."""


def run(trips: Path, streets: Path, folder: Path) -> int:
    """Run the commands in the folder, then draw the plan over the streets and write it for maps."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    is_learned = Path("runs/city").is_dir()
    for command in (PLAN,) if is_learned else (LEARN, PLAN):
        words = shlex.split(command.format(trips=shlex.quote(str(trips))))
        print(f"\n$ chronoforest {shlex.join(words)}", flush=True)
        started = time.monotonic()
        if main(words) != 0:
            return 1
        print(f"({time.monotonic() - started:.0f} s)", flush=True)
    show(streets, Path("plan"))
    return 0


def show(streets: Path, folder: Path) -> None:
    """Draw and export the plan of a folder, and say how to look at it."""
    result, pieces = load_result(folder / "plan.json"), read_streets(streets)
    draw(result, pieces, folder / "city.png")
    write_text(folder / "plan.geojson", for_maps(result))
    print(f"\n  {folder.resolve() / 'city.png'}  the plan over the streets")
    print(f"  {folder.resolve() / 'plan.geojson'}  in degrees: drop it on https://geojson.io or into QGIS")
    view = f"chronoforest view --preset city --port {PORT} --no-open-page"
    print(f"  in the viewer: in {Path.cwd()}, {view}, then\n  {viewer_link(result.problem, PORT)}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: python examples/city/run.py TRIPS STREETS [FOLDER]")
    told = [Path(word).resolve() for word in sys.argv[1:]]
    sys.exit(run(told[0], told[1], told[2] if len(told) > 2 else Path("runs/city-example").resolve()))
