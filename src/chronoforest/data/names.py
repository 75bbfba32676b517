"""Names that people give their columns, in several languages, and how they are compared."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from chronoforest.data.clocks import UNIT_WORDS

NAMES: dict[str, tuple[str, ...]] = {
    kind: tuple(names.split())
    for kind, names in {
        # Words, one of which a name holds.
        "longitude": (
            "lon lng long longitude longitud longitudine länge laenge längengrad laengengrad "
            "долгота 经度 経度"
        ),
        "latitude": "lat latitude latitud latitudine breite breitengrad широта 纬度 緯度",
        # Of a trip's two ends, which are no track.
        "end": (
            "start end pickup dropoff origin destination dest from to begin departure arrival orig pick drop"
        ),
        # Of what has a direction, too, or says how sure a place is: lonVelocity, twist.x.
        "no place": (
            "velocity vel speed acceleration accel acc jerk heading course v a q orientation rotation "
            "quaternion quat twist linear angular force torque action actions error accuracy std stddev "
            "sigma variance covariance"
        ),
        "place": "position pos p translation location center centre",
        # Whole names, in lower case, letters and digits alone; of several that are there the first is taken.
        "x": (
            "x easting east utmx xutm utmeasting posx positionx pointx px tx xm xcoord coordx localx "
            "xcenter rechtswert observationstate0 observations0"
        ),
        "y": (
            "y northing north utmy yutm utmnorthing posy positiony pointy py ty ym ycoord coordy localy "
            "ycenter hochwert observationstate1 observations1"
        ),
        "trip": (
            "episode episodeid episodeindex trip tripid track trackid trajectory trajectoryid trajid "
            "journey journeyid ride rideid run runid recording recordingid session sessionid segment "
            "segmentid flightid voyage voyageid fahrt fahrtid viaje viajeid trajet trajetid shapeid tour "
            "tourid"
        ),
        "vehicle": (
            "mmsi vehicle vehicleid vid device deviceid taxi taxiid bus busid icao24 imo vessel vesselid "
            "ship shipid individuallocalidentifier taglocalidentifier animalid agent agentid object "
            "objectid user userid driver driverid cab cabid car carid truck truckid bike bikeid person "
            "personid uid imei licenseplate platenumber fahrzeug fahrzeugid player playerid pedestrian "
            "pedestrianid ped pedid devicetag vehiculo vehículo véhicule vehicule veiculo veículo id"
        ),
        "time": (
            "time timestamp basedatetime datetime dateandtime t seconds utc utctime timeutc datetimeutc "
            "epoch epochtime unixtime gpstime eventtime recordedat fixtime globaltime ts when sec secs "
            "millis milliseconds gpsdatetime gpstimestamp unixtimestamp createdat recordtime locationtime "
            "positiontime zeit zeitstempel zeitpunkt uhrzeit fechahora hora horodatage heure datahora "
            "tiempo temps stamp headerstamp date datum fecha"
        ),
        "day": "date datum fecha gpsdate utcdate datelocal dateutc day",
        # What pictures and points are counted by: an order, but no clock.
        "count": "frame frameid frameindex framenumber sequence seq shapeptsequence",
        # Columns that are true in the last row of an episode, as they are.
        "last row": "terminals timeouts truncations",
        "unit": "s sec secs seconds utc gmt unix iso",
    }.items()
}
"""What columns are called, by what they hold."""


@lru_cache(maxsize=2**16)  # asked several times for each column of a wide table
def plain(name: str) -> str:
    """Lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


@lru_cache(maxsize=2**16)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, however they are joined, in lower case."""
    apart = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(word.lower() for word in re.findall(r"[^\W\d_]+", apart))


def without_unit(name: str) -> str:
    """A plain name without the words of its unit, or as it is where nothing else is left."""
    units = {*NAMES["unit"], *UNIT_WORDS}
    return "".join(word for word in words_of(name) if word not in units) or plain(name)


def is_time(name: str) -> bool:
    """Whether a column is called like a time or an order, with or without its unit."""
    return bool({plain(name), without_unit(name)} & {*NAMES["time"], *NAMES["count"]})


def holds(name: str, *kinds: str) -> bool:
    """Whether a word of some kinds is in a name; longitude and latitude also where joined to others."""
    words, joined = {word for kind in kinds for word in NAMES[kind]}, plain(name)
    return not words.isdisjoint(words_of(name)) or any(word in joined for word in words if len(word) >= 8)


def has_axes(names: Iterable[str]) -> bool:
    """Whether coordinates have columns of their own."""
    known = list(names)
    east, north = ([name for name in known if holds(name, kind)] for kind in ("longitude", "latitude"))
    return bool(east and north and east != north) or {"x", "y"} <= set(map(plain, known))


def nanoseconds_beside(name: str, names: Collection[str]) -> str | None:
    """The column of nanoseconds that belongs to one of whole seconds: stamp.nanosec to stamp.sec."""
    stem = re.sub(r"sec(s|onds)?$", "", name)
    ends = ("nsec", "nsecs", "nanosec", "nanosecs", "nanoseconds") if stem != name else ()
    return next((stem + end for end in ends if stem + end in names), None)


def listed(names: Iterable[str], between: str = ", ", most: int = 50) -> str:
    """Names with commas between them; of very many the first, and how many there are."""
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return between.join(known[:most]) + more
