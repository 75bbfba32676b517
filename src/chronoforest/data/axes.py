"""Which of two coordinates is the longitude and which the latitude, or whether they are x and y: asked here
for cells of places, files without a header, layers of a map and whole recordings. From it follow the plane
that recordings are laid into, and what lies outside of it or of a region."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from chronoforest.data.frames import Frame, centre_of, plainly
from chronoforest.data.names import holds
from chronoforest.data.tracks import Finding, Tracks, kept
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray

Units = Literal["auto", "degrees", "plain"]

Region = tuple[float, float, float, float]
"""West, south, east and north, or the least x and y and the largest."""


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
    """Whether coordinates move as degrees do: finely, slower than sound and, unless named, far from 0."""
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


def axes_of(tracks: Tracks, units: Units, are_degrees: bool, has_clock: bool) -> Axes:
    """What the coordinates of recordings are, by the user's units or by their columns' names; refused where
    they are called degrees and cannot be."""
    is_known = {"degrees": True, "plain": False, "auto": are_degrees or None}[units]
    moves, speeds = tracks.moves[tracks.is_step], tracks.speeds[tracks.is_step]
    axes = coordinate_axes(tracks.places, is_known, moves, speeds if has_clock else None)
    turned = tracks.places[:, ::-1] if axes.is_swapped else tracks.places
    if axes.is_degrees and can_be_degrees(turned).mean() < 0.8:
        other = "; write parts of degrees, such as millionths, as degrees first"
        other += "" if units == "degrees" else "; --units plain takes them as they are"
        raise BadDataset(
            f"{tracks.names[0]}: degrees must be longitude, then latitude; {_spans(tracks.places)}{other}"
        )
    # Who says that these are degrees also knows the poles.
    return Axes(True) if units == "degrees" and not axes.is_certain else axes


def longitude_first(tracks: Tracks, axes: Axes) -> tuple[Tracks, Finding]:
    """Tracks whose coordinates are swapped where the latitude comes first."""
    if not axes.is_swapped:
        return tracks, Finding("swapped axes", "no")
    largest = float(np.abs(tracks.places[:, 1]).max())
    finding = Finding("swapped axes", f"latitudes up to {largest:.6g}", "swapped")
    return tracks.placed(tracks.places[:, ::-1]), finding


def within(tracks: Tracks, region: Region) -> tuple[Tracks, Finding]:
    """The parts of tracks inside a region, of two rows or more."""
    is_inside = np.all((tracks.places >= region[:2]) & (tracks.places <= region[2:]), axis=1)
    if not (is_inside[1:] & is_inside[:-1] & tracks.is_step).any():
        (left, bottom), (right, top) = np.quantile(tracks.places, (0.01, 0.99), axis=0)
        raise BadDataset(
            f"{tracks.names[0]}: no two rows after another lie in the region {region}, x or longitude "
            f"first; most lie from {left:.9g}, {bottom:.9g} to {right:.9g}, {top:.9g}"
        )
    parts = tracks.cut(np.diff(is_inside)).where(is_inside)
    return parts, Finding("region", f"{len(tracks.time) - len(parts.time)} rows elsewhere", "left out")


def chosen_frame(
    tracks: Tracks, axes: Axes, origin: tuple[float, float] | None, has_clock: bool
) -> tuple[Frame, Finding]:
    """The frame of recordings; a step lasts a second until it is known how long."""
    places, second = tracks.places, float(has_clock)
    if not axes.is_degrees:
        frame = Frame("plain", origin or _origin(places), second)
        shift = f"planned from {frame.show(frame.origin)} on" if any(frame.origin) else "kept as they are"
        return frame, Finding("coordinates", _spans(places), shift)
    frame = Frame("degrees", origin or centre_of(places[can_be_degrees(places)]), second)
    east = np.abs(frame.to_local(places[_is_somewhere(places, frame)])[:, 0])
    off = float(np.cosh(east.max(initial=0.0) / 6_371_000.0) - 1)  # by the radius of the earth
    done = f"metres around {frame.show(frame.origin)}"
    done += f"; lengths up to {100 * off:.1f} % too long at the edges" if off > 0.001 else ""
    return frame, Finding("coordinates", "longitude and latitude", done)


def without_nowhere(tracks: Tracks, frame: Frame) -> tuple[Tracks, Finding]:
    """Leave out rows without a fix or beyond any plane; refused where they are a fifth of all."""
    is_known = _is_somewhere(tracks.places, frame)
    num_odd, num_rows = int((~is_known).sum()), len(is_known)
    if num_odd > 0.2 * num_rows:
        raise BadDataset(
            f"{tracks.names[0]}: {num_odd} of {num_rows} rows lie more than 3000 km from "
            f"{frame.show(frame.origin)} or have no fix; import one region at a time: {_busiest(tracks)}"
        )
    return kept(tracks, is_known, "no fix", "left out")


def placed(tracks: Tracks, frame: Frame) -> Tracks:
    """Tracks in the plane of a frame; 32-bit numbers must tell their steps apart."""
    moved = tracks.placed(frame.to_local(tracks.places))
    largest, hops = float(np.abs(moved.places).max()), moved.hops[moved.hops > 0]
    hop = float(np.median(hops)) if len(hops) else 0.0
    if not (largest < 1e30 and largest * np.finfo(np.float32).eps < 0.02 * hop):
        other = f"import one region: {_busiest(tracks)}" if frame.is_degrees else "set --region or --origin"
        raise BadDataset(
            f"{moved.names[0]}: coordinates up to {plainly(largest)} from the origin cannot show moves "
            f"of {hop:.3g} in 32 bits; {other}"
        )
    return moved


def _busiest(tracks: Tracks) -> str:
    """An option for the square of one degree that holds most rows."""
    corners, counts = np.unique(np.floor(tracks.places), axis=0, return_counts=True)
    west, south = corners[np.argmax(counts)]
    share = 100 * counts.max() / counts.sum()
    return f"--region {west:g} {south:g} {west + 1:g} {south + 1:g}, where {share:.0f} % of the rows lie"


def _is_somewhere(places: FloatArray, frame: Frame) -> BoolArray:
    """[n] whether places have a fix and lie within 3,000 km of the origin, as far as a plane is a picture."""
    if not frame.is_degrees:
        return np.asarray((places != 0.0).any(axis=1) | (not any(frame.origin)))
    known = can_be_degrees(places)
    local = frame.to_local(np.where(known[:, None], places, frame.origin))
    return known & (np.abs(local) <= 3e6).all(axis=1)


def _origin(places: FloatArray) -> tuple[float, float]:
    """0, 0, or a whole number amid places that lie three times the size of the world away from it."""
    low, high = np.quantile(places[(places != 0.0).any(axis=1)], (0.01, 0.99), axis=0)
    span = float((high - low).max())
    if not np.isfinite(span) or (np.abs((low + high) / 2) <= 3.0 * span).all():
        return 0.0, 0.0
    x, y = np.rint((low + high) / 2)
    return float(x), float(y)


def _spans(places: FloatArray) -> str:
    (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
    return f"the first in [{left:.9g}, {right:.9g}], the second in [{bottom:.9g}, {top:.9g}]"
