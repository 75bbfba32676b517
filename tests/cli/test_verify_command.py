"""`chronoforest verify`: paths from files, in the coordinates of the world, and how the command ends."""

import json

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity

from chronoforest.cli import FAILED, main
from chronoforest.cli.verify import REFUTED, paths_of
from chronoforest.data.columns import Columns
from chronoforest.data.frames import Frame
from chronoforest.errors import BadDataset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams

BESIDE, THROUGH = [[3.0, 3.0], [17.0, 3.0]], [[3.0, 10.0], [17.0, 10.0]]
EARTH = Frame("degrees", (8.0, 47.0))


@pytest.fixture
def square(monkeypatch):
    """A world whose block nothing passes, whatever preset is asked for."""
    planner = Planner(FakeModels(density=SquareDensity(BLOCK)), PlannerParams(), "square")
    monkeypatch.setattr(PlannerChoice, "load", lambda self: planner)


def written(path, lines):
    """Lines as a file of the kind that its ending says."""
    if path.suffix == ".csv":
        rows = [f"{k},{x},{y}" for k, line in enumerate(lines) for x, y in line]
        path.write_text("\n".join(["trip,x,y", *rows]))
    elif path.suffix == ".gpx":
        tracks = "".join(
            "<trk><trkseg>" + "".join(f'<trkpt lat="{y}" lon="{x}"/>' for x, y in line) + "</trkseg></trk>"
            for line in lines
        )
        path.write_text(f'<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">{tracks}</gpx>')
    else:
        features = [
            {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": line}}
            for line in lines
        ]
        path.write_text(json.dumps({"type": "FeatureCollection", "crs": None, "features": features}))
    return path


@pytest.mark.parametrize("ending", ["csv", "geojson", "gpx"])
def test_every_path_of_a_file_is_read(tmp_path, ending):
    lines = [np.linspace((8.0, 47.0), end, 12).tolist() for end in ((8.01, 47.0), (8.0, 47.11))]
    if ending == "csv":  # longitude and latitude have names there
        file = written(tmp_path / "paths.csv", lines)
        file.write_text(file.read_text().replace("trip,x,y", "trip,lon,lat"))
    else:
        file = written(tmp_path / f"paths.{ending}", lines)
    found = paths_of(file, Columns(), EARTH)
    np.testing.assert_allclose(sorted(map(np.ndarray.tolist, found.values())), sorted(lines))


def test_degrees_are_refused_where_the_world_has_other_coordinates(tmp_path):
    with pytest.raises(BadDataset):
        paths_of(written(tmp_path / "paths.gpx", [[[8.0, 47.0], [8.01, 47.0]]]), Columns(), Frame())


def test_points_alone_are_no_path(tmp_path):
    with pytest.raises(BadDataset):
        paths_of(written(tmp_path / "paths.csv", [[[1.0, 1.0], [1.0, 1.0]]]), Columns(), Frame())


@pytest.mark.parametrize(
    ("lines", "code"), [([BESIDE], 0), ([THROUGH], REFUTED), ([BESIDE, THROUGH], REFUTED)]
)
def test_the_command_ends_with_whether_a_piece_is_refuted(square, tmp_path, capsys, lines, code):
    file, picture = written(tmp_path / "paths.csv", lines), tmp_path / "path.png"
    assert main(["verify", str(file), "--preset", "point-giant", "--out", str(picture)]) == code
    printed = capsys.readouterr().out
    assert ("refuted" in printed) == (code == REFUTED)
    assert "verified" in printed
    assert picture.is_file()


def test_a_file_that_is_not_there_is_refused(square, tmp_path):
    assert main(["verify", str(tmp_path / "none.csv"), "--preset", "point-giant"]) == FAILED
