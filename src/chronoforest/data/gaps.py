"""How far recordings lie apart: what is recorded often leaves no gaps, few recordings leave wide ones."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.types import FloatArray, IntArray

NUM_PROBES = 2000
"""Recorded places that are looked at, spread evenly over all."""

_NEAREST = 400
"""Recorded places around a probe among which one of another recording is looked for."""


def gaps(tracks: FloatArray, recording: IntArray | None = None) -> FloatArray:
    """[n] units from some places of tracks [E, T, d] to the nearest place of another recording; no less where
    none was found nearby.

    recording: [E] which one a track belongs to, each is its own where that is not told.
    """
    owner = np.repeat(np.arange(len(tracks)) if recording is None else recording, tracks.shape[1])
    places = tracks.reshape(-1, tracks.shape[-1])
    probes = np.linspace(0, len(places) - 1, min(NUM_PROBES, len(places))).astype(np.int64)
    apart, rows = cKDTree(places).query(places[probes], k=np.arange(1, min(_NEAREST, len(places)) + 1))
    nearest = np.where(owner[rows] != owner[probes][:, None], apart, np.inf).min(axis=1)
    return np.where(np.isfinite(nearest), nearest, apart[:, -1])
