"""Frames: the coordinates and the clock of recordings, and the plane and the steps that are planned in.

Longitude and latitude are laid into a plane by a transverse Mercator projection whose central meridian runs
through the origin (Krüger's series on WGS 84, to the fourth power of the flattening): angles are kept,
lengths are off by 0.003 % at 50 km east or west of the origin and by 0.1 % at 285 km, and the way back is
exact to a micrometre, at any latitude and across the antimeridian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from chronoforest.errors import InvalidParameter
from chronoforest.types import BoolArray, FloatArray

KINDS = ("plain", "degrees")

SEMI_MAJOR, FLATTENING = 6_378_137.0, 1 / 298.257223563  # WGS 84
ECCENTRICITY = float(np.sqrt(FLATTENING * (2 - FLATTENING)))

_N = FLATTENING / (2 - FLATTENING)
RADIUS = SEMI_MAJOR / (1 + _N) * (1 + _N**2 / 4 + _N**4 / 64)
FORWARD = (
    _N / 2 - 2 * _N**2 / 3 + 5 * _N**3 / 16 + 41 * _N**4 / 180,
    13 * _N**2 / 48 - 3 * _N**3 / 5 + 557 * _N**4 / 1440,
    61 * _N**3 / 240 - 103 * _N**4 / 140,
    49561 * _N**4 / 161280,
)
BACKWARD = (
    -_N / 2 + 2 * _N**2 / 3 - 37 * _N**3 / 96 + _N**4 / 360,
    -(_N**2) / 48 - _N**3 / 15 + 437 * _N**4 / 1440,
    -17 * _N**3 / 480 + 37 * _N**4 / 840,
    -4397 * _N**4 / 161280,
)
"""Coefficients of Krüger's series, from the sphere that keeps angles to the plane and back."""


@dataclass(frozen=True)
class Frame:
    """Where the plane lies in the user's coordinates, and how long a step lasts.

    kind: `plain` coordinates are only shifted; `degrees` are longitude and latitude, and the plane is in
    metres. origin: what is (0, 0) in the plane. step_seconds: of a recorded step, 0 where there was no clock.
    """

    kind: str = "plain"
    origin: tuple[float, ...] = (0.0, 0.0)
    step_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidParameter(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if len(self.origin) != 2 or not np.isfinite(self.origin).all():
            raise InvalidParameter(f"origin must be two finite numbers, got {self.origin}")
        if not self.is_known(np.array(self.origin)).all():
            raise InvalidParameter(f"origin must be longitude and latitude, got {self.origin}")
        if not 0 <= self.step_seconds < np.inf:
            raise InvalidParameter(f"step_seconds must be 0 or more, got {self.step_seconds}")

    @property
    def is_degrees(self) -> bool:
        """Whether the user's coordinates are longitude and latitude."""
        return self.kind == "degrees"

    @property
    def has_clock(self) -> bool:
        """Whether a step lasts a known time."""
        return self.step_seconds > 0

    @property
    def unit(self) -> str:
        """Of lengths in the plane."""
        return "m" if self.is_degrees else "units"

    @property
    def time_unit(self) -> str:
        """Of times."""
        return "s" if self.has_clock else "steps"

    @property
    def speed_unit(self) -> str:
        """Of speeds."""
        return f"{self.unit}/{'s' if self.has_clock else 'step'}"

    @property
    def axes(self) -> tuple[str, str]:
        """What the user's two coordinates are called."""
        return ("longitude", "latitude") if self.is_degrees else ("x", "y")

    @property
    def decimals(self) -> int:
        """Digits after the point that keep a place: a millimetre in degrees."""
        return 8 if self.is_degrees else 5

    def is_known(self, points: FloatArray) -> BoolArray:
        """[..., 2] → [...] whether the user's coordinates can be places of this frame."""
        if not self.is_degrees:
            return np.ones(points.shape[:-1], dtype=bool)
        return np.asarray((np.abs(points) <= (360.0, 90.0)).all(axis=-1))

    def to_local(self, points: FloatArray) -> FloatArray:
        """[..., 2] the user's coordinates → [..., 2] in the plane."""
        if not self.is_degrees:
            return points - self.origin if any(self.origin) else points
        longitude, latitude = self.origin
        return _projected(points, longitude) - _projected(np.array([longitude, latitude]), longitude)

    def to_user(self, points: FloatArray) -> FloatArray:
        """[..., 2] in the plane → [..., 2] the user's coordinates."""
        if not self.is_degrees:
            return points + self.origin if any(self.origin) else points
        longitude, latitude = self.origin
        offset = _projected(np.array([longitude, latitude]), longitude)
        degrees = _unprojected(np.asarray(points, dtype=np.float64) + offset)
        least = 0.0 if longitude > 180.0 else -180.0
        degrees[..., 0] = (degrees[..., 0] + longitude - least) % 360.0 + least
        return degrees

    def seconds(self, steps: FloatArray) -> FloatArray:
        """Steps as seconds, or as they are without a clock."""
        return steps * self.step_seconds if self.has_clock else steps

    def show(self, point: FloatArray | Sequence[float]) -> str:
        """A place in the user's coordinates as a person would write it."""
        digits = 6 if self.is_degrees else 3
        return "(" + ", ".join(f"{round(float(value), digits):.12g}" for value in point) + ")"

    def show_local(self, point: FloatArray) -> str:
        """A place in the plane, written in the user's coordinates."""
        return self.show(self.to_user(point))

    def summary(self) -> str:
        """One line for people."""
        clock = f"a step is {self.step_seconds:.3g} s" if self.has_clock else "no clock"
        if self.is_degrees:
            return f"longitude and latitude around {self.show(self.origin)}, planned in metres; {clock}"
        shift = f"from {self.show(self.origin)} on" if any(self.origin) else "as given"
        return f"coordinates {shift}; {clock}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "origin": list(self.origin)}

    @classmethod
    def from_dict(cls, values: Any) -> Frame:
        """The inverse of `to_dict`; ValueError or InvalidParameter where the values are no frame's."""
        try:
            kind, origin, seconds = (values[name] for name in ("kind", "origin", "step_seconds"))
            return cls(str(kind), tuple(float(value) for value in origin), float(seconds))
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"a frame has kind, origin and step_seconds, got {values!r:.80}") from error


def plainly(number: float) -> str:
    """Three digits that count, thousands without an exponent."""
    return f"{float(f'{number:.3g}'):.10g}"


def centre_of(degrees: FloatArray) -> tuple[float, float]:
    """Longitude and latitude amid places [n, 2], wherever the antimeridian runs; 0 to 360 stays so. The
    middle of the better half of the circle is taken, so that a few stray ones do not count."""
    angle = np.radians(degrees[:, 0])
    mean = np.degrees(np.arctan2(np.sin(angle).mean(), np.cos(angle).mean()))
    longitude = float(mean + np.median((degrees[:, 0] - mean + 180.0) % 360.0 - 180.0))
    least = 0.0 if np.median(degrees[:, 0]) > 180.0 else -180.0
    longitude = (longitude - least) % 360.0 + least
    return round(longitude, 6), round(float(np.median(degrees[:, 1])), 6)


def _projected(degrees: FloatArray, meridian: float) -> FloatArray:
    """[..., 2] longitude and latitude → [..., 2] metres east of a meridian and north of the equator."""
    wrapped = (np.asarray(degrees, dtype=np.float64)[..., 0] - meridian + 180.0) % 360.0 - 180.0
    angle, tangent = np.radians(wrapped), _conformal(np.tan(np.radians(degrees[..., 1])))
    north = np.arctan2(tangent, np.cos(angle))
    east = np.arcsinh(np.sin(angle) / np.hypot(tangent, np.cos(angle)))
    place = _with_series(north + 1j * east, FORWARD)
    return RADIUS * np.stack([place.imag, place.real], axis=-1)


def _unprojected(metres: FloatArray) -> FloatArray:
    """The inverse of `_projected`, in degrees east of its meridian."""
    place = _with_series((metres[..., 1] + 1j * metres[..., 0]) / RADIUS, BACKWARD)
    north, east = place.real, place.imag
    angle = np.arctan2(np.sinh(east), np.cos(north))
    conformal = np.sin(north) / np.hypot(np.sinh(east), np.cos(north))
    rest = 1 - ECCENTRICITY**2
    tangent = conformal / rest
    for _ in range(5):  # Newton's method
        found = _conformal(tangent)
        slope = np.hypot(1.0, tangent) * rest / (1 + rest * tangent**2)
        tangent = tangent + (conformal - found) / np.hypot(1.0, found) / slope
    return np.degrees(np.stack([angle, np.arctan(tangent)], axis=-1))


def _with_series(place: Any, coefficients: Sequence[float]) -> Any:
    """Krüger's series at complex places north + i east."""
    terms = (value * np.sin(2 * k * place) for k, value in enumerate(coefficients, start=1))
    return place + sum(terms)


def _conformal(tangent: FloatArray) -> FloatArray:
    """Tangent of the latitude on the sphere that keeps angles, from that on the ellipsoid."""
    secant = np.hypot(1.0, tangent)
    shift = np.sinh(ECCENTRICITY * np.arctanh(ECCENTRICITY * tangent / secant))
    return np.asarray(tangent * np.hypot(1.0, shift) - shift * secant)
