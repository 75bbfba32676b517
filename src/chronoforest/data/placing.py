"""Where recordings lie: degrees are recognised and laid into a plane of metres, far coordinates get an
origin."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chronoforest.data.cleaning import Finding, Tracks, kept, with_places
from chronoforest.data.frames import Frame, centre_of, plainly
from chronoforest.data.regions import busiest
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import BoolArray, FloatArray

Units = Literal["auto", "degrees", "plain"]

FAR = 3.0
"""Coordinates are far from 0 when they lie so many times the size of the world away from it."""

FARTHEST = 3_000_000.0
"""Metres from the origin beyond which a plane is no picture of the globe any more."""

LEAST_TOLD = 0.001
"""Share by which lengths must be off to be worth a word."""

MOST_NOWHERE = 0.2
"""Share of rows without a fix that are left out; with more of them something else is wrong."""

EARTH = 6_371_000.0


def chosen_frame(
    tracks: Tracks, units: Units, are_degrees: bool, origin: tuple[float, float] | None
) -> tuple[Frame, Finding]:
    """The frame of recordings, without their clock.

    units: told, or `auto` to find out; are_degrees: by the names of their columns.
    """
    places = np.concatenate([track.values[:, :2] for track in tracks])
    if units == "degrees" or (units == "auto" and (are_degrees or _look_like_degrees(places, tracks))):
        _refuse_no_degrees(tracks[0].recording, places, units)
        frame = Frame("degrees", origin or centre_of(places[_can_be_degrees(places)]))
        return frame, Finding("coordinates", "longitude and latitude", _distortion(frame, places))
    frame = Frame("plain", origin or _origin(places))
    shift = f"planned from {frame.show(frame.origin)} on" if any(frame.origin) else "kept as they are"
    return frame, Finding("coordinates", _spans(places), shift)


def turned_round(tracks: Tracks, units: Units, are_degrees: bool) -> tuple[Tracks, Finding]:
    """Longitude first: latitudes beyond 90 degrees are longitudes, and the other way round."""
    places = np.concatenate([track.values[:, :2] for track in tracks])
    if units == "plain" or _are_degrees(places) or not _are_degrees(places[:, ::-1]):
        return tracks, Finding("swapped axes", "no")
    other = [with_places(track, track.values[:, 1::-1]) for track in tracks]
    if units == "auto" and not are_degrees and not _look_like_degrees(places[:, ::-1], other):
        return tracks, Finding("swapped axes", "no")
    return other, Finding("swapped axes", f"latitudes up to {np.abs(places[:, 1]).max():.6g}", "swapped")


def without_nowhere(tracks: Tracks, frame: Frame) -> tuple[Tracks, Finding]:
    """Leave out rows without a fix: places that no degrees can be, that lie beyond any plane, or that are 0,
    0 in a world far from there."""
    masks = [_is_somewhere(track.values[:, :2], frame) for track in tracks]
    num_odd, num_rows = sum(int((~mask).sum()) for mask in masks), sum(map(len, masks))
    if num_odd > MOST_NOWHERE * num_rows:
        raise BadDataset(
            f"{tracks[0].recording}: {num_odd} of {num_rows} rows lie more than {FARTHEST / 1000:.0f} km "
            f"from {frame.show(frame.origin)} or have no fix; import one region at a time: {busiest(tracks)}"
        )
    return kept(tracks, masks, "no fix", "left out")


def placed(tracks: Tracks, frame: Frame) -> Tracks:
    """Tracks in the plane of a frame; 32-bit numbers must tell their steps apart."""
    moved = [with_places(track, frame.to_local(track.values[:, :2])) for track in tracks]
    largest = max(float(np.abs(track.values[:, :2]).max()) for track in moved)
    hops = np.linalg.norm(np.concatenate([track.moves for track in moved]), axis=1)
    hop = float(np.median(hops[hops > 0])) if (hops > 0).any() else 0.0
    if not (largest < 1e30 and largest * np.finfo(np.float32).eps < 0.02 * hop):
        other = f"import one region: {busiest(tracks)}" if frame.is_degrees else "set --region or --origin"
        raise BadDataset(
            f"{moved[0].recording}: coordinates up to {plainly(largest)} from the origin cannot show moves "
            f"of {hop:.3g} in 32 bits; {other}"
        )
    return moved


def _look_like_degrees(places: FloatArray, tracks: Tracks) -> bool:
    """Coordinates without telling names that lie where degrees can and far from 0, in steps of small
    fractions: a world that somebody made up lies around 0."""
    places = places[(places != 0.0).any(axis=1)]
    if len(places) == 0 or not (np.abs(places) <= (180.0, 90.0)).all():
        return False
    span = float(np.linalg.norm(np.ptp(places, axis=0)))
    moves = np.concatenate([np.abs(track.moves).max(axis=1) for track in tracks])
    is_far = bool((np.abs(np.median(places, axis=0)) > FAR * span).all())
    return is_far and span < 5.0 and bool(np.median(moves) < 2e-3)


def _refuse_no_degrees(recording: str, places: FloatArray, units: Units) -> None:
    """Refuse coordinates that are none, but for a few that mean that there was no fix."""
    if not _are_degrees(places):
        other = "; write parts of degrees, such as millionths, as degrees first"
        other += "" if units == "degrees" else "; --units plain takes them as they are"
        raise BadDataset(f"{recording}: degrees must be longitude, then latitude; {_spans(places)}{other}")


def _are_degrees(places: FloatArray) -> bool:
    """Whether all but a few places are longitude and latitude."""
    return bool(_can_be_degrees(places).mean() >= 1 - MOST_NOWHERE)


def _can_be_degrees(places: FloatArray) -> BoolArray:
    """[n] whether places are longitude and latitude; 0, 0 is what receivers say that know nothing."""
    return np.asarray((np.abs(places) <= (360.0, 90.0)).all(axis=1) & (places != 0.0).any(axis=1))


def _is_somewhere(places: FloatArray, frame: Frame) -> BoolArray:
    """[n] whether places can belong to the world around a frame's origin."""
    if not frame.is_degrees:
        return np.asarray((places != 0.0).any(axis=1) | (not any(frame.origin)))
    known = _can_be_degrees(places)
    local = frame.to_local(np.where(known[:, None], places, frame.origin))
    return known & np.isfinite(local).all(axis=1) & (np.abs(local) <= FARTHEST).all(axis=1)


def _distortion(frame: Frame, places: FloatArray) -> str:
    """What becomes of degrees, and how far lengths are off where the world is wide."""
    east = np.abs(frame.to_local(places[_is_somewhere(places, frame)])[:, 0])
    off = float(np.cosh(east.max(initial=0.0) / EARTH) - 1)
    told = f"; lengths up to {100 * off:.1f} % too long at the edges" if off > LEAST_TOLD else ""
    return f"metres around {frame.show(frame.origin)}{told}"


def _origin(places: FloatArray) -> tuple[float, float]:
    """0, 0, or a whole number amid places that lie far from it."""
    low, high = np.quantile(places[(places != 0.0).any(axis=1)], (0.01, 0.99), axis=0)
    span = float((high - low).max())
    if not np.isfinite(span) or (np.abs((low + high) / 2) <= FAR * span).all():
        return 0.0, 0.0
    x, y = np.rint((low + high) / 2)
    return float(x), float(y)


def _spans(places: FloatArray) -> str:
    (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
    return f"the first in [{left:.9g}, {right:.9g}], the second in [{bottom:.9g}, {top:.9g}]"


def refuse_bad_origin(origin: tuple[float, float] | None) -> None:
    """Refuse an origin that is no place."""
    if origin is not None and not np.isfinite(origin).all():
        raise InvalidParameter(f"origin must be two finite numbers, got {origin}")
