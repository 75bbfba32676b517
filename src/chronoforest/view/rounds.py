"""Rounds as small JSON values: every segment, meeting and path is sent once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from chronoforest.types import FloatArray, Pair, Snapshot

DECIMALS = 2
"""Digits after the point, at least; in a world of centimetres there are more."""

THINNING = 2
"""Of a segment's frames every second one is drawn."""


class RoundEncoder:
    """Remembers what it has sent; one for each plan."""

    def __init__(self, decimals: int = DECIMALS) -> None:
        self._decimals = decimals
        self._segments: set[tuple[str, bytes]] = set()
        self._meetings: dict[Pair, FloatArray] = {}
        self._paths: dict[Pair, FloatArray] = {}

    def encode(self, snapshot: Snapshot) -> dict[str, Any]:
        """What is new since the last snapshot, with the round's record and costs.

        trees: [tree, anchor, [x, y, x, y, …]] for each new segment; meetings, paths: [source, target,
        [x, y, …]]; matrix: [A, A] steps, null where no bridge can exist; proposed: met legs that are not
        verified. Anchors are rows of the problem's.
        """
        stats, names = snapshot.stats, snapshot.problem.names
        return {
            "round": stats.round_index,
            "route": [list(order) for order in stats.route.orders],
            "cost": _finite(stats.route_cost),
            "pairs": _pairs(stats.pairs),
            "met": _pairs(stats.accepted),
            "proposed": _pairs(leg for leg in stats.accepted if leg in snapshot.proposed),
            "expanded": stats.num_expanded,
            "nodes": stats.num_nodes,
            "seconds": round(stats.seconds, 3),
            "trees": self._new_segments(snapshot, {name: row for row, name in enumerate(names)}),
            "meetings": self._changed(self._meetings, dict(snapshot.meetings)),
            "paths": self._changed(self._paths, dict(snapshot.paths)),
            "matrix": [[_finite(value) for value in row] for row in snapshot.bridge_cost],
        }

    def _new_segments(self, snapshot: Snapshot, rows: dict[str, int]) -> list[list[Any]]:
        return [
            [index, rows[tree.anchor], flat(_thinned(segment), self._decimals)]
            for index, tree in enumerate(snapshot.trees)
            for segment in map(_moving, tree.segments)
            if self._is_new(tree.anchor, segment)
        ]

    def _is_new(self, anchor: str, segment: FloatArray) -> bool:
        """Whether a segment was not sent yet, wherever its tree stands now; it is from now on."""
        key = anchor, segment.tobytes()
        is_new = key not in self._segments
        self._segments.add(key)
        return is_new

    def _changed(self, known: dict[Pair, FloatArray], now: dict[Pair, FloatArray]) -> list[list[Any]]:
        """Entries that are not known yet; they are from now on."""
        fresh = {pair: way for pair, way in now.items() if not np.array_equal(known.get(pair, ()), way)}
        known.update(fresh)
        return [[pair.source, pair.target, flat(way, self._decimals)] for pair, way in fresh.items()]


def dumps(values: Any) -> str:
    """Strict JSON on one line."""
    return json.dumps(values, allow_nan=False, separators=(",", ":"))


def decimals_for(cell: float) -> int:
    """Digits after the point that show a tenth of a grid cell."""
    return max(DECIMALS, int(np.ceil(1 - np.log10(cell))))


def flat(points: FloatArray, decimals: int = DECIMALS) -> list[float]:
    """[T, 2] → x, y, x, y, …, rounded."""
    return [float(value) for value in np.round(points, decimals).ravel()]


def _moving(segment: FloatArray) -> FloatArray:
    """A segment up to where it stays: how long it is made to stay there depends on its neighbours."""
    is_elsewhere = (segment != segment[-1]).any(axis=1)
    return segment[: 2 + np.flatnonzero(is_elsewhere).max(initial=-1)]


def _thinned(segment: FloatArray) -> FloatArray:
    """Every second frame, counted from the end, and the boundary."""
    return np.concatenate([segment[:1], segment[:0:-1][::THINNING][::-1]])


def _pairs(pairs: Iterable[Pair]) -> list[list[int]]:
    return [[pair.source, pair.target] for pair in pairs]


def _finite(value: float) -> float | None:
    return round(float(value), 1) if np.isfinite(value) else None
