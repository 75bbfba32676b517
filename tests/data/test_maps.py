"""Tracks in the formats of maps, location histories and places in cells become columns; what a map's file may
do to a reader is refused."""

import gzip
import importlib
import json
import struct
import zipfile

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import read_recordings
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset

GPX = """<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk><name>hike</name>
<trkseg><trkpt lat="47.1" lon="11.2"><ele>800</ele><time>2026-05-01T08:00:00Z</time></trkpt>
<trkpt lat="47.2" lon="11.3"><time>2026-05-01T08:00:05Z</time></trkpt></trkseg>
<trkseg><trkpt lat="47.3" lon="11.4"><time>2026-05-01T09:00:00Z</time></trkpt></trkseg></trk></gpx>"""

KML = """<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>
<Placemark><gx:Track><when>2026-05-01T08:00:00Z</when><when>2026-05-01T08:00:02Z</when>
<gx:coord>11.2 47.1 800</gx:coord><gx:coord>11.3 47.2 801</gx:coord></gx:Track></Placemark>
</Document></kml>"""

PORTO = """TRIP_ID,TAXI_ID,TIMESTAMP,POLYLINE
1,7,1372636858,"[[-8.61,41.14],[-8.62,41.15]]"
2,7,1372636951,[]
3,8,1372637000,"[[-8.63,41.16]]"
"""


def line(places, **properties):
    geometry = {"type": "LineString", "coordinates": places}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def read(tmp_path, name, content):
    """A file of bytes, of text, or of values as JSON."""
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path)


def columns_of(table, *names):
    return [table.numbers(name).tolist() for name in names]


@pytest.mark.parametrize(
    ("name", "content"), [("a.gpx", GPX.encode()), ("a.gpx.gz", gzip.compress(GPX.encode()))]
)
def test_segments_of_gpx_tracks_are_recordings_with_times(tmp_path, name, content):
    table = read(tmp_path, name, content)
    assert columns_of(table, "longitude", "latitude") == [[11.2, 11.3, 11.4], [47.1, 47.2, 47.3]]
    assert table.labels("episode") == ["0", "0", "1"]
    assert np.diff(table.clock("time").seconds).tolist() == [5.0, 3595.0]


def test_kml_tracks_and_lines_are_recordings(tmp_path):
    table = read(tmp_path, "a.kml", KML)
    assert columns_of(table, "latitude") == [[47.1, 47.2]]
    assert np.diff(table.clock("time").seconds).tolist() == [2.0]
    drawn = "<kml><LineString><coordinates>1,2,0 3,4,0\n5,6</coordinates></LineString></kml>"
    assert columns_of(read(tmp_path, "b.kml", drawn), "longitude") == [[1.0, 3.0, 5.0]]


def test_geojson_lines_are_recordings_and_points_are_rows_with_their_properties(tmp_path):
    times = ["2026-05-01T08:00:00Z", "2026-05-01T08:00:03Z"]
    lines = [line([[1, 2], [3, 4, 9]], coordTimes=times), line([[5, 6]])]
    table = read(tmp_path, "a.geojson", {"type": "FeatureCollection", "features": lines})
    assert columns_of(table, "longitude", "episode") == [[1.0, 3.0], [0, 0]]  # one place shows no move
    assert np.diff(table.clock("time").seconds).tolist() == [3.0]
    places = [{"type": "Point", "coordinates": [k, 2 * k]} for k in range(3)]
    points = [{"type": "Feature", "geometry": place, "properties": {"id": 7}} for place in places]
    table = read(tmp_path, "a.json", {"type": "FeatureCollection", "features": points})
    assert columns_of(table, "latitude", "id") == [[0.0, 2.0, 4.0], [7, 7, 7]]


@pytest.mark.parametrize(
    "values",
    [
        line([[446097, 4636565], [446100, 4636570]]),
        {**line([[1, 2], [3, 4]]), "crs": {"type": "name", "properties": {"name": "EPSG:32616"}}},
    ],
)
def test_geojson_in_metres_has_x_and_y(tmp_path, values):
    assert "x" in read(tmp_path, "a.geojson", values).columns


def wkb(*places, order="<", kind=None, extra=()):
    """Well-known binary of a point or a line."""
    kind = kind or (1 if len(places) == 1 else 2)
    head = struct.pack(f"{order}BI", order == "<", kind)
    count = struct.pack(f"{order}I", len(places)) if len(places) > 1 else b""
    return head + count + b"".join(struct.pack(f"{order}{2 + len(extra)}d", *p, *extra) for p in places)


def geoparquet(path, geometry, crs=None, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    about = {"primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB", "crs": crs}}}
    table = pyarrow.table({"geometry": pyarrow.array(geometry, pyarrow.binary()), **columns})
    table = table.replace_schema_metadata({"geo": json.dumps(about)})
    importlib.import_module("pyarrow.parquet").write_table(table, path)
    return read_table(path)


def test_geoparquet_points_lines_and_several_lines_in_one_geometry(tmp_path):
    points = [wkb((1, 2)), wkb((3, 4), order=">")]
    assert columns_of(geoparquet(tmp_path / "p.parquet", points, ship=["a", "b"]), "latitude") == [[2.0, 4.0]]
    lines = [wkb((1, 2), (3, 4), kind=1002, extra=(9.0,)), wkb((5, 6), (7, 8), (9, 1))]
    metres, when = {"type": "ProjectedCRS"}, [[0, 1], [0, 1, 2]]
    table = geoparquet(tmp_path / "l.parquet", lines, metres, when=when, ship=["a", "b"])
    assert columns_of(table, "x", "episode") == [[1, 3, 5, 7, 9], [0, 0, 1, 1, 1]]
    assert columns_of(table, "when") == [[0.0, 1.0, 0.0, 1.0, 2.0]]
    assert "".join(table.labels("ship")) == "aabbb"
    lines = [wkb((1, 2), (3, 4)), wkb((5, 6), (7, 8))]
    several = struct.pack("<BII", 1, 5, 2) + b"".join(lines)
    table = geoparquet(tmp_path / "m.parquet", [several, lines[0]], ship=["a", "b"])
    assert columns_of(table, "episode") == [[0, 0, 1, 1, 2, 2]]
    assert "".join(table.labels("ship")) == "aaaabb"
    with pytest.raises(BadDataset, match="its geometry is empty"):
        geoparquet(tmp_path / "e.parquet", [None, None])


BOMB = '<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><gpx><trk>&b;</trk></gpx>'


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.gpx", BOMB, "declares a document type"),
        ("a.gpx", BOMB.encode("utf-16"), "declares a document type"),
        ("a.gpx", "<a>" * 300, "a GPX file"),
        ("a.gpx", "<gpx><trk>", "a GPX file"),
        ("a.gpx", "<gpx></gpx>", "neither lines nor points"),
        ("a.gpx", '<gpx><trkseg><trkpt lat="1"/></trkseg></gpx>', "neither lines nor points"),
        ("a.kml", "<a>" * 300, "no XML"),
        ("a.kml", "<kml><Track><when>1</when></Track></kml>", "no tracks"),
        ("a.gpkg", "no map", "a GeoPackage"),
        ("a.shp", "no map", "a shapefile"),
        ("a.geojson", [1, 2], "no GeoJSON"),
        ("a.geojson", {"type": "FeatureCollection", "features": []}, "neither lines nor points"),
        ("a.geojson", line([["a", 1]]), "its geometry is empty"),
        ("a.geojson", line([[1, 2], [3, 4]], times=[1]), "2 places and 1 times"),
        ("a.geojson.gz", b"no gzip", "Not a gzipped file"),
        ("a.json", {"locations": []}, "its rows hold no values"),
        ("a.json", {"timelineObjects": []}, "known beside it are Records and Timeline"),
        ("a.json", [{"timelinePath": [{"point": "geo:1,2"}]}], "damaged or not a JSON file with tracks"),
        ("a.csv", "id;path\n1;[[1, 2]]\n2;[[1, 2\n", r"path holds '\[\[1, 2' in row 2, expected places"),
    ],
)
def test_what_is_no_track_is_one_sentence(name, content, sentence, tmp_path):
    with pytest.raises(BadDataset, match=sentence) as error:
        read(tmp_path, name, content)
    assert str(tmp_path / name) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("driver", ["GPKG", "FlatGeobuf", "ESRI Shapefile"])
@pytest.mark.parametrize("packed", [False, True])
def test_whatever_gdal_reads_is_read(driver, packed, tmp_path):
    pyogrio = pytest.importorskip("pyogrio")
    name = {"GPKG": "a.gpkg", "FlatGeobuf": "a.fgb", "ESRI Shapefile": "a.shp"}[driver]
    lines = [[(east + 0.1 * k, 47.0 + k) for k in range(4)] for east in (11.0, 12.0)]
    shapes = np.array([wkb(*places) for places in lines], dtype=object)
    fields = {"field_data": [np.array([7, 8])], "fields": ["car"], "geometry_type": "LineString"}
    pyogrio.raw.write(tmp_path / name, shapes, driver=driver, crs="EPSG:4326", **fields)
    source = tmp_path / name
    if packed:
        source = tmp_path / "all.zip"
        with zipfile.ZipFile(source, "w") as file:
            for path in tmp_path.glob("a.*"):
                file.write(path, path.name)
    tracks = read_recordings([source], Columns(), None).tracks
    assert sorted(track.values.tolist() for track in tracks) == [list(map(list, places)) for places in lines]


def test_layers_in_metres_have_x_and_y(tmp_path):
    pyogrio = pytest.importorskip("pyogrio")
    pyogrio.raw.write(
        tmp_path / "a.gpkg", np.array([wkb((1, 2)), wkb((3, 4))], dtype=object), [], [],
        driver="GPKG", crs="EPSG:32616", geometry_type="Point",
    )  # fmt: skip
    assert columns_of(read_table(tmp_path / "a.gpkg"), "y") == [[2.0, 4.0]]


@pytest.mark.parametrize(
    "time", [{"timestamp": "2023-05-01T10:00:10.123Z"}, {"timestampMs": "1682935210123"}], ids=["new", "old"]
)
def test_records_of_takeout_are_rows_in_degrees_with_times(tmp_path, time):
    row = {"latitudeE7": 525000001, "longitudeE7": -134000000, "activity": [{"type": "STILL"}], **time}
    table = read(tmp_path, "Records.json", {"locations": [row, row, time]})
    columns = Columns().found_in(table)
    assert columns.coordinates == ("longitude", "latitude")
    np.testing.assert_allclose(table.numbers("latitude"), [52.5000001, 52.5000001, np.nan])
    np.testing.assert_allclose(table.numbers("longitude")[0], -13.4)
    np.testing.assert_allclose(table.clock(columns.time).seconds, 1682935210.123)


@pytest.mark.parametrize(
    ("values", "place", "time"),
    [
        (
            {
                "semanticSegments": [
                    {"timelinePath": [{"point": "-52.5°, 13.4°", "time": "2024-05-01T08:00:00Z"}]}
                ]
            },
            (13.4, -52.5),
            1714550400.0,
        ),
        (
            [
                {
                    "startTime": "2024-05-01T10:00:00.000+02:00",
                    "timelinePath": [{"point": "geo:-52.5,13.4", "durationMinutesOffsetFromStartTime": "3"}],
                }
            ],
            (13.4, -52.5),
            1714550400.0 + 180.0,
        ),
    ],
    ids=["times", "minutes from the beginning of a segment"],
)
def test_paths_of_a_timeline_are_recordings(tmp_path, values, place, time):
    table = read(tmp_path, "Timeline.json", values)
    assert columns_of(table, "longitude", "latitude", "episode") == [[place[0]], [place[1]], [0]]
    assert table.clock("time").seconds.tolist() == [time]


def test_a_list_of_objects_is_a_table_and_nested_places_are_columns(tmp_path):
    table = read(tmp_path, "a.json", [{"id": 4, "lat": 1.5, "lng": 2.5, "t": k} for k in range(3)])
    assert Columns().found_in(table).coordinates == ("lng", "lat")
    assert columns_of(table, "t") == [[0.0, 1.0, 2.0]]
    row = {"t": 1, "translation": [4.0, 5.0, 6.0], "at": {"x": 7}, "tags": ["a"]}
    found = set(read(tmp_path, "b.json", [row]).columns)
    assert {"t", "translation.0", "translation.1", "translation.2", "at.x"} <= found


def test_a_value_in_every_line_is_a_row_or_a_line_of_a_map(tmp_path):
    assert columns_of(read(tmp_path, "a.jsonl", '{"x": 1, "y": 2}\n{"x": 3, "y": 4}\n'), "y") == [[2.0, 4.0]]
    feature = json.dumps(line([[11.0, 47.0], [11.1, 47.0]]))
    assert columns_of(read(tmp_path, "a.geojsonl", f"{feature}\n{feature}\n"), "episode") == [[0, 0, 1, 1]]


def test_places_of_a_trip_are_rows_without_the_time_at_which_it_began(tmp_path):
    table = read(tmp_path, "a.csv", PORTO)
    assert columns_of(table, "longitude", "episode", "TAXI_ID") == [
        [-8.61, -8.62, -8.63],
        [0, 0, 2],
        [7, 7, 8],
    ]
    assert Columns().found_in(table).time is None
    table = read(tmp_path, "a.csv", "path;times\n[[1,2],[3,4]];[5,9]\n[[1,2]];[3]\n")
    assert table.clock("time").seconds.tolist() == [5.0, 9.0, 3.0]


def test_well_known_text_is_read(tmp_path):
    table = read(tmp_path, "a.csv", "t;geom\n1;POINT (3 4)\n2;POINT(5 6)\n")
    assert columns_of(table, "latitude", "t") == [[4.0, 6.0], [1.0, 2.0]]
    table = read(tmp_path, "a.csv", "t;geom\n1;LINESTRING Z(3000 4 0, 5 6 0)\n")
    assert columns_of(table, "y") == [[4.0, 6.0]]


@pytest.mark.parametrize("cell", ["{}, {}", "({}, {})", "[{},{}]"])
def test_two_degrees_in_a_cell_are_a_place_if_their_order_is_known(tmp_path, cell):
    rows = "".join(f'{t},"{cell.format(41.5 + t, 12.5)}"\n' for t in range(3))
    for name, axis in (("latlon", "latitude"), ("Lat/Lng", "latitude"), ("lonlat", "longitude")):
        assert columns_of(read(tmp_path, "a.csv", f"t,{name}\n{rows}"), axis) == [[41.5, 42.5, 43.5]]
    with pytest.raises(BadDataset, match=r"--header t,latlon or --header t,lonlat$"):
        read(tmp_path, "a.csv", f"t,place\n{rows}")


def test_two_numbers_in_a_cell_beside_coordinates_are_no_place(tmp_path):
    table = read(tmp_path, "a.csv", 'lon,lat,range\n12.5,41.5,"1.5,2.5"\n')
    assert list(table.columns) == ["lon", "lat", "range"]
