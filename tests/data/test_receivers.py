"""Logs of receivers and flights have places and times."""

import numpy as np
import pytest

from chronoforest.data.tables import read_table
from chronoforest.errors import BadDataset

NMEA = """$GPGGA,225446.00,4916.45,S,12311.12,W,1,08,0.9,400.0,M,46.9,M,,*47
$GPRMC,225446.00,A,4916.45,S,12311.12,W,000.5,054.7,191124,020.3,E*68
$GPRMC,225447.00,V,,,,,,,191124,,*33
$GNRMC,225449,A,4916.46,N,12311.12,E,,,191124,020.3,E*68
"""

IGC = """AXCT8a7
HFDTEDATE:191124,01
I013638FXA
B2359584716450N01111500EA0123401256005
LXCT B0000004716450N01111500E
B0000014716456N01111500WA0123401256005
"""


@pytest.mark.parametrize("name", ["a.nmea", "a.log"])
def test_sound_fixes_of_nmea_are_rows(tmp_path, name):
    (tmp_path / name).write_text(NMEA)
    table = read_table(tmp_path / name)
    np.testing.assert_allclose(table.numbers("latitude"), [-(49 + 16.45 / 60), 49 + 16.46 / 60])
    np.testing.assert_allclose(table.numbers("longitude"), [-(123 + 11.12 / 60), 123 + 11.12 / 60])
    assert table.times("time").tolist() == [1732056886.0, 1732056889.0]


def test_a_flight_goes_on_after_midnight(tmp_path):
    (tmp_path / "a.igc").write_text(IGC)
    table = read_table(tmp_path / "a.igc")
    np.testing.assert_allclose(table.numbers("latitude"), [47 + 16.45 / 60, 47 + 16.456 / 60])
    np.testing.assert_allclose(table.numbers("longitude"), [11 + 11.5 / 60, -(11 + 11.5 / 60)])
    assert np.diff(table.times("time")).tolist() == [3.0]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("a.log", "no RMC sentence of NMEA"), ("a.igc", "no B record below an HFDTE record")],
)
def test_what_has_no_fix_is_one_sentence(tmp_path, name, sentence):
    (tmp_path / name).write_text("10:00 started\n")
    with pytest.raises(BadDataset, match=sentence):
        read_table(tmp_path / name)
