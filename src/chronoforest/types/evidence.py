"""What is known of pairs, and what a search looks like: legs, meetings, rounds, trees and the support."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least, require_positive
from chronoforest.types.problems import BoolArray, FloatArray, JointRoute, Pair, Problem, lengths_along

ScalarOrArray = TypeVar("ScalarOrArray", float, FloatArray)


@dataclass(frozen=True)
class Witness:
    """The cheapest candidate seen for a pair: J = g(source) + h(gap) + g(target), `gap` in steps."""

    pair: Pair
    cost: float
    gap: float


@dataclass(frozen=True)
class Meeting:
    """Two trees touch: frame rows of the source's outgoing and the target's incoming tree.

    cost: g(u) + d(u, v) + g(v) in steps as the trees found it, later the travel time of the walkable bridge;
    gap = d(u, v).
    """

    pair: Pair
    cost: float
    gap: float
    source_frame: int
    target_frame: int


@dataclass(frozen=True)
class Evidence:
    """What one round of search found."""

    witnesses: tuple[Witness, ...] = ()
    meetings: tuple[Meeting, ...] = ()


PROPOSED = ("recorded", "inferred")
"""Evidence of legs whose way the roadmap proposed and no segment followed yet."""


@dataclass(frozen=True)
class Leg:
    """One leg of a route with its certificate.

    cost, gap, width are in steps: what the order was solved on, the distance left between the bridge's two
    halves, and the 5–95 % uncertainty band of the cost (paper eq. 39), None where no gap was measured. Where
    ways are lanes the cost is more than the leg takes if few drove there, or nobody: `Plan.durations` tells
    how long it takes. `chain` names the anchors the leg runs through. `took`: how long it takes by how long
    recordings took on the same hops, in the unit of `Plan.times`: the median, and what 5 % and 95 % of
    recordings stay below; None where no recordings tell. `proposed`: [t, d] of a verified leg, the way of the
    roadmap that was checked, in the coordinates of the path; None otherwise.

    evidence: what was checked of its way, and no more:

    - `recorded`: recordings made every hop of the roadmap that it goes over; `inferred`: not every hop. Such
      a way is shortened afterwards, within its lane, or in the open by the density;
    - `verified`: a segment that the denoiser generated follows every piece of it, from end to end, and is
      handed out where it is not longer by more than 2 %;
    - `generated`: trees of generated segments met; it is shortened afterwards;
    - `standing`: both anchors are one place; `none`: the leg is not met;
    - the name of a peer: its own way, which nothing else was asked about.
    """

    source: str
    target: str
    is_met: bool
    cost: float
    gap: float
    width: float | None
    chain: tuple[str, ...]
    evidence: str
    took: tuple[float, float, float] | None = None
    proposed: FloatArray | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Gap:
    """What no way crosses on the way from one anchor to another.

    reached: [2] a place that ways from the source lead to; wanted: [2] the nearest one from which ways lead
    on to the target; extents: units that the ways of both sides get away from their anchor; left_out: the
    waypoints that nobody visits for it; is_recorded: the support leads across; is_searched: trees were grown
    there, in vain.
    """

    source: str
    target: str
    reached: FloatArray
    wanted: FloatArray
    extents: tuple[float, float]
    left_out: tuple[str, ...] = ()
    is_recorded: bool = True
    is_searched: bool = False


@dataclass(frozen=True)
class Plan:
    """One agent's part: the order it visits and the path it should follow.

    order: anchor names; path: [T, 2] in the coordinates of the problem, from its start to its goal when
    complete; raw_length and length: before and after post-processing; stops: row of `path` for each name in
    `order`. along: [T] length of the path up to each point, in metres where the coordinates are degrees, in
    their units otherwise; times: [T] when it is there, seconds where the recordings had a clock, steps
    otherwise, empty in plans that were saved before they had times.
    """

    order: list[str]
    path: FloatArray
    legs: tuple[Leg, ...]
    raw_length: float
    stops: tuple[int, ...]
    along: FloatArray = field(default_factory=lambda: np.zeros(0))
    times: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if self.path.ndim == 2 and self.along.shape != self.path.shape[:1]:
            object.__setattr__(self, "along", lengths_along(self.path))

    def __repr__(self) -> str:
        return f"Plan({' → '.join(self.order)}, {self.length:.1f} units, {len(self.path)} points)"

    @property
    def length(self) -> float:
        """Of the whole path."""
        return float(self.along[-1]) if len(self.along) else 0.0

    @property
    def duration(self) -> float:
        """Of the whole path, in the unit of `times`."""
        return float(self.times[-1]) if len(self.times) else 0.0

    @property
    def durations(self) -> FloatArray:
        """[n] of every leg that is met, in order, in the unit of `times`."""
        return np.diff(self.times[list(self.stops)]) if len(self.times) else np.zeros(0)

    @property
    def speeds(self) -> FloatArray:
        """[T] from each point to the next one, in the units of `along` and `times`; the last repeats."""
        if len(self.times) < 2:
            return np.zeros(len(self.times))
        took = np.diff(self.times)
        pace = np.divide(np.diff(self.along), took, out=np.zeros(len(took)), where=took > 0)
        return np.append(pace, pace[-1])


@dataclass(frozen=True)
class RoundStats:
    """What one round did: the tentative route, the pairs it paid for, the legs met, and the counts so far;
    num_refuted: proposed ways that the denoiser refuted; solver_seconds: what the order took of `seconds`."""

    round_index: int
    route: JointRoute
    route_cost: float
    pairs: tuple[Pair, ...]
    accepted: tuple[Pair, ...]
    num_expanded: int
    num_nodes: int
    seconds: float
    num_refuted: int = 0
    solver_seconds: float = 0.0


@dataclass(frozen=True)
class Certificate:
    """What the evidence says about an order, in steps (paper Theorem 1, Corollary 1).

    bound: the order is at most this much worse than the best one, if the premises hold and no link errs by
    more than the 95 % quantile that was measured for its gap; margin: second-best minus best order on the
    evidence; premises_hold: every pair has a witness within τ and the order is the best on the evidence
    (eq. 15, 6).
    """

    bound: float
    margin: float
    premises_hold: bool

    @property
    def is_separated(self) -> bool:
        """Whether the premises hold and the bound is below the margin (eq. 31): no other order is better
        unless some link errs by more than its 95 % quantile."""
        return self.premises_hold and self.bound < self.margin


@dataclass(frozen=True)
class Calibration:
    """How far the learned distance may be trusted, measured on dataset episodes and stored with it.

    alpha: h(x) = x + αx². local_scale: s_local; the corrected prediction is Ĉ(x) = s_local·h(x).
    local_ratios, all_ratios: the 5 % and 95 % quantiles of truth/Ĉ (eq. 38), over predictions up to
    `local_window` steps and over all of them. local_error: rows (δ, ε_loc(δ)) of Assumption 3, both
    rising: a prediction of at most δ steps is off by at most ε_loc(δ) steps.
    """

    alpha: float
    local_scale: float
    local_ratios: tuple[float, float]
    all_ratios: tuple[float, float]
    local_window: float
    local_error: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        require_at_least(self, 0, "alpha")
        require_positive(self, "local_scale", "local_window")
        for ratios in (self.local_ratios, self.all_ratios):
            if not 0 <= ratios[0] <= ratios[1]:
                raise InvalidParameter(f"ratios must be (low, high) with 0 <= low <= high, got {ratios}")
        rows = np.array(self.local_error, dtype=np.float64).reshape(-1, 2)
        if not (np.diff(rows, axis=0, prepend=0.0) >= 0).all():
            raise InvalidParameter(f"local_error must have rising rows (gap, error), got {self.local_error}")

    def inflate(self, gap: ScalarOrArray) -> ScalarOrArray:
        """h(x) = x + αx², the near-conservative cost of a gap (eq. 3), elementwise."""
        return gap + self.alpha * gap * gap

    def error_within(self, gap: float) -> float:
        """ε_loc(gap): the tabulated envelope of the next larger δ; infinite beyond the table (eq. 14)."""
        return next((error for threshold, error in self.local_error if gap <= threshold), float("inf"))


@dataclass(frozen=True)
class Support:
    """Where the recordings went: `mask` [nx, ny], first cell centred at `origin`, cells of `cell` units."""

    origin: FloatArray
    cell: float
    mask: BoolArray

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top in world units."""
        low = self.origin - self.cell / 2
        high = low + self.cell * np.array(self.mask.shape)
        return float(low[0]), float(high[0]), float(low[1]), float(high[1])

    @property
    def places(self) -> FloatArray:
        """[n, d] the middles of the supported cells."""
        return np.asarray(self.origin + self.cell * np.argwhere(self.mask))

    def holds(self, place: FloatArray) -> bool:
        """Whether a place [d] lies in a supported cell."""
        row = np.rint((place - self.origin) / self.cell).astype(np.int64)
        return bool(((row >= 0) & (row < self.mask.shape)).all() and self.mask[tuple(row)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; eight cells are packed into a byte."""
        return {
            "origin": self.origin.tolist(),
            "cell": self.cell,
            "shape": list(self.mask.shape),
            "bits": base64.b64encode(np.packbits(self.mask).tobytes()).decode(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Support:
        """The inverse of `to_dict`; ValueError where the values are not those of a support."""
        width, height = map(int, values["shape"])
        packed = np.frombuffer(base64.b64decode(values["bits"], validate=True), dtype=np.uint8)
        if min(width, height) < 1 or width * height > 8 * len(packed):
            raise ValueError(f"support of {width} × {height} cells in {8 * len(packed)} bits")
        mask = np.unpackbits(packed)[: width * height].astype(bool).reshape(width, height)
        origin, cell = np.array(values["origin"], dtype=float), float(values["cell"])
        if origin.shape != (2,) or not np.isfinite(origin).all() or not 0 < cell < np.inf:
            raise ValueError(f"support at {values['origin']!r} with cells of {values['cell']!r}")
        return cls(origin, cell, mask)


@dataclass(frozen=True)
class TreePicture:
    """A tree's segments [n, frames, 2], named after its anchor."""

    anchor: str
    segments: FloatArray


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a search looks like after a round, or before the first one (index −1), for those who watch it.

    trees: all segments so far; bridge_cost: [A, A] steps, infinite where no bridge can exist; meetings: [2]
    where the trees of a pair touch; paths: [T, 2] for each met leg of the route; proposed: those of them
    whose evidence is one of `PROPOSED`.
    """

    problem: Problem
    stats: RoundStats
    trees: tuple[TreePicture, ...]
    bridge_cost: FloatArray
    meetings: Mapping[Pair, FloatArray]
    paths: Mapping[Pair, FloatArray]
    proposed: frozenset[Pair] = frozenset()
