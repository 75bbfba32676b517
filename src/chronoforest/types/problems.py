"""What is asked, in what world, and who visits what in which order.

`num_anchors` A = 2M + K: the starts come first, then the waypoints, then the goals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronoforest.errors import InvalidProblem, require_positive

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

COORDINATES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"), ("east", "north"))
"""Columns of a table of stops, in the order of a point."""

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
TYPED = (
    (rf"{NUMBER}\s*,\s*{NUMBER}", r"[\s;]+"),
    (rf"[(\[]\s*{NUMBER}[\s,]+{NUMBER}\s*[)\]]", r"[\s,;]*"),
    (rf"{NUMBER}\s+{NUMBER}", r"\s*;\s*"),
)
"""How people type a point, and what stands between two: "0,0 52,36", "(0, 0), (52, 36)", "0 0; 52 36"."""


FIX = r"(?:agent\s+(\d+))?\s*(first|last)?"
"""How a waypoint is fixed: "agent 2", "first", "last" or "agent 2 first"."""

Rule = tuple[int | None, str]
"""Which agent must visit a waypoint, None for any; whether "first" or "last" of its waypoints, or ""."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Who starts where, must end where, and what has to be visited by someone.

    starts, goals: [M, 2] world units, paired by row; waypoints: [K, 2], shared by all agents. Several stops
    may lie at one place, as in a depot. labels: what the user calls each of `anchors`, its name otherwise.
    rules: of each waypoint.
    """

    starts: FloatArray
    goals: FloatArray
    waypoints: FloatArray
    labels: tuple[str, ...]
    rules: tuple[Rule, ...]

    def __init__(
        self,
        starts: Any,
        goals: Any = None,
        waypoints: Any = None,
        labels: Sequence[str] | None = None,
        fix: Mapping[str, str] | str | Sequence[Rule] | None = None,
    ) -> None:
        """The first three are each a point [x, y], a list of points, a dict from names to points, a table
        (DataFrame or GeoDataFrame), a list of dicts with its rows, or a text such as "0,0 52,36". Without
        goals every agent returns to its start. fix: which agent must visit a waypoint, and whether first or
        last: {"W1": "agent 2", "W3": "first"}, or as a text "W1 agent 2; W3 first"."""
        stops = {
            "starts": _stops("starts", starts),
            "goals": _stops("goals", starts if goals is None else goals),
            "waypoints": _stops("waypoints", () if waypoints is None else waypoints),
        }
        for name, (points, _) in stops.items():
            object.__setattr__(self, name, points)
        if len(self.starts) == 0 or len(self.starts) != len(self.goals):
            raise InvalidProblem(
                f"every agent needs one start and one goal, got {len(self.starts)} starts "
                f"and {len(self.goals)} goals"
            )
        given = labels or [label for name in ("starts", "waypoints", "goals") for label in stops[name][1]]
        if len(given) != self.num_anchors:
            raise InvalidProblem(f"there are {self.num_anchors} stops and {len(given)} labels")
        own = tuple(label or name for label, name in zip(given, self.names, strict=True))
        object.__setattr__(self, "labels", own)
        words = _typed_fix(fix) if isinstance(fix, str) else fix or {}
        rules = _rules(words, self) if isinstance(words, Mapping) else tuple(words)
        object.__setattr__(self, "rules", rules)

    def __repr__(self) -> str:
        agents = f"{self.num_agents} agent{'s' * (self.num_agents > 1)}"
        return f"Problem({agents}, {self.num_waypoints} waypoint{'s' * (self.num_waypoints != 1)})"

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        points = {name: getattr(self, name).tolist() for name in ("starts", "goals", "waypoints")}
        return {**points, "labels": list(self.labels), **({"fix": self.fix} if self.fix else {})}

    @classmethod
    def from_dict(cls, values: Any) -> Problem:
        """The inverse of `to_dict`, also where people write it by hand: goals, waypoints and labels may be
        missing, and each group of stops is anything that `Problem` takes."""
        known = ("starts", "goals", "waypoints", "labels", "fix")
        if not isinstance(values, Mapping) or "starts" not in values or not set(values) <= set(known):
            keys = list(values) if isinstance(values, Mapping) else values
            raise ValueError(f"a problem is an object with {', '.join(known)}, got {keys!r:.80}")
        return cls(**values)

    def moved(self, change: Callable[[FloatArray], FloatArray]) -> Problem:
        """The same problem in other coordinates; change: [n, 2] → [n, 2]."""
        starts, goals, waypoints = map(change, (self.starts, self.goals, self.waypoints))
        return Problem(starts, goals, waypoints, self.labels, self.rules)

    @property
    def fix(self) -> dict[str, str]:
        """The rules in words, by the names of those waypoints that have one."""
        words = {
            f"W{k + 1}": " ".join([*([] if agent is None else [f"agent {agent + 1}"]), *place.split()])
            for k, (agent, place) in enumerate(self.rules)
        }
        return {name: text for name, text in words.items() if text}

    def may_travel(self, agent: int) -> BoolArray:
        """[A, A] the legs that the rules leave an agent."""
        allowed = np.ones((self.num_anchors,) * 2, dtype=np.bool_)
        waypoints = slice(self.waypoint_indices.start, self.waypoint_indices.stop)
        for row, (owner, place) in zip(self.waypoint_indices, self.rules, strict=True):
            if owner is not None and owner != agent:
                allowed[row] = allowed[:, row] = False
            if place == "first":
                allowed[waypoints, row] = False
            if place == "last":
                allowed[row, waypoints] = False
        return allowed

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

    def pairs_within(self, least: float) -> Iterator[Pair]:
        """The pairs of anchors nearer than `least` units to each other, both ways, that routes could link."""
        apart = np.linalg.norm(self.anchors[:, None] - self.anchors, axis=-1)
        for source, target in np.argwhere(apart < least).tolist():
            if self.can_link(source, target) or self.can_link(target, source):
                yield Pair(source, target)


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


def _stops(name: str, value: Any) -> tuple[FloatArray, tuple[str, ...]]:
    """[n, 2] points and what the user calls each, "" where nothing is said."""
    if isinstance(value, str):
        points = typed_points(name, value)
    elif hasattr(value, "columns"):
        return _rows(name, {column: value[column] for column in value.columns}, value.index, value)
    elif hasattr(value, "x") and hasattr(value, "y"):
        points = _points(name, np.stack([np.atleast_1d(value.x), np.atleast_1d(value.y)], axis=1))
    elif isinstance(value, Mapping) and not any(map(np.ndim, value.values())):
        return _stops(name, [value])
    elif isinstance(value, Mapping):
        return _points(name, list(value.values())), tuple(map(str, value))
    elif isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
        columns = {key: [row.get(key) for row in value] for key in value[0]}
        return _rows(name, columns, [None] * len(value))
    else:
        points = _points(name, value)
    return points, ("",) * len(points)


def _typed_fix(text: str) -> dict[str, str]:
    """Waypoints and how they are fixed, as people type it: "W1 first; W2 agent 2"."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    found = [re.fullmatch(rf"(.+?)\s+({FIX})", part) for part in parts]
    if None in found:
        raise InvalidProblem(f'fix must be such as "W1 first; W2 agent 2", got {text!r:.80}')
    return {part[1]: part[2] for part in found if part}


def _rules(fix: Mapping[str, str], problem: Problem) -> tuple[Rule, ...]:
    """The rule of every waypoint."""
    found: dict[int, Rule] = {}
    for name, words in fix.items():
        rows = [row for row in problem.waypoint_indices if name in (problem.names[row], problem.labels[row])]
        if len(rows) != 1:
            known = ", ".join(problem.labels[row] for row in problem.waypoint_indices)
            raise InvalidProblem(f"fix: {name!r:.40} is not one of the waypoints {known}")
        found[rows[0]] = _rule(name, words, problem.num_agents)
    for place in ("first", "last"):
        owners = [owner for owner, own in found.values() if own == place]
        named = [owner for owner in owners if owner is not None]
        if len(owners) > problem.num_agents or len(set(named)) < len(named):
            raise InvalidProblem(f"fix: each agent has one {place} stop, got {dict(fix)}")
    return tuple(found.get(row, (None, "")) for row in problem.waypoint_indices)


def _rule(name: str, words: object, num_agents: int) -> Rule:
    rule = re.fullmatch(FIX, words.strip()) if isinstance(words, str) else None
    if rule is None:
        known = '"agent 1", "first", "last" or "agent 1 last"'
        raise InvalidProblem(f"fix: {name} may be {known}, got {words!r:.40}")
    owner = None if rule[1] is None else int(rule[1]) - 1
    if owner is not None and not 0 <= owner < num_agents:
        raise InvalidProblem(f"fix: {name} is for agent {rule[1]}; the agents are 1 to {num_agents}")
    return owner, rule[2] or ""


def _rows(
    name: str, columns: Mapping[Any, Any], index: Iterable[Any], table: Any = None
) -> tuple[FloatArray, tuple[str, ...]]:
    """The points of columns that are coordinates, or of a GeoDataFrame's geometry; and what its column `name`
    or an index of texts calls them."""
    known = {str(column).lower(): column for column in columns}
    labels = columns[known["name"]] if "name" in known else index
    found = [(known[x], known[y]) for x, y in COORDINATES if x in known and y in known]
    if hasattr(table, "geometry"):
        points = [table.geometry.x, table.geometry.y]
    elif found:
        points = [columns[key] for key in found[0]]
    else:
        pairs = " or ".join(f"{x} and {y}" for x, y in COORDINATES)
        raise InvalidProblem(f"{name}: stops need columns {pairs}; there are {', '.join(map(str, columns))}")
    texts = tuple(label if isinstance(label, str) else "" for label in labels)
    return _points(name, np.stack(points, axis=1)), texts


def typed_points(name: str, text: str) -> FloatArray:
    """[n, 2] points as people type them."""
    typed = text.strip()
    typed = typed[1:-1].strip() if re.match(r"[(\[]\s*[(\[]", typed) and typed[-1] in ")]" else typed
    if not any(re.fullmatch(f"{point}(?:{between}{point})*", typed) for point, between in TYPED):
        raise InvalidProblem(f'{name} must be points such as "0,0 52,36" or a CSV file, got {text!r:.80}')
    return np.array(re.findall(NUMBER, typed), dtype=np.float64).reshape(-1, 2)


def _points(name: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblem(f"{name} must be a list of [x, y] points, got {value!r:.80}") from error
    if array.size == 0 or array.shape == (2,):
        array = array.reshape(-1, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidProblem(
            f"{name} must have shape [n, 2], x and y (or longitude and latitude) of each stop; "
            f"got {value!r:.60}, of shape {list(array.shape)}"
        )
    for row, (x, y) in enumerate(array):
        if not (np.isfinite(x) and np.isfinite(y)):
            raise InvalidProblem(f"{name}[{row}] is ({x:g}, {y:g}); coordinates must be finite")
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class WorldParams:
    """Facts that models, planning and walking share.

    is_reversible: any recorded motion could have been made backward, so that one tree serves both directions
    and the distance is the same both ways; is_one_way: ways are lanes, the way back is a detour wherever one
    is, so that directions of motion count; turn_round: stops may be left in any direction, whichever
    they were reached in; jump: world units; a longer step was not walked but is a teleport.
    """

    is_reversible: bool = True
    is_one_way: bool = False
    turn_round: bool = False
    jump: float = 1.5

    def __post_init__(self) -> None:
        require_positive(self, "jump")
