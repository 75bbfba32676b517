"""What may be planned: a problem in our words, or vehicles and jobs in VROOM's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

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
Polygon = Annotated[list[Point], Field(min_length=3, max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Label = Annotated[str, Field(max_length=60)]
Seed = Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)]
Answer = Literal["json", "geojson", "gpx", "csv", "rounds"]


class Message(BaseModel):
    """A JSON object without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Budget(Message):
    """When planning stops at the latest."""

    unit: Literal["rounds", "expansions", "seconds"]
    amount: Annotated[int, Field(strict=True, ge=1, le=100_000)]

    def stop(self) -> StopCriterion:
        """As the planner takes it."""
        from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds

        criteria = {"rounds": MaxRounds, "expansions": MaxExpansions, "seconds": MaxSeconds}
        return criteria[self.unit](self.amount)


class PlanRequest(Message):
    """Who starts where, must end where, what some agent has to visit, and how to plan for it."""

    starts: Annotated[Points, Field(description="one [x, y] per agent, in the coordinates of the recordings")]
    goals: Annotated[Points | None, Field(description="one per agent; the starts unless given")] = None
    waypoints: Annotated[Points, Field(description="places that some agent has to visit")] = []
    labels: Annotated[list[Label] | None, Field(description="of starts, waypoints and goals")] = None
    fix: Annotated[
        dict[Label, Label] | None, Field(description='waypoints: "agent 2", "first", "last", "agent 2 last"')
    ] = None
    variant: Annotated[Name, Field(description="one of those in /world")] = DEFAULT_VARIANT
    seed: Seed = 0
    budget: Annotated[Budget | None, Field(description="the planner's own unless given")] = None
    depart: Annotated[str, Field(max_length=40, description="such as 2026-11-16 08:00")] = ""
    snap: Annotated[bool, Field(description="stops move to where something was recorded")] = False
    exclude: Annotated[
        list[Polygon], Field(max_length=200, description="areas that no way enters, by their corners")
    ] = []
    preset: Annotated[Name | None, Field(description="one of /worlds; the opened one unless given")] = None
    answer: Annotated[Answer, Field(description="a file's format, or all rounds as lines of JSON")] = "json"

    @property
    def key(self) -> str:
        """The same for all requests for the same plan."""
        return self.model_dump_json(exclude={"answer"})

    def problem(self) -> Problem:
        """As the planner takes it."""
        goals = self.starts if self.goals is None else self.goals
        num_anchors = len(self.starts) + len(goals) + len(self.waypoints)
        if len(self.starts) > MAX_AGENTS:
            raise InvalidProblem(f"at most {MAX_AGENTS} agents can be planned for, got {len(self.starts)}")
        if num_anchors > MAX_ANCHORS:
            raise InvalidProblem(f"at most {MAX_ANCHORS} anchors can be planned for, got {num_anchors}")
        return Problem(self.starts, goals, self.waypoints, self.labels, self.fix)


Number = Annotated[int, Field(ge=0, lt=2**63)]


class Job(Message):
    """A place that one vehicle has to visit."""

    id: Number
    location: Point
    description: str = ""
    service: Annotated[int, Field(ge=0, le=10**9)] = 0


class Vehicle(Message):
    """Who starts where and must end where; without an end it may stay at its last job."""

    id: Number
    start: Point
    end: Point | None = None
    description: str = ""
    profile: str = "car"


class Fleet(Message):
    """VROOM's input as far as joint routes go: no time windows, capacities, breaks or shipments."""

    vehicles: Annotated[list[Vehicle], Field(min_length=1, max_length=100)]
    jobs: Annotated[list[Job], Field(max_length=500)]
    options: dict[str, Any] = {}


def _words(body: Any) -> str:
    """Whose words a problem is in."""
    return (
        "fleet" if isinstance(body, Fleet) or (isinstance(body, dict) and "vehicles" in body) else "problem"
    )


Asked = Annotated[
    Annotated[PlanRequest, Tag("problem")] | Annotated[Fleet, Tag("fleet")], Discriminator(_words)
]


def sentence(errors: Sequence[Any]) -> str:
    """One readable sentence from pydantic's list of errors."""
    first = errors[0]
    extra = {str(one["loc"][-1]) for one in errors if one["type"] == "extra_forbidden"}
    if extra and "fleet" in first["loc"][:2]:
        return (
            f"{', '.join(map(_plain, sorted(extra)))}: not part of a joint route; run VROOM itself with its "
            "router (-r osrm) pointed at this service, whose /table/v1 and /route/v1 it asks"
        )
    more = f" (and {len(errors) - 1} more mistakes)" if len(errors) > 1 else ""
    says_all = first["type"] in ("missing", "json_invalid", "extra_forbidden")
    received = "" if says_all else f", got {_plain(first['input'])}"
    place = ".".join(map(_plain, first["loc"][2:])) or "the request"
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}{received}{more}"


def _plain(value: Any, longest: int = 60) -> str:
    """ASCII of bounded length, whatever was sent."""
    return ascii(str(value))[1:-1][:longest]
