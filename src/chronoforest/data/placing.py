"""Where recordings lie: degrees are recognised and laid into a plane of metres, far coordinates get an
origin."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chronoforest.data.cleaning import Finding, Tracks, with_places
from chronoforest.data.frames import Frame, centre_of
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray

Units = Literal["auto", "degrees", "plain"]

FAR = 3.0
"""Coordinates are far from 0 when they lie so many times the size of the world away from it."""

FARTHEST = 3_000_000.0
"""Metres from the origin beyond which a plane is no picture of the globe any more."""

LEAST_TOLD = 0.001
"""Share by which lengths must be off to be worth a word."""

EARTH = 6_371_000.0


def chosen_frame(
    tracks: Tracks, units: Units, are_degrees: bool, origin: tuple[float, float] | None, seconds: float
) -> tuple[Frame, Finding]:
    """The frame of recordings.

    units: told, or `auto` to find out; are_degrees: by the names of their columns; seconds: of a step, 0
    without a clock.
    """
    places = np.concatenate([track.values[:, :2] for track in tracks])
    if units == "degrees" or (units == "auto" and (are_degrees or _look_like_degrees(places, tracks))):
        _refuse_no_degrees(tracks[0].recording, places, units)
        frame = Frame("degrees", origin or centre_of(places), seconds)
        return frame, Finding("coordinates", "longitude and latitude", _distortion(frame, places, tracks))
    frame = Frame("plain", origin or _origin(places), seconds)
    shift = f"planned from {frame.show(frame.origin)} on" if any(frame.origin) else "kept as they are"
    return frame, Finding("coordinates", _spans(places), shift)


def placed(tracks: Tracks, frame: Frame) -> Tracks:
    """Tracks in the plane of a frame; 32-bit numbers must tell their steps apart."""
    moved = [with_places(track, frame.to_local(track.values[:, :2])) for track in tracks]
    largest = max(float(np.abs(track.values[:, :2]).max()) for track in moved)
    hops = np.linalg.norm(np.concatenate([track.moves for track in moved]), axis=1)
    hop = float(np.median(hops[hops > 0])) if (hops > 0).any() else 0.0
    if not (largest < 1e30 and largest * np.finfo(np.float32).eps < 0.02 * hop):
        raise BadDataset(
            f"{moved[0].recording}: coordinates up to {largest:.6g} from the origin cannot show moves of "
            f"{hop:.3g} in 32 bits; leave out places that lie far from all others, or set --origin"
        )
    return moved


def _look_like_degrees(places: FloatArray, tracks: Tracks) -> bool:
    """Coordinates without telling names that lie where degrees can and far from 0, in steps of small
    fractions: a world that somebody made up lies around 0."""
    if not (np.abs(places) <= (180.0, 90.0)).all():
        return False
    span = float(np.linalg.norm(np.ptp(places, axis=0)))
    moves = np.concatenate([np.abs(track.moves).max(axis=1) for track in tracks])
    is_far = bool((np.abs(np.median(places, axis=0)) > FAR * span).all())
    return is_far and span < 5.0 and bool(np.median(moves) < 2e-3)


def _refuse_no_degrees(recording: str, places: FloatArray, units: Units) -> None:
    if (np.abs(places) > (360.0, 90.0)).any():
        other = "" if units == "degrees" else "; --units plain takes them as they are"
        raise BadDataset(f"{recording}: degrees must be longitude, then latitude; {_spans(places)}{other}")


def _distortion(frame: Frame, places: FloatArray, tracks: Tracks) -> str:
    """What became of degrees, and how far lengths are off where the world is wide."""
    local = frame.to_local(places)
    if not np.isfinite(local).all() or np.abs(local).max() > FARTHEST:
        raise BadDataset(
            f"{tracks[0].recording}: places lie more than {FARTHEST / 1000:.0f} km from "
            f"{frame.show(frame.origin)}; import one region at a time"
        )
    off = float((np.cosh(np.abs(local[:, 0]).max() / EARTH)) - 1)
    told = f"; lengths up to {100 * off:.1f} % too long at the edges" if off > LEAST_TOLD else ""
    return f"metres around {frame.show(frame.origin)}{told}"


def _origin(places: FloatArray) -> tuple[float, float]:
    """0, 0, or a whole number amid places that lie far from it."""
    low, high = places.min(axis=0), places.max(axis=0)
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
