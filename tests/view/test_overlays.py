import json
from pathlib import Path

import numpy as np
import pytest

from chronoforest.data.frames import Frame
from chronoforest.errors import BadOverlay
from chronoforest.types import Support
from chronoforest.view.overlays import read_overlay

HERE = Path("streets.geojson")
SUPPORT = Support(np.array([-100.0, -100.0]), 2.0, np.ones((100, 100), dtype=bool))
ANY_KIND = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {},
            "geometry": {"type": "LineString", "coordinates": [[0, 0], [1, 2]]},
        },
        {"type": "Feature", "properties": {}, "geometry": None},
        {
            "type": "Feature",
            "properties": {},
            "geometry": {
                "type": "GeometryCollection",
                "geometries": [
                    {"type": "Point", "coordinates": [3, 4, 99]},
                    {"type": "MultiPoint", "coordinates": [[5, 6], [7, 8]]},
                    {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]], [[2, 2], [3, 3], [4, 4]]]},
                    {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [9, 9], [0, 0]]]},
                    {"type": "MultiPolygon", "coordinates": [[[[0, 0], [1, 0], [1, 1], [0, 0]]]]},
                ],
            },
        },
    ],
}


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "streets.geojson"
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    return write


def test_every_kind_of_geometry_is_read(write):
    overlay = read_overlay(write(ANY_KIND))
    assert [len(line) for line in overlay.lines] == [2, 2, 3, 4, 4]
    assert overlay.points.tolist() == [[3, 4], [5, 6], [7, 8]]


def test_degrees_are_laid_into_the_plane_of_the_recordings(write):
    frame = Frame("degrees", (11.3, 47.2))
    line = frame.to_user(np.array([[0.0, 0.0], [50.0, -20.0]])).tolist()
    overlay = read_overlay(write({"type": "LineString", "coordinates": line})).placed(frame, SUPPORT, HERE)
    assert overlay.to_dict() == {"lines": [pytest.approx([0.0, 0.0, 50.0, -20.0], abs=0.01)], "points": []}


DAMAGED = {
    "no JSON": "{",
    "a list": "[]",
    "no type": "{}",
    "no features": {"type": "FeatureCollection"},
    "features are a number": {"type": "FeatureCollection", "features": 3},
    "a feature is a text": {"type": "FeatureCollection", "features": ["street"]},
    "an unknown geometry": {"type": "Circle", "coordinates": [0, 0]},
    "no coordinates": {"type": "LineString"},
    "a flat line": {"type": "LineString", "coordinates": [0, 1, 2]},
    "texts": {"type": "LineString", "coordinates": [["a", "b"], ["c", "d"]]},
    "one number": {"type": "LineString", "coordinates": [[1], [2]]},
    "ragged": {"type": "LineString", "coordinates": [[1, 2], [3]]},
    "no number": '{"type": "LineString", "coordinates": [[NaN, 2], [3, 4]]}',
    "nothing": {"type": "FeatureCollection", "features": []},
    "deep": '{"type": "GeometryCollection", "geometries": [' * 3000,
    "deep lists": '{"type": "LineString", "coordinates": ' + "[" * 100_000,
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_what_is_wrong_with_a_file_is_one_sentence(write, text):
    path = write(text)
    with pytest.raises(BadOverlay) as error:
        read_overlay(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(BadOverlay, match=r"nowhere.geojson: no such file"):
        read_overlay(Path("nowhere.geojson"))


@pytest.mark.parametrize(
    ("frame", "line", "reason"),
    [
        (Frame("degrees", (11.3, 47.2)), [[446000, 4636000], [446100, 4636100]], "no longitude and latitude"),
        (Frame("degrees", (11.3, 47.2)), [[-87.6, 41.8], [-87.5, 41.9]], "nothing of it lies where"),
        (Frame("plain", (446000.0, 4636000.0)), [[-87.6, 41.8], [-87.5, 41.9]], "nothing of it lies where"),
    ],
    ids=["metres over degrees", "another town", "degrees over metres"],
)
def test_other_coordinates_than_those_of_the_recordings_are_refused(write, frame, line, reason):
    overlay = read_overlay(write({"type": "LineString", "coordinates": line}))
    with pytest.raises(BadOverlay, match=f"streets.geojson: .*{reason}"):
        overlay.placed(frame, SUPPORT, HERE)
