"""Three hundred malformed GPX, GeoJSON, CSV and Parquet files, and some KML, PLT, lists of places, dates and
archives: imported soundly or refused in one sentence that names the file."""

import importlib
import io
import json
import struct
import zipfile

import numpy as np
import pytest
from damage import cases, damaged_bytes, mutated, places
from hypothesis import given
from hypothesis import strategies as st

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.errors import ChronoForestError

NUM_ROWS = 30
LON = 11.3 + 1e-4 * np.arange(NUM_ROWS)
LAT = 47.2 + 1e-4 * np.sin(np.arange(NUM_ROWS))
TIMES = [f"2026-05-01T08:{k // 60:02d}:{k % 60:02d}Z" for k in range(NUM_ROWS)]

POINTS = [
    f'<trkpt lat="{y:.6f}" lon="{x:.6f}"><ele>8</ele><time>{t}</time></trkpt>'
    for x, y, t in zip(LON, LAT, TIMES, strict=True)
]
GPX = f'<gpx version="1.1"><trk><trkseg>{"".join(POINTS)}</trkseg></trk></gpx>'
WHENS, COORDS = (
    "".join(f"<{tag}>{value}</{tag}>" for value in values)
    for tag, values in (("when", TIMES), ("gx:coord", [f"{x} {y} 0" for x, y in zip(LON, LAT, strict=True)]))
)
KML = f'<kml xmlns:gx="g"><Placemark><gx:Track>{WHENS}{COORDS}</gx:Track></Placemark></kml>'
COORDINATES = np.stack([LON, LAT], axis=1).tolist()
LINE = {
    "type": "Feature",
    "geometry": {"type": "LineString", "coordinates": COORDINATES},
    "properties": {"coordTimes": TIMES, "name": "a"},
}
GEOJSON = {"type": "FeatureCollection", "features": [LINE, LINE]}
CSV = "MMSI,BaseDateTime,LAT,LON,SOG\n" + "\n".join(
    f"7,{t},{y},{x},{k % 3}" for k, (x, y, t) in enumerate(zip(LON, LAT, TIMES, strict=True))
)

COLUMNS = [Columns(), Columns(states=("SOG",)), Columns(actions=("SOG",))]

ODD_TEXTS = [
    *(
        "",
        "nan",
        "1e400",
        "-inf",
        "x",
        "&b;",
        "<a>",
        "</trkseg>",
        "<!DOCTYPE gpx>",
        "<!ENTITY a 'b'>",
        "\x00",
    ),
    *('lat="999"', 'lon=""', "<time>noon</time>", ",,,", '"', "9" * 400, "١", "\n", "é"),
]


@st.composite
def damaged_text(draw, text):
    """A text with some pieces replaced, cut or doubled, sometimes with broken bytes."""
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(text)))
        last = min(len(text), first + draw(st.integers(0, 40)))
        text = text[:first] + draw(st.sampled_from([*ODD_TEXTS, text[first:last] * 2])) + text[last:]
    content = text.encode()
    return draw(damaged_bytes(content)) if content and draw(st.booleans()) else content


def wkb(*line):
    return struct.pack("<BII", 1, 2, len(line)) + b"".join(struct.pack("<2d", *place) for place in line)


def parquet(geo=None, **columns):
    """A Parquet file of some columns; geo: the metadata of GeoParquet."""
    pyarrow = importlib.import_module("pyarrow")
    table = pyarrow.table(columns)
    if geo is not None:
        table = table.replace_schema_metadata({"geo": geo})
    file = io.BytesIO()
    importlib.import_module("pyarrow.parquet").write_table(table, file)
    return file.getvalue()


ABOUT = {"primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB", "crs": None}}}


def parquets():
    """Damaged bytes, damaged geometry, damaged metadata, and columns of odd types."""
    pytest.importorskip("pyarrow")
    whole = parquet(json.dumps(ABOUT), geometry=[wkb(*COORDINATES)] * 2)
    geometry = damaged_bytes(wkb(*COORDINATES)).map(lambda g: parquet(json.dumps(ABOUT), geometry=[g]))
    about = mutated(ABOUT, list(places(ABOUT))).map(
        lambda geo: parquet(json.dumps(geo), geometry=[wkb(*COORDINATES)])
    )
    cells = [LON, TIMES, [None] * NUM_ROWS, [[1.0, 2.0]] * NUM_ROWS, [True] * NUM_ROWS, [{"a": 1}] * NUM_ROWS]
    columns = st.tuples(*[st.sampled_from(cells)] * 3)
    odd = columns.map(lambda chosen: parquet(**dict(zip(("x", "y", "time"), chosen, strict=True))))
    return st.one_of(damaged_bytes(whole), geometry, about, odd)


def ends_in_a_sentence(folder, name, content, columns=Columns()):  # noqa: B008
    """Import a file; whatever is wrong with it is one line that names it."""
    path = folder / name
    path.write_bytes(content)
    try:
        episodes = import_files([path], columns, ImportParams()).episodes
    except ChronoForestError as error:
        sentence = str(error)
    else:
        assert np.isfinite(episodes.observations).all()
        sentence = f"{path} holds {episodes.frame.summary()}"
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence) < 700


@cases(75)
@given(st.one_of(damaged_text(json.dumps(GEOJSON)), mutated(GEOJSON, list(places(GEOJSON))).map(json.dumps)))
def test_malformed_geojson(tmp_path_factory, content):
    content = content.encode() if isinstance(content, str) else content
    ends_in_a_sentence(tmp_path_factory.getbasetemp(), "odd.geojson", content)


@cases(75)
@given(st.data())
def test_malformed_parquet(tmp_path_factory, data):
    ends_in_a_sentence(tmp_path_factory.getbasetemp(), "odd.parquet", data.draw(parquets()))


HEAD = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"
PLT = HEAD + "\n".join(
    f"{y:.6f},{x:.6f},0,492,39744.1,{t[:10]},{t[11:19]}" for x, y, t in zip(LON, LAT, TIMES, strict=True)
)
TRIPS = "TRIP_ID,TIMESTAMP,POLYLINE\n" + "\n".join(
    f'{trip},1372636858,"{json.dumps(COORDINATES)}"' for trip in range(2)
)
DAYS = "id;Datum;Uhrzeit;Breite;Länge\n" + "\n".join(
    f"7;01.05.2026;{t[11:19]};{y:.6f};{x:.6f}".replace(".", ",").replace("01,05,2026", "01.05.2026")
    for x, y, t in zip(LON, LAT, TIMES, strict=True)
)
NAMELESS = "\n".join(f"7,{t},{x:.6f},{y:.6f}" for x, y, t in zip(LON, LAT, TIMES, strict=True))
TEXTS = {
    "odd.gpx": GPX,
    "odd.csv": CSV,
    "odd.kml": KML,
    "odd.plt": PLT,
    "trips.csv": TRIPS,
    "days.csv": DAYS,
    "nameless.txt": NAMELESS,
}


@pytest.mark.parametrize("name", TEXTS)
def test_malformed_text(tmp_path_factory, name):
    @cases(50)
    @given(damaged_text(TEXTS[name]), st.sampled_from(COLUMNS if name == "odd.csv" else COLUMNS[:1]))
    def check(content, columns):
        ends_in_a_sentence(tmp_path_factory.getbasetemp(), name, content, columns)

    check()


def packed(content):
    """An archive of two tracks, the first of them with some content."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tracks/a.csv", content)
        archive.writestr("tracks/b.plt", PLT)
    return file.getvalue()


@cases(40)
@given(st.one_of(damaged_bytes(packed(CSV)), damaged_text(CSV).map(packed)))
def test_malformed_archives(tmp_path_factory, content):
    ends_in_a_sentence(tmp_path_factory.getbasetemp(), "odd.zip", content)


BINARY = {
    "odd.geojson": json.dumps(GEOJSON).encode(),
    "odd.parquet": parquet(json.dumps(ABOUT), geometry=[wkb(*COORDINATES)] * 2),
    "odd.zip": packed(CSV),
}


@pytest.mark.parametrize("name", sorted({*TEXTS, *BINARY} - {"nameless.txt"}))
def test_the_unharmed_files_are_imported_alike(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(BINARY.get(name) or TEXTS[name].encode())
    episodes = import_files([path], Columns(), ImportParams()).episodes
    assert episodes.frame.is_degrees
    assert episodes.frame.has_clock == (name not in ("odd.parquet", "trips.csv"))
    places = episodes.frame.to_user(episodes.xy[0].astype(float))
    np.testing.assert_allclose(places, np.array(COORDINATES)[: len(places)], atol=1e-6)
