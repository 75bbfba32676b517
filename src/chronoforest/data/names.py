"""Names that people give their columns, in several languages, and how they are compared."""

from __future__ import annotations

import re
from collections.abc import Collection

from chronoforest.data.clocks import CALLED

LONGITUDES = {
    *("lon", "lng", "long", "longitude", "longitud", "longitudine", "länge", "laenge"),
    *("längengrad", "laengengrad", "долгота", "经度", "経度"),
}
LATITUDES = {
    *("lat", "latitude", "latitud", "latitudine", "breite", "breitengrad"),
    *("широта", "纬度", "緯度"),
}
"""Words, one of which a column's name holds."""

ENDS = {
    *("start", "end", "pickup", "dropoff", "origin", "destination", "dest", "from", "to", "begin"),
    *("departure", "arrival", "orig", "pick", "drop"),
}
"""Words in the names of a trip's two ends, which are no track."""

NO_PLACES = {
    *("velocity", "vel", "speed", "acceleration", "accel", "acc", "jerk", "heading", "course", "v", "a", "q"),
    *("orientation", "rotation", "quaternion", "quat", "twist", "linear", "angular", "force", "torque"),
    *("action", "actions", "error", "accuracy", "std", "stddev", "sigma", "variance", "covariance"),
}
"""Words in the names of what has a direction, too, or says how sure a place is: lonVelocity, twist.x."""

POSITIONS = {"position", "pos", "p", "translation", "location", "center", "centre"}
"""Words in the names of places, where several columns end with x or are numbered."""

EPISODE_ENDS = ("terminals", "timeouts", "truncations")
"""Columns that are true in the last row of an episode."""

PLANES = (
    ("x", "y"),
    ("easting", "northing"),
    ("east", "north"),
    ("utmx", "utmy"),
    ("xutm", "yutm"),
    ("utmeasting", "utmnorthing"),
    ("posx", "posy"),
    ("positionx", "positiony"),
    ("pointx", "pointy"),
    ("px", "py"),
    ("tx", "ty"),
    ("xm", "ym"),
    ("xcoord", "ycoord"),
    ("coordx", "coordy"),
    ("localx", "localy"),
    ("xcenter", "ycenter"),
    ("rechtswert", "hochwert"),
    ("observationstate0", "observationstate1"),
    ("observations0", "observations1"),
)
TRIPS = (
    *("episode", "episodeid", "episodeindex", "trip", "tripid", "track", "trackid", "trajectory"),
    *("trajectoryid", "trajid", "journey", "journeyid", "ride", "rideid", "run", "runid", "recording"),
    *("recordingid", "session", "sessionid", "segment", "segmentid", "flightid", "voyage", "voyageid"),
    *("fahrt", "fahrtid", "viaje", "viajeid", "trajet", "trajetid", "shapeid", "tour", "tourid"),
)
VEHICLES = (
    *("mmsi", "vehicle", "vehicleid", "vid", "device", "deviceid", "taxi", "taxiid", "bus", "busid"),
    *("icao24", "imo", "vessel", "vesselid", "ship", "shipid", "individuallocalidentifier"),
    *("taglocalidentifier", "animalid", "agent", "agentid", "object", "objectid", "user", "userid"),
    *("driver", "driverid", "cab", "cabid", "car", "carid", "truck", "truckid", "bike", "bikeid"),
    *("person", "personid", "uid", "imei", "licenseplate", "platenumber", "fahrzeug", "fahrzeugid"),
    *("player", "playerid", "pedestrian", "pedestrianid", "ped", "pedid", "devicetag"),
    *("vehiculo", "vehículo", "véhicule", "vehicule", "veiculo", "veículo", "id"),
)
TIMES = (
    *("time", "timestamp", "basedatetime", "datetime", "dateandtime", "t", "seconds", "utc", "utctime"),
    *("timeutc", "datetimeutc", "epoch", "epochtime", "unixtime", "gpstime", "eventtime", "recordedat"),
    *("fixtime", "globaltime", "ts", "when", "sec", "secs", "millis", "milliseconds", "gpsdatetime"),
    *("gpstimestamp", "unixtimestamp", "createdat", "recordtime", "locationtime", "positiontime"),
    *("zeit", "zeitstempel", "zeitpunkt", "uhrzeit", "fechahora", "hora", "horodatage", "heure"),
    *("datahora", "tiempo", "temps", "stamp", "headerstamp", "date", "datum", "fecha"),
)
"""Names in lower case, letters and digits alone; of several that are there the first is taken."""

DATES = ("date", "datum", "fecha", "gpsdate", "utcdate", "datelocal", "dateutc", "day")
"""Columns of days, beside one of hours."""

FRAMES = ("frame", "frameid", "frameindex", "framenumber", "sequence", "seq", "shapeptsequence")
"""What pictures and points are counted by: an order, but no clock."""

UNITS = {*CALLED, "s", "sec", "secs", "seconds", "utc", "gmt", "unix", "iso"}
"""Words that may stand beside a time's name."""


def plain(name: str) -> str:
    """Lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def words_of(name: str) -> set[str]:
    """The words of a name, however they are joined, in lower case."""
    return set(_in_order(name))


def without_unit(name: str) -> str:
    """A plain name without the words that tell its unit, or as it is where nothing else is left."""
    return "".join(word for word in _in_order(name) if word not in UNITS) or plain(name)


def is_time(name: str) -> bool:
    """Whether a column is called like a time or an order, with or without its unit."""
    return bool({plain(name), without_unit(name)} & {*TIMES, *FRAMES})


def holds(name: str, words: set[str]) -> bool:
    """Whether one of the words is in a name; longitude and latitude also where they are joined to others."""
    joined = plain(name)
    return bool(words_of(name) & words) or any(word in joined for word in words if len(word) >= 8)


def nanoseconds_beside(name: str, names: Collection[str]) -> str | None:
    """The column of nanoseconds that belongs to one of whole seconds: stamp.nanosec to stamp.sec."""
    stem = re.sub(r"sec(s|onds)?$", "", name)
    ends = ("nsec", "nsecs", "nanosec", "nanosecs", "nanoseconds") if stem != name else ()
    return next((stem + end for end in ends if stem + end in names), None)


def _in_order(name: str) -> list[str]:
    apart = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", apart)]
