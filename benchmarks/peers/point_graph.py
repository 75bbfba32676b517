"""`point-graph`: the recorded points as they are, each joined to the next of its recording and, at twice the
cost, to the nearest of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from benchmarks.peers.state_graph import LEAST, RecordedGraph, RecordedMethod, recordings, spacing_of
from chronoforest.peers.registry import Peer
from chronoforest.types import FloatArray


@dataclass(frozen=True, eq=False)
class PointGraph(RecordedGraph):
    """A graph over recorded points; it knows no headings."""

    @classmethod
    def made_of(cls, tracks: Sequence[FloatArray], radius: float = 12.0, num_near: int = 6) -> Self:
        """From recordings [n, d]; a point leads to `num_near` points of others within `radius` units."""
        position = np.concatenate(tracks)
        owner = np.repeat(np.arange(len(tracks)), [len(track) for track in tracks])
        rows = np.flatnonzero(owner[1:] == owner[:-1])
        ahead = np.linalg.norm(position[rows + 1] - position[rows], axis=1)
        gap, near = cKDTree(position).query(position, k=num_near + 1, distance_upper_bound=radius)
        source, column = np.nonzero(np.isfinite(gap))
        target, aside = near[source, column], 2.0 * gap[source, column]
        is_other = owner[source] != owner[target]
        ends = (np.concatenate([rows, source[is_other]]), np.concatenate([rows + 1, target[is_other]]))
        units = np.maximum(np.concatenate([ahead, aside[is_other]]), LEAST)
        return cls(position, csr_matrix((units, ends), shape=(len(position),) * 2), radius)


PEER = Peer(
    lambda inputs: RecordedMethod(
        PointGraph.made_of(recordings(inputs), spacing_of(inputs)), inputs.models.step_length
    ),
    needs_states=True,
    needs_networks=False,
)
