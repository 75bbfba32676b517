"""Recordings with geography as people have them: ships in a strait, hikes, carts on a yard in UTM metres."""

import csv
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from chronoforest.cli import main
from chronoforest.data.frames import Frame

SIDE = 4000.0


def lanes(num_trips=40, num_rows=45, seed=0):
    """[trips, rows, 2] metres: round a rectangle one way, a fifth of it a trip, and across it both ways."""
    rng = np.random.default_rng(seed)
    corners = np.array([[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5]]) * SIDE
    ring = np.concatenate(
        [np.linspace(a, b, 60)[:-1] for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)]
    )
    trips = []
    for trip in range(num_trips):
        if trip % 5 == 4:
            across = np.linspace([0, -0.5 * SIDE], [0, 0.5 * SIDE], num_rows)
            trips.append(across if trip % 2 else across[::-1])
        else:
            first = rng.integers(len(ring))
            trips.append(ring[(first + np.arange(num_rows)) % len(ring)])
    return np.array(trips) + rng.normal(0, 0.012 * SIDE, (num_trips, 1, 2))


def write_ais(path, frame):
    """Ships side by side in the order of time, as harbours publish them."""
    places = frame.to_user(lanes())
    rows = [
        (f"2026-05-01T{k // 60:02d}:{k % 60:02d}:00", 211000000 + ship, round(lat, 6), round(lon, 6))
        for k in range(places.shape[1])
        for ship, (lon, lat) in enumerate(places[:, k].tolist())
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("BaseDateTime", "MMSI", "LAT", "LON"), *rows])


def write_hikes(path, frame):
    """A track for every hike, a fix a minute."""
    tracks = []
    for hike in frame.to_user(lanes()).tolist():
        times = (f"<time>2026-05-01T{k // 60:02d}:{k % 60:02d}:00Z</time>" for k in range(len(hike)))
        fixes = (
            f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}">{time}</trkpt>'
            for (lon, lat), time in zip(hike, times, strict=True)
        )
        tracks.append(f"<trk><trkseg>{''.join(fixes)}</trkseg></trk>")
    path.write_text(f'<gpx version="1.1">{"".join(tracks)}</gpx>')


def write_yard(path, frame):
    """Carts in metres far from 0, seconds since 1970."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(("Trip_ID", "Timestamp", "Easting", "Northing"))
        for trip, places in enumerate(frame.to_user(lanes() / 40).tolist()):
            writer.writerows((trip, 1777620000 + 2 * k, *place) for k, place in enumerate(places))


@dataclass(frozen=True)
class World:
    name: str
    file: str
    write: object
    frame: Frame
    seconds: float
    scale: float = 1.0
    is_trained: bool = False


WORLDS = [
    World("strait", "ais.csv", write_ais, Frame("degrees", (179.98, 51.2)), 60.0, is_trained=True),
    World("hikes", "hikes.gpx", write_hikes, Frame("degrees", (11.3, 47.2)), 60.0),
    World("yard", "yard.csv", write_yard, Frame("plain", (446000.0, 4636000.0)), 2.0, 1 / 40),
]


@contextmanager
def made_world(world, folder):
    """A world made of its recordings by the commands of the docs, in its folder: with networks or without."""
    world.write(folder / world.file, world.frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        data, file = f"{world.name}.npz", folder / f"{world.name}.toml"
        if not world.is_trained:
            assert main(["learn", world.file, "--name", world.name]) == 0
            yield world
            return
        assert main(["data", "import", world.file, "--out", data]) == 0
        assert main(["data", "inspect", data]) == 0
        assert main(["preset", "new", world.name, "--data", data]) == 0
        text = file.read_text().replace("[planner]\n", "[planner]\nmax_rounds = 2\nrounds_per_leg = 0\n")
        file.write_text(text)
        options = ["--quick", "--steps", "20", "--batch", "16", "--device", "cpu"]
        assert main(["train", "all", "--preset", world.name, *options]) == 0
        yield world


def point(world, x, y):
    """A place of the world, as a person types it."""
    lon, lat = world.frame.to_user(world.scale * np.array([x, y]))
    return f"{lon:.7f},{lat:.7f}"
