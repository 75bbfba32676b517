"""What is asked, and who visits what in which order.

`num_anchors` A = 2M + K: the starts come first, then the waypoints, then the goals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronoforest.errors import InvalidProblem

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Who starts where, must end where, and what has to be visited by someone.

    starts, goals: [M, 2] world units, paired by row; waypoints: [K, 2], shared by all agents.
    """

    starts: FloatArray
    goals: FloatArray
    waypoints: FloatArray

    def __init__(self, starts: ArrayLike, goals: ArrayLike, waypoints: ArrayLike | None = None) -> None:
        told = () if waypoints is None else waypoints
        for name, value in (("starts", starts), ("goals", goals), ("waypoints", told)):
            object.__setattr__(self, name, _points(name, value))
        if len(self.starts) == 0 or len(self.starts) != len(self.goals):
            raise InvalidProblem(
                f"every agent needs one start and one goal, got {len(self.starts)} starts "
                f"and {len(self.goals)} goals"
            )
        self._refuse_duplicates()

    def __repr__(self) -> str:
        agents = f"{self.num_agents} agent{'s' * (self.num_agents > 1)}"
        return f"Problem({agents}, {self.num_waypoints} waypoint{'s' * (self.num_waypoints != 1)})"

    def _refuse_duplicates(self) -> None:
        seen: dict[tuple[float, ...], str] = {}
        for name, point in zip(self.names, self.anchors, strict=True):
            key = tuple(point)
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

    def moved(self, change: Callable[[FloatArray], FloatArray]) -> Problem:
        """The same problem in other coordinates; change: [n, 2] → [n, 2]."""
        return Problem(change(self.starts), change(self.goals), change(self.waypoints))

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

    def named(self, problem: Problem) -> tuple[str, str]:
        """The names of its ends."""
        return problem.names[self.source], problem.names[self.target]


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


def lengths_along(path: FloatArray) -> FloatArray:
    """[T] polyline length of [T, 2] points up to each of them."""
    hops = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return np.concatenate([np.zeros(min(1, len(path))), np.cumsum(hops)])


def path_length(path: FloatArray) -> float:
    """Polyline length of [T, 2] points."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def _points(name: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblem(f"{name} must be a list of [x, y] points, got {value!r:.80}") from error
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
