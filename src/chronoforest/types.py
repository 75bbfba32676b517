"""Values and protocols that the folders share; shapes are in the docstrings.

`num_anchors` A = 2M + K: the starts come first, then the waypoints, then the goals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronoforest.errors import InvalidParameter, InvalidProblem

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

ScalarOrArray = TypeVar("ScalarOrArray", float, FloatArray)


@dataclass(frozen=True, eq=False)
class Problem:
    """Who starts where, must end where, and what has to be visited by someone.

    starts, goals: [M, 2] world units, paired by row; waypoints: [K, 2], shared by all agents.
    """

    starts: FloatArray
    goals: FloatArray
    waypoints: FloatArray

    def __init__(self, starts: ArrayLike, goals: ArrayLike, waypoints: ArrayLike = ()) -> None:
        for name, value in (("starts", starts), ("goals", goals), ("waypoints", waypoints)):
            object.__setattr__(self, name, _points(name, value))
        if len(self.starts) == 0 or len(self.starts) != len(self.goals):
            raise InvalidProblem(
                f"every agent needs one start and one goal, got {len(self.starts)} starts "
                f"and {len(self.goals)} goals"
            )
        self._refuse_duplicates()

    def _refuse_duplicates(self) -> None:
        seen: dict[tuple[float, ...], str] = {}
        for name, point in zip(self.names, self.anchors, strict=True):
            key = tuple(np.round(point, 9))
            if key in seen:
                raise InvalidProblem(
                    f"{seen[key]} and {name} are both at {_show(point)}; "
                    "every anchor needs a place of its own"
                )
            seen[key] = name

    @property
    def num_agents(self) -> int:
        """M."""
        return len(self.starts)

    @property
    def num_waypoints(self) -> int:
        """K."""
        return len(self.waypoints)

    @property
    def num_anchors(self) -> int:
        """A = 2M + K."""
        return 2 * self.num_agents + self.num_waypoints

    @cached_property
    def anchors(self) -> FloatArray:
        """[A, 2]: starts, waypoints, goals."""
        return np.concatenate([self.starts, self.waypoints, self.goals])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """S1…SM, W1…WK, G1…GM, in the order of `anchors`."""
        counts = (("S", self.num_agents), ("W", self.num_waypoints), ("G", self.num_agents))
        return tuple(f"{letter}{k + 1}" for letter, count in counts for k in range(count))

    def start_index(self, agent: int) -> int:
        """Row of the agent's start among the anchors."""
        return agent

    def goal_index(self, agent: int) -> int:
        """Row of the agent's goal among the anchors."""
        return self.num_agents + self.num_waypoints + agent

    @property
    def waypoint_indices(self) -> range:
        """Rows of the waypoints among the anchors."""
        return range(self.num_agents, self.num_agents + self.num_waypoints)

    def is_start(self, anchor: int) -> bool:
        """Whether the anchor is some agent's start."""
        return anchor < self.num_agents

    def is_goal(self, anchor: int) -> bool:
        """Whether the anchor is some agent's goal."""
        return anchor >= self.num_agents + self.num_waypoints

    def can_link(self, source: int, target: int) -> bool:
        """Whether some route could travel from one anchor straight to the other: never out of a goal,
        never into a start, never from an agent's start to another agent's goal."""
        if source == target or self.is_goal(source) or self.is_start(target):
            return False
        foreign_goal = self.is_goal(target) and target - self.goal_index(0) != source
        return not (self.is_start(source) and foreign_goal)


@dataclass(frozen=True, order=True)
class Pair:
    """A leg from one anchor to another, as rows of `Problem.anchors`."""

    source: int
    target: int

    @property
    def reversed(self) -> Pair:
        """The leg back."""
        return Pair(self.target, self.source)


@dataclass(frozen=True)
class JointRoute:
    """Who visits what in which order: one anchor sequence per agent, from its start to its goal."""

    orders: tuple[tuple[int, ...], ...]

    @cached_property
    def legs(self) -> tuple[Pair, ...]:
        """Adj(π): the K + M adjacent pairs."""
        return tuple(Pair(a, b) for order in self.orders for a, b in pairwise(order))

    def cost(self, matrix: FloatArray) -> float:
        """Sum of an [A, A] cost matrix over the legs."""
        return float(sum(matrix[leg.source, leg.target] for leg in self.legs))

    def named(self, problem: Problem) -> list[list[str]]:
        """The orders with the anchors' names."""
        return [[problem.names[a] for a in order] for order in self.orders]


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


@dataclass(frozen=True)
class Leg:
    """One leg of a route with its certificate.

    cost, gap, width are in steps: the bridge's cost, the distance left between its two halves, and the
    5–95 % uncertainty band of the cost (paper eq. 39). `chain` names the anchors the leg runs through.
    """

    source: str
    target: str
    is_met: bool
    cost: float
    gap: float
    width: float
    chain: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """One agent's part: the order it visits and the path it should follow.

    order: anchor names; path: [T, 2] world units, from its start to its goal when complete;
    raw_length and length: before and after post-processing; stops: row of `path` for each name in `order`.
    """

    order: list[str]
    path: FloatArray
    legs: tuple[Leg, ...]
    raw_length: float
    stops: tuple[int, ...]

    @property
    def length(self) -> float:
        """Polyline length of `path`."""
        return path_length(self.path)


@dataclass(frozen=True)
class RoundStats:
    """What one round did: the tentative route, the pairs it paid for, the legs met, and the counts so far."""

    round_index: int
    route: JointRoute
    route_cost: float
    pairs: tuple[Pair, ...]
    accepted: tuple[Pair, ...]
    num_expanded: int
    num_nodes: int
    seconds: float


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
        if not self.alpha >= 0:
            raise InvalidParameter(f"alpha must be 0 or more, got {self.alpha}")
        if not (self.local_scale > 0 and self.local_window > 0):
            raise InvalidParameter(
                "local_scale and local_window must be above 0, "
                f"got {self.local_scale} and {self.local_window}"
            )
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_dict`, also after a round trip through JSON's lists."""
        pairs = {name: tuple(values[name]) for name in ("local_ratios", "all_ratios")}
        rows = tuple((float(gap), float(error)) for gap, error in values["local_error"])
        return cls(**{**values, **pairs, "local_error": rows})


class Distance(Protocol):
    """Learned travel time in environment steps. Codes are computed once per state and compared often."""

    reach: float
    """Largest distance it can state; beyond it the straight line is as good a guide."""

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, 2] → [n, F]."""
        ...

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """Elementwise d: [n, F] × [n, F] → [n]."""
        ...

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """All against all: [n, F] × [m, F] → [n, m]."""
        ...


class Density(Protocol):
    """Where the recordings went."""

    def log_density(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] natural logarithm of the data's density; very low outside."""
        ...

    def margin(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] world units to the nearest unsupported place; negative outside the support."""
        ...

    def follows(self, points: FloatArray, moves: FloatArray) -> BoolArray:
        """[..., 2] places and moves → [...] whether recordings moved in about this direction there; true
        everywhere where directions do not matter."""
        ...


@dataclass(frozen=True)
class Query:
    """Lookaheads asked of the sampler, one row each.

    boundary, target: [n, 2]; is_incoming: [n], the segment arrives at the boundary instead of leaving it;
    guidance: [n] scale in world units, 0 for an unguided sample.
    """

    boundary: FloatArray
    target: FloatArray
    is_incoming: BoolArray
    guidance: FloatArray

    def __len__(self) -> int:
        return len(self.boundary)


class Sampler(Protocol):
    """Generates segments of recorded-looking motion."""

    horizon: int
    """Generated frames per segment."""

    def __call__(self, query: Query, rng: np.random.Generator) -> FloatArray:
        """[n, horizon + 1, 2] world units, ordered outward from the boundary frame in row 0."""
        ...


class Tracker(Protocol):
    """Turns an observation and a relative subgoal into an action."""

    def __call__(self, observation: FloatArray, subgoal: FloatArray) -> FloatArray:
        """[observation_dim], [2] world units relative to the agent → [action_dim]."""
        ...


class RouteSolver(Protocol):
    """Solves who visits what in which order on a complete cost matrix."""

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """cost: [A, A] closure in steps; `previous` is last round's route, to start from."""
        ...


class StopCriterion(Protocol):
    """Decides whether planning has spent enough."""

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """True to stop before the next round."""
        ...


def path_length(path: FloatArray) -> float:
    """Polyline length of [T, 2] points."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def _points(name: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name} must be a list of [x, y] points, got {value!r}") from error
    if array.size == 0:
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidProblem(f"{name} must have shape [n, 2], got {list(array.shape)}")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InvalidProblem(f"{name}[{row}] is {_show(array[row])}; coordinates must be finite")
    array.setflags(write=False)
    return array


def _show(point: FloatArray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in point) + ")"
