"""Files that are not read, and how others turn them into such that are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_TABLE = "save it as CSV, which every spreadsheet can do, and import that"
_MAP = "convert it: ogr2ogr -f GeoJSON {stem}.geojson {name}"
_LOG = "export the topic with the poses as CSV (PlotJuggler does, or `rostopic echo -b {name} -p /odom`)"
_ARRAYS = "save its arrays with np.savez, as x, y, episode and time or observations, terminals and timeouts"
PICKLE = f"pickles are not opened, because they can run programs; {_ARRAYS}"
"""Of files that hold Python objects."""
_ARCHIVE = "unpack it and import the folder"

_ADVICE = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _TABLE),
    **dict.fromkeys((".shp", ".gpkg", ".gdb", ".fgb", ".gml", ".sqlite", ".tab"), _MAP),
    **dict.fromkeys((".bag", ".db3", ".mcap"), _LOG),
    **dict.fromkeys((".h5", ".hdf5", ".mat", ".nc", ".pt", ".zarr"), _ARRAYS),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), PICKLE),
    **dict.fromkeys((".7z", ".rar"), _ARCHIVE),
    ".fit": "convert it: gpsbabel -i garmin_fit -f {name} -o gpx -F {stem}.gpx",
    ".feather": "save it as Parquet: pandas.read_feather({name!r}).to_parquet({parquet!r})",
    ".arrow": "save it as Parquet: pandas.read_feather({name!r}).to_parquet({parquet!r})",
}


def advice(path: Path) -> str:
    """What to do with a file that is not read, "" where nothing is known about it."""
    told = _ADVICE.get(path.suffix.lower(), "")
    return told.format(name=path.name, stem=path.stem, parquet=f"{path.stem}.parquet")


def advice_on(paths: Iterable[Path]) -> str:
    """The same about the first of some files that something is known about."""
    return next((f"{path.name}: {told}" for path in paths if (told := advice(path))), "")
