"""Location histories and lists of rows in JSON."""

import json

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset


def table_of(tmp_path, values):
    path = tmp_path / "Records.json"
    path.write_text(json.dumps(values))
    return read_table(path)


@pytest.mark.parametrize(
    "time", [{"timestamp": "2023-05-01T10:00:10.123Z"}, {"timestampMs": "1682935210123"}], ids=["new", "old"]
)
def test_records_of_takeout_are_rows_in_degrees_with_times(tmp_path, time):
    row = {"latitudeE7": 525000001, "longitudeE7": -134000000, "activity": [{"type": "STILL"}], **time}
    table = table_of(tmp_path, {"locations": [row, row]})
    columns = Columns().found_in(table)
    assert columns.coordinates == ("longitude", "latitude")
    np.testing.assert_allclose(table.numbers("latitude"), 52.5000001)
    np.testing.assert_allclose(table.numbers("longitude"), -13.4)
    np.testing.assert_allclose(table.clock(columns.time).seconds, 1682935210.123)


def test_rows_without_a_place_are_empty(tmp_path):
    rows = [{"latitudeE7": 10**7, "longitudeE7": 10**7, "timestampMs": "1"}, {"timestampMs": "2"}]
    table = table_of(tmp_path, {"locations": rows})
    np.testing.assert_array_equal(table.numbers("latitude"), [1.0, np.nan])


def test_paths_of_a_timeline_are_recordings(tmp_path):
    path = [{"point": "52.5°, 13.4°", "time": "2024-05-01T10:00:00.000+02:00"}] * 2
    table = table_of(tmp_path, {"semanticSegments": [{"visit": {}}, {"timelinePath": path}]})
    assert table.numbers("longitude").tolist() == [13.4, 13.4]
    assert table.numbers("latitude").tolist() == [52.5, 52.5]
    assert set(table.labels("episode")) == {"1"}
    assert table.clock("time").seconds[0] == 1714550400.0


def test_a_timeline_of_a_phone_counts_minutes_from_its_segments(tmp_path):
    path = [{"point": "geo:-52.5,13.4", "durationMinutesOffsetFromStartTime": "3"}]
    table = table_of(tmp_path, [{"startTime": "2024-05-01T10:00:00.000+02:00", "timelinePath": path}])
    assert table.numbers("latitude").tolist() == [-52.5]
    assert table.clock("time").seconds.tolist() == [1714550400.0 + 180.0]


def test_a_list_of_objects_is_a_table(tmp_path):
    table = table_of(tmp_path, [{"id": 4, "lat": 1.5, "lng": 2.5, "t": k} for k in range(3)])
    assert Columns().found_in(table).coordinates == ("lng", "lat")
    assert table.numbers("t").tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"locations": []}, "its rows hold no values"),
        ({"timelineObjects": []}, "known beside it are Records and Timeline"),
        ([1, 2], "known beside it are Records and Timeline"),
        ([{"timelinePath": [{"point": "geo:1,2"}]}], "damaged or not a JSON file with tracks"),
    ],
)
def test_what_holds_no_tracks_is_refused_in_a_sentence(tmp_path, values, sentence):
    with pytest.raises(BadDataset, match=sentence):
        table_of(tmp_path, values)


def test_nested_places_are_columns(tmp_path):
    row = {"t": 1, "translation": [4.0, 5.0, 6.0], "at": {"x": 7}, "tags": ["a"]}
    table = table_of(tmp_path, [row])
    assert {"t", "translation.0", "translation.1", "translation.2", "at.x"} <= set(table.columns)


def test_a_value_in_every_line_is_a_row_or_a_line_of_a_map(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "y": 2}\n{"x": 3, "y": 4}\n')
    assert read_table(tmp_path / "a.jsonl").numbers("y").tolist() == [2.0, 4.0]
    line = {"type": "LineString", "coordinates": [[11.0, 47.0], [11.1, 47.0]]}
    feature = json.dumps({"type": "Feature", "properties": {}, "geometry": line})
    (tmp_path / "a.geojsonl").write_text(f"{feature}\n{feature}\n")
    assert read_table(tmp_path / "a.geojsonl").labels("episode") == ["0", "0", "1", "1"]
