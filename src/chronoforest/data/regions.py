"""A part of the world: what lies elsewhere is left out, and where most rows lie is told."""

from __future__ import annotations

import numpy as np

from chronoforest.data.cleaning import Finding, Tracks
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import BoolArray, FloatArray

Region = tuple[float, float, float, float]
"""West, south, east and north, or the least x and y and the largest."""

LEAST_ROWS = 2
"""Rows of a part that can show a move."""


def within(tracks: Tracks, region: Region) -> tuple[Tracks, Finding]:
    """The parts of tracks inside a region."""
    low, high = np.array(region[:2]), np.array(region[2:])
    inside = [_are_between(track.values[:, :2], low, high) for track in tracks]
    parts = [
        part
        for track, mask in zip(tracks, inside, strict=True)
        for part, is_in in zip(track.split(np.diff(mask)), _of_parts(mask), strict=True)
        if is_in and len(part) >= LEAST_ROWS
    ]
    if not parts:
        raise BadDataset(
            f"{tracks[0].recording}: no two rows after another lie in the region {region}, x or longitude "
            f"first; {_spans(tracks)}"
        )
    num_rows = sum(map(len, tracks))
    return parts, Finding("region", f"{num_rows - sum(map(len, parts))} rows elsewhere", "left out")


def busiest(tracks: Tracks) -> str:
    """An option for the square of one degree that holds most rows."""
    corners, counts = np.unique(np.floor(_places(tracks)), axis=0, return_counts=True)
    west, south = corners[np.argmax(counts)]
    share = 100 * counts.max() / counts.sum()
    return f"--region {west:g} {south:g} {west + 1:g} {south + 1:g}, where {share:.0f} % of the rows lie"


def refuse_bad_region(region: Region | None) -> None:
    """Refuse a region that holds no place."""
    if region is not None and not (region[0] < region[2] and region[1] < region[3]):
        raise InvalidParameter(
            f"region must be west, south, east and north, or the least x and y and the largest, got {region}"
        )


def _are_between(places: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    return np.asarray(((places >= low) & (places <= high)).all(axis=1))


def _of_parts(mask: BoolArray) -> list[bool]:
    """Whether each run of equal values is of those that hold."""
    firsts = np.concatenate([[0], np.flatnonzero(np.diff(mask)) + 1])
    return [bool(mask[first]) for first in firsts]


def _places(tracks: Tracks) -> FloatArray:
    return np.concatenate([track.values[:, :2] for track in tracks])


def _spans(tracks: Tracks) -> str:
    low, high = np.quantile(_places(tracks), (0.01, 0.99), axis=0)
    return f"most lie from {low[0]:.9g}, {low[1]:.9g} to {high[0]:.9g}, {high[1]:.9g}"
