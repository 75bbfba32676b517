"""Times as people write them; what is not plain seconds is told."""

import numpy as np
import pytest

from chronoforest.data.columns import Columns, Table
from chronoforest.data.imports import read_recordings
from chronoforest.errors import BadDataset


def clock(name, *cells, **others):
    columns = {key: np.array(values, dtype=object) for key, values in {name: cells, **others}.items()}
    return Table("a.csv", columns).clock(name)


@pytest.mark.parametrize(
    ("name", "cells", "told"),
    [
        ("t", ("1372665308", "1372665310"), ""),
        ("t", ("1372665308000", "1372665310000"), "milliseconds since 1970"),
        ("t", ("1372665308000000", "1372665310000000"), "microseconds since 1970"),
        ("t_us", ("0", "2000000"), "microseconds"),
        ("t", ("31/05/2026 10:00:00", "31/05/2026 10:00:02"), "dates with the day first"),
        ("t", ("5/31/2026 9:59:59 AM", "5/31/2026 10:00:01 AM"), "dates with the month first"),
        ("t", ("31.05.26 23:59:59", "1.06.26 0:00:01"), "dates with the day first"),
        ("t", ("31-May-2026 10:00:00.5", "31-May-2026 10:00:02,5"), "dates with the day first"),
        ("t", ("2026/05/31 11:59:59 PM", "2026/06/01 12:00:01 AM"), "dates with the year first"),
        ("t", ("9:59:59", "10:00:01.0"), "hours of a day"),
        ("t", ("41456.3312345000", "41456.3312576481"), "days of a spreadsheet"),
        ("t", ("45000.1", "45002.1"), ""),
        ("t", ("2014-02-01 00:00:00.7+01", "2014-01-31 23:00:02.7Z"), ""),
    ],
)
def test_two_seconds_are_two_seconds(name, cells, told):
    found = clock(name, *cells)
    np.testing.assert_allclose(np.diff(found.seconds), 2.0, atol=1e-3)
    assert found.writing == told


def test_of_two_orders_the_one_that_keeps_the_rows_together_is_taken_and_told():
    for first, second, told in (("01/07", "02/07", "day first"), ("07/01", "07/02", "month first")):
        found = clock("t", f"{first}/2013 10:00:00", f"{second}/2013 10:00:00")
        assert np.diff(found.seconds).tolist() == [86400.0]
        assert told in found.writing
        assert "would fit too" in found.writing


def test_days_of_another_column_are_put_before_hours():
    found = clock("Hora", "23:59:59", "00:00:01", Fecha=("31/05/2026", "01/06/2026"))
    assert np.diff(found.seconds).tolist() == [2.0]


def test_plain_dates_are_the_same_read_at_once_and_one_by_one():
    cells = ["2026-05-01T10:00:00Z", "2026-05-01 10:00:01.25", "", "1969-12-31T23:59:59.000001Z"]
    slowly = clock("t", *cells, "2026-05-01T12:00:00+02:00").seconds
    np.testing.assert_array_equal(clock("t", *cells).seconds, slowly[:4])
    assert slowly[4] == slowly[0]


@pytest.mark.parametrize("cell", ["2026-13-01T10:00:00Z", "2026-05-01T25:00:00Z"])
def test_a_date_that_there_is_not_is_named(cell):
    with pytest.raises(BadDataset, match=f"t holds '{cell}' in row 2"):
        clock("t", "2026-05-01T10:00:00Z", cell)


@pytest.mark.parametrize(
    "cells",
    [
        ["Sat Apr 02 23:50:55 CDT 2011", "Sat Apr 02 23:50:58 CDT 2011"],
        ["Sat, 02 Apr 2011 23:50:55 -0500", "Sat, 02 Apr 2011 23:50:58 -0500"],
        ["2 April 2011 23:50:55", "2 April 2011 23:50:58"],
        ["Apr 2, 2011 11:50:55 PM", "Apr 2, 2011 11:50:58 PM"],
    ],
)
def test_months_may_have_their_names(cells):
    assert clock("t", *cells).seconds.tolist() == [1301788255.0, 1301788258.0]


def test_dates_in_digits_are_no_milliseconds():
    found = clock("t", "20110402235055", "20110403000001", "")
    assert found.writing == "dates in digits"
    assert found.seconds[:2].tolist() == [1301788255.0, 1301788801.0]
    assert np.isnan(found.seconds[2])
    assert clock("t", "20110402235099", "20110403000001").writing == "milliseconds since 1970"


def test_hours_in_digits_follow_the_days_of_another_column():
    hours = [f"{93000 + k}" for k in range(30)]
    table = Table("t.csv", {"GPS_DATE": np.array(30 * ["20110402"]), "GPS_TIME": np.array(hours)})
    assert table.clock("GPS_TIME").seconds.tolist() == [1301736600.0 + k for k in range(30)]
    seconds = [f"{50000 + 7 * k}" for k in range(30)]
    table = Table("t.csv", {"date": np.array(30 * ["20110402"]), "time": np.array(seconds)})
    assert table.clock("time").seconds[0] == 50000.0


def test_one_cell_of_many_may_be_no_time_whichever_way_days_are_written():
    cells = [f"{day:02d}/04/2011 10:00" for day in range(1, 29)]
    assert clock("t", "local", *cells).writing == "dates with the day first"


def test_hours_of_a_day_run_on_past_midnight(tmp_path):
    times = ["23:59:50", "23:59:55", "00:00:00", "00:00:05", "00:00:10"]
    rows = "".join(f"{car},{time},{k},{k * k}\n" for k, time in enumerate(times) for car in "ab")
    (tmp_path / "a.csv").write_text(f"car,time,x,y\n{rows}")
    tracks = read_recordings([tmp_path / "a.csv"], Columns(), None).tracks
    assert [np.diff(track.time).tolist() for track in tracks] == [[5.0] * 4] * 2
