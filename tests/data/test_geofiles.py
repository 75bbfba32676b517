"""Tracks in the formats of maps become columns; what a map's file may do to a reader is refused."""

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


def line(places, **properties):
    geometry = {"type": "LineString", "coordinates": places}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def read(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path)


def test_segments_of_gpx_tracks_are_recordings_with_times(tmp_path):
    table = read(tmp_path, "a.gpx", GPX)
    assert table.numbers("longitude").tolist() == [11.2, 11.3, 11.4]
    assert table.numbers("latitude").tolist() == [47.1, 47.2, 47.3]
    assert table.labels("episode") == ["0", "0", "1"]
    assert np.diff(table.clock("time").seconds).tolist() == [5.0, 3595.0]


def test_packed_files_are_read_as_they_are(tmp_path):
    table = read(tmp_path, "a.gpx.gz", gzip.compress(GPX.encode()))
    assert len(table) == 3


def test_kml_tracks_and_lines_are_recordings(tmp_path):
    table = read(tmp_path, "a.kml", KML)
    assert table.numbers("latitude").tolist() == [47.1, 47.2]
    assert np.diff(table.clock("time").seconds).tolist() == [2.0]
    drawn = "<kml><LineString><coordinates>1,2,0 3,4,0\n5,6</coordinates></LineString></kml>"
    assert read(tmp_path, "b.kml", drawn).numbers("longitude").tolist() == [1.0, 3.0, 5.0]


def test_geojson_lines_are_recordings(tmp_path):
    times = ["2026-05-01T08:00:00Z", "2026-05-01T08:00:03Z"]
    values = {
        "type": "FeatureCollection",
        "features": [line([[1, 2], [3, 4, 9]], coordTimes=times), line([[5, 6]])],
    }
    table = read(tmp_path, "a.geojson", json.dumps(values))
    assert table.numbers("longitude").tolist() == [1.0, 3.0]  # a line of one place shows no move
    assert table.labels("episode") == ["0", "0"]
    assert np.diff(table.clock("time").seconds).tolist() == [3.0]


def test_geojson_points_are_rows_with_their_properties(tmp_path):
    places = [{"type": "Point", "coordinates": [k, 2 * k]} for k in range(3)]
    points = [{"type": "Feature", "geometry": place, "properties": {"id": 7}} for place in places]
    table = read(tmp_path, "a.json", json.dumps({"type": "FeatureCollection", "features": points}))
    assert table.numbers("latitude").tolist() == [0.0, 2.0, 4.0]
    assert table.labels("id") == ["7", "7", "7"]


def test_geojson_in_metres_has_x_and_y(tmp_path):
    for values in (
        line([[446097, 4636565], [446100, 4636570]]),
        {**line([[1, 2], [3, 4]]), "crs": {"type": "name", "properties": {"name": "EPSG:32616"}}},
    ):
        assert "x" in read(tmp_path, "a.geojson", json.dumps(values)).columns


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
    return path


def test_geoparquet_points_and_lines(tmp_path):
    path = geoparquet(tmp_path / "p.parquet", [wkb((1, 2)), wkb((3, 4), order=">")], ship=["a", "b"])
    table = read_table(path)
    assert table.numbers("latitude").tolist() == [2.0, 4.0]
    lines = [wkb((1, 2), (3, 4), kind=1002, extra=(9.0,)), wkb((5, 6), (7, 8), (9, 1))]
    path = geoparquet(
        tmp_path / "l.parquet", lines, {"type": "ProjectedCRS"}, when=[[0, 1], [0, 1, 2]], ship=["a", "b"]
    )
    table = read_table(path)
    assert table.numbers("x").tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]
    assert table.labels("episode") == ["0", "0", "1", "1", "1"]
    assert table.numbers("when").tolist() == [0.0, 1.0, 0.0, 1.0, 2.0]
    assert table.labels("ship") == ["a", "a", "b", "b", "b"]


def test_every_line_of_a_geometry_is_a_recording(tmp_path):
    lines = [wkb((1, 2), (3, 4)), wkb((5, 6), (7, 8))]
    several = struct.pack("<BII", 1, 5, 2) + b"".join(lines)
    path = geoparquet(tmp_path / "m.parquet", [several, lines[0]], ship=["a", "b"])
    table = read_table(path)
    assert table.labels("episode") == ["0", "0", "1", "1", "2", "2"]
    assert table.labels("ship") == ["a", "a", "a", "a", "b", "b"]
    with pytest.raises(BadDataset, match="its geometry is empty"):
        read_table(geoparquet(tmp_path / "e.parquet", [None, None]))


def test_lists_in_parquet_become_columns(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.table({"observation.state": [[1.0, 2.0], [3.0, 4.0]], "episode_index": [0, 0]})
    importlib.import_module("pyarrow.parquet").write_table(rows, tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").numbers("observation.state.1").tolist() == [2.0, 4.0]


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
        ("a.geojson", "[1, 2]", "no GeoJSON"),
        ("a.geojson", '{"type": "FeatureCollection", "features": []}', "neither lines nor points"),
        ("a.geojson", json.dumps(line([["a", 1]])), "its geometry is empty"),
        ("a.geojson", json.dumps(line([[1, 2], [3, 4]], times=[1])), "2 places and 1 times"),
        ("a.geojson.gz", b"no gzip", "Not a gzipped file"),
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
    assert read_table(tmp_path / "a.gpkg").numbers("y").tolist() == [2.0, 4.0]
