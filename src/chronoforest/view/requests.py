"""What the service may be asked: a problem as JSON, checked before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chronoforest.errors import InvalidProblem
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.types import Problem, StopCriterion

MAX_ANCHORS = 64
"""Starts, goals and waypoints together."""

MAX_AGENTS = 16
MAX_SEED = 2**31 - 1
LARGEST_COORDINATE = 1e8
"""Also the metres of a zone of UTM fit."""

Coordinate = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=-LARGEST_COORDINATE, le=LARGEST_COORDINATE)
]
Point = tuple[Coordinate, Coordinate]
Points = Annotated[list[Point], Field(max_length=MAX_ANCHORS)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class StrictMessage(BaseModel):
    """A JSON object without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Budget(StrictMessage):
    """When planning stops at the latest."""

    unit: Literal["rounds", "expansions", "seconds"]
    amount: Annotated[int, Field(strict=True, ge=1, le=100_000)]

    def stop(self) -> StopCriterion:
        """As the planner takes it."""
        from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds

        criteria = {"rounds": MaxRounds, "expansions": MaxExpansions, "seconds": MaxSeconds}
        return criteria[self.unit](self.amount)


class PlanRequest(StrictMessage):
    """Who starts where, must end where, what somebody has to visit, and how to plan for it."""

    starts: Annotated[Points, Field(description="one [x, y] per agent, in the coordinates of the recordings")]
    goals: Annotated[Points, Field(description="one [x, y] per agent, in the order of the starts")]
    waypoints: Annotated[Points, Field(description="places that some agent has to visit")] = []
    variant: Annotated[Name, Field(description="one of those in /api/world")] = DEFAULT_VARIANT
    mode: Literal["default", "fast"] = "default"
    seed: Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)] = 0
    budget: Annotated[Budget | None, Field(description="the planner's own unless told")] = None
    preset: Annotated[
        Name | None, Field(description="one of those in /api/worlds; the opened one unless told")
    ] = None
    session: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = "default"

    def problem(self) -> Problem:
        """As the planner takes it."""
        num_anchors = len(self.starts) + len(self.goals) + len(self.waypoints)
        if len(self.starts) > MAX_AGENTS:
            raise InvalidProblem(f"at most {MAX_AGENTS} agents can be planned for, got {len(self.starts)}")
        if num_anchors > MAX_ANCHORS:
            raise InvalidProblem(f"at most {MAX_ANCHORS} anchors can be planned for, got {num_anchors}")
        return Problem(self.starts, self.goals, self.waypoints)


class Accepted(StrictMessage):
    """A job that was taken in."""

    id: str
    events: Annotated[str, Field(description="where its server-sent events are")]


class Snapped(StrictMessage):
    """A problem whose anchors lie where something was recorded."""

    starts: list[Point]
    goals: list[Point]
    waypoints: list[Point]
    notices: Annotated[list[str], Field(description="a sentence about each anchor that was moved")]


class Refusal(StrictMessage):
    """What every error looks like: one sentence for people."""

    error: str


def sentence(errors: Sequence[Any]) -> str:
    """One readable sentence from pydantic's list of errors."""
    first = errors[0]
    more = f" (and {len(errors) - 1} more mistakes)" if len(errors) > 1 else ""
    reason = first["msg"][:1].lower() + first["msg"][1:]
    says_all = first["type"] in ("missing", "json_invalid", "extra_forbidden")
    received = "" if says_all else f", got {_shown(first['input'])}"
    return f"{_place(first['loc'])}: {reason}{received}{more}"


def _place(location: Sequence[str | int]) -> str:
    """starts[0][1] for ("body", "starts", 0, 1)."""
    path = ""
    for part in location[1:]:
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{_shown(part)}"
    return path or "the request"


def _shown(value: Any, longest: int = 60) -> str:
    """Plain ASCII of bounded length, whatever was sent."""
    text = value if isinstance(value, str) and value.isidentifier() else ascii(value)
    return ascii(text)[1:-1][:longest] + "…" * (len(text) > longest)
