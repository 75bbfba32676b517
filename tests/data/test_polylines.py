"""A row for every trip with its places in one cell becomes a row for every place."""

import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset

PORTO = """TRIP_ID,TAXI_ID,TIMESTAMP,POLYLINE
1,7,1372636858,"[[-8.61,41.14],[-8.62,41.15]]"
2,7,1372636951,[]
3,8,1372637000,"[[-8.63,41.16]]"
"""


def read(path, text):
    path.write_text(text)
    return read_table(path)


def test_places_of_a_trip_are_rows_without_the_time_at_which_it_began(tmp_path):
    table = read(tmp_path / "a.csv", PORTO)
    assert table.numbers("longitude").tolist() == [-8.61, -8.62, -8.63]
    assert table.labels("episode") == ["0", "0", "2"]
    assert table.labels("TAXI_ID") == ["7", "7", "8"]
    assert Columns().found_in(table).time is None


def test_a_list_of_times_goes_with_its_places(tmp_path):
    table = read(tmp_path / "a.csv", "path;times\n[[1,2],[3,4]];[5,9]\n[[1,2]];[3]\n")
    assert table.clock("time").seconds.tolist() == [5.0, 9.0, 3.0]


def test_well_known_text_is_read(tmp_path):
    table = read(tmp_path / "a.csv", "t;geom\n1;POINT (3 4)\n2;POINT(5 6)\n")
    assert table.numbers("latitude").tolist() == [4.0, 6.0]
    assert table.clock("t").seconds.tolist() == [1.0, 2.0]
    table = read(tmp_path / "a.csv", "t;geom\n1;LINESTRING Z(3000 4 0, 5 6 0)\n")
    assert table.numbers("y").tolist() == [4.0, 6.0]


def test_a_cell_that_holds_something_else_is_named(tmp_path):
    with pytest.raises(BadDataset, match=r"a\.csv: path holds '\[\[1, 2' in row 2, expected places"):
        read(tmp_path / "a.csv", "id;path\n1;[[1, 2]]\n2;[[1, 2\n")


@pytest.mark.parametrize("cell", ["{}, {}", "({}, {})", "[{},{}]"])
def test_two_degrees_in_a_cell_are_a_place_if_their_order_is_known(tmp_path, cell):
    rows = "".join(f'{t},"{cell.format(41.5 + 0.1 * t, 12.5)}"\n' for t in range(3))
    for name in ("latlon", "Lat/Lng"):
        table = read(tmp_path / "a.csv", f"t,{name}\n{rows}")
        assert table.numbers("latitude").tolist() == pytest.approx([41.5, 41.6, 41.7])
    table = read(tmp_path / "a.csv", f"t,lonlat\n{rows}")
    assert table.numbers("longitude").tolist() == pytest.approx([41.5, 41.6, 41.7])
    with pytest.raises(BadDataset, match=r"--header t,latlon or --header t,lonlat$"):
        read(tmp_path / "a.csv", f"t,place\n{rows}")


def test_two_numbers_in_a_cell_beside_coordinates_are_no_place(tmp_path):
    table = read(tmp_path / "a.csv", 'lon,lat,range\n12.5,41.5,"1.5,2.5"\n')
    assert list(table.columns) == ["lon", "lat", "range"]
