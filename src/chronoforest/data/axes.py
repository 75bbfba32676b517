"""Which of two coordinates is the longitude and which the latitude, or whether they are x and y: asked here
for cells of places, files without a header, layers of a map and whole recordings."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from chronoforest.data.names import holds
from chronoforest.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Axes:
    """What two coordinates are: is_degrees; is_swapped: the latitude comes first; is_certain: the other order
    does not fit."""

    is_degrees: bool
    is_swapped: bool = False
    is_certain: bool = True


def coordinate_axes(
    places: FloatArray,
    is_told: bool | None = None,
    steps: FloatArray | None = None,
    speeds: FloatArray | None = None,
    is_named: bool = True,
) -> Axes:
    """What coordinates [n, 2] are, by their values.

    is_told: whether they are degrees, where names, the file or the user say; steps: [m, 2] from row to row,
    speeds: [m] per second where there is a clock, without which ranges alone count; is_named: they are called
    x, y or the like, which degrees rarely are.
    """
    known = places[(places != 0.0).any(axis=1)]  # 0, 0 is what receivers say that know nothing
    fits, fits_turned = (
        len(known) == 0 or float(can_be_degrees(turned).mean()) >= 0.8 for turned in (known, known[:, ::-1])
    )
    if is_told is False or not (is_told or fits or fits_turned):
        return Axes(False)
    known = known if fits else known[:, ::-1]
    if not is_told and steps is not None and not _look_like_degrees(known, steps, speeds, is_named):
        return Axes(False)
    if not (fits and fits_turned):
        return Axes(True, fits_turned)
    # Beyond 84 degrees, where UTM ends, hardly anything moves: the second coordinate is then no latitude.
    first, second = np.median(np.abs(places), axis=0)
    return Axes(True, bool(second > 84.0 > first), not bool((np.abs(places) > 1.0).any()))


def can_be_degrees(places: FloatArray) -> BoolArray:
    """[n] whether places can be longitude and latitude; 0, 0 means that there was no fix."""
    return np.asarray((np.abs(places) <= (360.0, 90.0)).all(axis=1) & (places != 0.0).any(axis=1))


def order_of(*names: str) -> str:
    """lonlat or latlon by the names of two columns, or of one of places (Lat/Lng); "" where neither."""
    if len(names) == 1:
        found = re.search(r"(lat|lon|lng)[a-z]*[\W_]*(lat|lon|lng)", names[0], re.IGNORECASE)
        names = (found[1], found[2]) if found else ("", "")
    for order, kinds in {"latlon": ("latitude", "longitude"), "lonlat": ("longitude", "latitude")}.items():
        if all(holds(name, kind) for name, kind in zip(names, kinds, strict=True)):
            return order
    return ""


def _look_like_degrees(
    places: FloatArray, steps: FloatArray, speeds: FloatArray | None, is_named: bool
) -> bool:
    """Whether coordinates move as degrees do: in small fractions, never as fast as sound (0.003 degrees a
    second) and, where they are called something else, far from 0, where made-up worlds lie."""
    if len(places) == 0 or not (np.abs(places) <= (180.0, 90.0)).all():
        return False
    if speeds is not None and len(speeds) and float(np.quantile(speeds, 0.95)) > 0.003:
        return False
    extent, step = np.ptp(places, axis=0), np.abs(steps).max(axis=1, initial=0.0)
    if not is_named:
        is_far = bool((np.abs(places).max(axis=0) > 1.0).all())
        return is_far and bool((extent < 20.0).all()) and float(np.median(step)) < 0.5
    span = float(np.linalg.norm(extent))
    is_far = bool((np.abs(np.median(places, axis=0)) > 3.0 * span).all())
    is_fine = float(np.median(step)) < 2e-3 and float(np.quantile(step, 0.95)) < 0.02
    return is_far and span < 5.0 and is_fine
