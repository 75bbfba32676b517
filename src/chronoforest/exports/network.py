"""A learned world as a road network: directed hops between states, each with its line and its evidence.

What the service routes over and every map file is written from. A state is a place with a heading, so two
states may lie at one place, and a turn that was never made is a hop that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from chronoforest.data.frames import Frame
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.types import BoolArray, FloatArray, IntArray

LEAST = 1e-3
"""Seconds of a hop at least: SciPy reads a zero as no hop."""


@dataclass(frozen=True, eq=False)
class Network:
    """States and the hops between them, in the plane of a frame.

    position: [n, 2] and heading: [n] radians of the states; source, target: [m] states of the hops;
    seconds: [m] median of their recorded durations; low, high: [m] between which these lie for 90 % of the
    recordings, over a few hops in a row; count: [m] recordings; is_recorded: [m] whether a recording made the
    hop; reach: from an anchor to a state where it may be left or reached; pace: [24] of durations by the hour
    of the day, 1 where nothing is known.
    """

    position: FloatArray
    heading: FloatArray
    source: IntArray
    target: IntArray
    seconds: FloatArray
    low: FloatArray
    high: FloatArray
    count: IntArray
    is_recorded: BoolArray
    reach: float
    frame: Frame
    pace: FloatArray

    @classmethod
    def straight(
        cls,
        position: FloatArray,
        heading: FloatArray,
        hops: IntArray,
        seconds: FloatArray,
        reach: float,
        frame: Frame,
        count: IntArray | None = None,
        spread: tuple[FloatArray, FloatArray] | None = None,
    ) -> Self:
        """A network whose hops [m, 2] are all recorded."""
        source, target = hops.T
        low, high = (seconds, seconds) if spread is None else spread
        seconds = np.maximum(seconds, LEAST)
        count = np.ones(len(hops), dtype=np.int64) if count is None else count
        recorded = np.ones(len(hops), dtype=np.bool_)
        measures = (seconds, low, np.maximum(high, seconds), count, recorded)
        return cls(position, heading, source, target, *measures, reach, frame, np.ones(24))

    @classmethod
    def of(cls, roadmap: Roadmap, frame: Frame) -> Self:
        """What recordings say of states. A few of them say little of how long a hop takes: its time is theirs
        and that of a few more which go at the usual pace and take as much longer as it costs more."""
        hops = roadmap.hops
        ends = np.stack([hops.source, hops.target], axis=1)
        thin = roadmap.params.hops.thin
        steps = (hops.count * hops.steps + thin * roadmap.pace * hops.cost) / (hops.count + thin)
        heading = np.arctan2(roadmap.heading[:, 1], roadmap.heading[:, 0])
        reach = roadmap.params.near * roadmap.space.spacing
        seconds = frame.seconds(steps)
        _, low, high = roadmap.times.ratios[0]
        spread = (low * seconds, high * seconds)
        position = roadmap.position
        if not roadmap.space.is_open:
            position = _tight(
                position, ends, np.maximum(hops.count, 0.5), roadmap.params.room * roadmap.space.spacing
            )
        plain = cls.straight(position, heading, ends, seconds, reach, frame, hops.count, spread)
        return replace(plain, is_recorded=hops.is_recorded)

    @property
    def num_hops(self) -> int:
        """m."""
        return len(self.source)

    @cached_property
    def length(self) -> FloatArray:
        """[m] units."""
        return np.asarray(np.linalg.norm(self.position[self.target] - self.position[self.source], axis=1))

    @cached_property
    def lines(self) -> NDArray[Any]:
        """[m] the hops' lines as shapely has them."""
        ends = np.stack([self.source, self.target], axis=1)
        return np.asarray(shapely.linestrings(self.position[ends]))

    @cached_property
    def speed(self) -> float:
        """Units a second over all hops: of the way between an anchor and a state."""
        return float(self.length.sum() / max(self.seconds.sum(), LEAST)) or 1.0

    @cached_property
    def places(self) -> FloatArray:
        """[n, 2] the states in the user's coordinates."""
        return self.frame.to_user(self.position)

    @cached_property
    def component(self) -> IntArray:
        """[n] which part of the network each state is in, of parts that no hop joins."""
        shape = (len(self.position),) * 2
        graph = csr_matrix((np.ones(self.num_hops), (self.source, self.target)), shape=shape)
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)

    @cached_property
    def _keys(self) -> tuple[IntArray, IntArray]:
        """Hops by their source and target, in ascending order, and their numbers."""
        key = self.source * len(self.position) + self.target
        order = np.argsort(key, kind="stable")
        return key[order], order

    def hops_between(self, source: IntArray, target: IntArray) -> IntArray:
        """[k] the hops that join pairs of states."""
        keys, hops = self._keys
        return hops[np.searchsorted(keys, source * len(self.position) + target)]

    def line(self, hops: IntArray) -> FloatArray:
        """[t, 2] of hops that follow each other, each point once."""
        return self.position[np.append(self.source[hops[:1]], self.target[hops])]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it is, by name."""
        own = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)[:-2]}
        frame = {"kind": self.frame.kind, "origin": self.frame.origin, "step": self.frame.step_seconds}
        return {**own, "pace": self.pace, **{name: np.asarray(value) for name, value in frame.items()}}

    @classmethod
    def from_arrays(cls, values: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `arrays`."""
        own: Any = {field.name: values[field.name] for field in fields(cls)[:-2]}
        frame = Frame(str(values["kind"]), tuple(values["origin"].tolist()), float(values["step"]))
        return cls(**{**own, "reach": float(own["reach"])}, frame=frame, pace=values["pace"])


def _tight(position: FloatArray, hops: IntArray, weight: FloatArray, room: float) -> FloatArray:
    """Places [n, 2] pulled between those before and after them by `weight` of the hops, as plans are pulled
    tight: at most `room` from where they were; first and last ones stay."""
    ahead = csr_matrix((weight, hops.T), shape=(len(position),) * 2)
    sides = [(side, np.asarray(side.sum(axis=1))) for side in (ahead, ahead.T.tocsr())]
    is_inner = np.logical_and(*(total > 0 for _, total in sides))
    tight = position
    for _ in range(40):
        middle = sum(side @ tight / np.maximum(total, LEAST) for side, total in sides) / 2
        move = np.where(is_inner, middle - position, 0.0)
        size = np.linalg.norm(move, axis=1, keepdims=True)
        tight = position + move * np.minimum(1.0, room / np.maximum(size, LEAST))
    return tight
