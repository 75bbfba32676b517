"""What receivers write line by line: NMEA 0183, and the IGC files of gliders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from numpy.typing import NDArray

from chronoforest.data.geofiles import Points
from chronoforest.errors import BadDataset

NMEA_FIX = re.compile(
    r"\$..RMC,(?P<time>\d{6})(?:\.\d+)?,A,(?P<north>\d{2})(?P<north_minutes>[\d.]+),(?P<is_north>[NS]),"
    r"(?P<east>\d{3})(?P<east_minutes>[\d.]+),(?P<is_east>[EW]),[^,]*,[^,]*,(?P<date>\d{6})"
)
"""The sentence of NMEA that has a date; A stands for a fix that is sound."""

IGC_DATE = re.compile(r"^HFDTE(?:DATE)?:?\s*(\d{6})", re.MULTILINE)
IGC_FIX = re.compile(
    r"^B(?P<time>\d{6})(?P<north>\d{2})(?P<north_minutes>\d{5})(?P<is_north>[NS])"
    r"(?P<east>\d{3})(?P<east_minutes>\d{5})(?P<is_east>[EW])",
    re.MULTILINE,
)
"""The day of a flight, and a fix with minutes in thousandths."""

Row = tuple[tuple[float, float], datetime]


def read_nmea(content: bytes) -> dict[str, NDArray[Any]]:
    """The fixes of a log are a recording."""
    found = NMEA_FIX.finditer(content.decode("latin-1"))
    rows = [(_place(fix, 1.0), _when(fix["date"], fix["time"])) for fix in found]
    return _columns(rows, "it has no RMC sentence of NMEA with a fix")


def read_igc(content: bytes) -> dict[str, NDArray[Any]]:
    """The fixes of a flight are a recording."""
    return _columns(list(_flown(content.decode("latin-1"))), "it has no B record below an HFDTE record")


def _flown(text: str) -> Iterator[Row]:
    """Fixes of a flight; one that is earlier than the one before is of the next day."""
    date = IGC_DATE.search(text)
    if date is None:
        return
    last, midnights = "", 0
    for fix in IGC_FIX.finditer(text):
        midnights, last = midnights + (fix["time"] < last), fix["time"]
        yield _place(fix, 1000.0), _when(date[1], fix["time"]) + timedelta(days=midnights)


def _columns(rows: list[Row], nothing: str) -> dict[str, NDArray[Any]]:
    if not rows:
        raise BadDataset(nothing)
    points = Points()
    points.add("0", [place for place, _ in rows], [time.isoformat() for _, time in rows])
    return points.columns()


def _place(fix: re.Match[str], parts: float) -> tuple[float, float]:
    """Longitude and latitude; parts: of a minute."""
    north = int(fix["north"]) + float(fix["north_minutes"]) / parts / 60.0
    east = int(fix["east"]) + float(fix["east_minutes"]) / parts / 60.0
    return east if fix["is_east"] == "E" else -east, north if fix["is_north"] == "N" else -north


def _when(date: str, time: str) -> datetime:
    """Of a day, month and year and an hour, minute and second, two digits each."""
    return datetime.strptime(date + time, "%d%m%y%H%M%S")
