"""What is not read is refused with what to do about it."""

import zipfile

import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import read_recordings
from chronoforest.errors import BadDataset


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ride.fit", "gpsbabel -i garmin_fit -f ride.fit -o gpx -F ride.gpx$"),
        ("lap.tcx", "gpsbabel -i gtrnctr -f lap.tcx -o gpx"),
        ("flight.igc", "gpsbabel -i igc -f flight.igc -o gpx"),
        ("fixes.nmea", "gpsbabel -i nmea -f fixes.nmea -o gpx"),
        ("roads.gml", "ogr2ogr -f GeoJSON roads.geojson roads.gml$"),
        ("walk.pkl", "pickles are not opened, because they can run programs; save its arrays with np.savez"),
        ("maze.hdf5", "save its arrays with np.savez"),
        ("fleet.xlsx", "save it as CSV"),
        ("day.7z", "unpack it"),
    ],
)
def test_a_file_alone_in_a_folder_and_in_an_archive_says_what_to_do(tmp_path, name, sentence):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(b"\x80\x04.")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
        file.write(folder / name, name)
    for source in (folder / name, folder, tmp_path / "all.zip"):
        with pytest.raises(BadDataset, match=sentence):
            read_recordings([source], Columns(), None)
