"""What planning returns, saved as JSON that loads back and drawn as a picture."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.errors import BadResult, CannotWrite, InvalidProblem
from chronoforest.types import (
    Certificate,
    FloatArray,
    JointRoute,
    Leg,
    Pair,
    Plan,
    Problem,
    RoundStats,
    Support,
    TreePicture,
)

FORMAT = "chronoforest-plan/1"


@dataclass(frozen=True)
class PlanResult:
    """Routes for all agents with the evidence behind them; `complete` only when every leg is met.

    unmet: (from, to) names of legs without a bridge; meetings: [n, 2] places where trees touched.
    """

    problem: Problem
    routes: tuple[Plan, ...]
    unmet: tuple[tuple[str, str], ...]
    rounds: tuple[RoundStats, ...]
    num_expanded: int
    seconds: float
    seed: int
    variant: str
    preset: str
    certificate: Certificate
    trees: tuple[TreePicture, ...]
    meetings: FloatArray
    support: Support

    @property
    def complete(self) -> bool:
        """Whether every leg of every route is met."""
        return not self.unmet

    @property
    def length(self) -> float:
        """World units over all routes, after post-processing."""
        return sum(route.length for route in self.routes)

    @property
    def raw_length(self) -> float:
        """World units over all routes as they were found."""
        return sum(route.raw_length for route in self.routes)

    @property
    def saved(self) -> float:
        """Share of the raw length that post-processing cut."""
        return 1.0 - self.length / self.raw_length if self.raw_length > 0 else 0.0

    @property
    def num_rounds(self) -> int:
        """Rounds of the closed loop."""
        return len(self.rounds)

    def summary(self) -> str:
        """A few lines for people."""
        state = "complete" if self.complete else f"incomplete, unmet: {_arrows(self.unmet)}"
        lines = [f"{state}; {self.num_rounds} rounds, {self.num_expanded} expansions, {self.seconds:.1f} s"]
        lines += [f"  {' → '.join(route.order)}  {route.length:.1f} units" for route in self.routes]
        lines.append(f"  {self.length:.1f} units in all, {100 * self.saved:.1f} % cut by post-processing")
        return "\n".join(lines)

    def to_json(self) -> str:
        """Strict JSON of format `FORMAT`, without NaN or infinity."""
        return json.dumps(_to_dict(self), allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write JSON, atomically."""
        path = Path(path)
        draft = path.with_name(path.name + ".tmp")
        try:
            draft.write_text(self.to_json())
            os.replace(draft, path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error

    def plot(self, path: str | Path) -> None:
        """Draw trees, meetings, routes and anchors over the data's support."""
        from chronoforest.report import drawing

        figure, axes = drawing.new_axes(self.support)
        drawing.draw_trees(axes, self.trees)
        drawing.draw_paths(axes, [route.path for route in self.routes])
        drawing.draw_meetings(axes, self.meetings)
        drawing.draw_anchors(axes, self.problem)
        orders = "   ".join(" → ".join(route.order) for route in self.routes)
        state = "" if self.complete else "incomplete: "
        title = f"{state}{orders}   {self.length:.1f} units, {self.num_expanded} expansions"
        axes.set_title(title, fontsize=12, color=drawing.INK)
        try:
            figure.savefig(path)
        except OSError as error:
            raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error


def load_result(path: str | Path) -> PlanResult:
    """Read what `PlanResult.save` wrote."""
    path = Path(path)
    try:
        values = json.loads(path.read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadResult(f"{path} is not a saved plan: {error}") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise BadResult(f"{path} is not a saved plan of format {FORMAT!r}")
    try:
        return _from_dict(values)
    except (LookupError, TypeError, ValueError, InvalidProblem) as error:
        raise BadResult(f"{path} is damaged: {error!r}") from error


def _arrows(pairs: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{source}→{target}" for source, target in pairs)


def _to_dict(result: PlanResult) -> dict[str, Any]:
    problem = result.problem
    return {
        "format": FORMAT,
        "preset": result.preset,
        "variant": result.variant,
        "seed": result.seed,
        "complete": result.complete,
        "length": result.length,
        "raw_length": result.raw_length,
        "num_expanded": result.num_expanded,
        "seconds": result.seconds,
        "unmet": [list(pair) for pair in result.unmet],
        "problem": {
            "starts": problem.starts.tolist(),
            "goals": problem.goals.tolist(),
            "waypoints": problem.waypoints.tolist(),
        },
        "routes": [_route_dict(route) for route in result.routes],
        "rounds": [_finite(asdict(stats)) for stats in result.rounds],
        "certificate": _finite(asdict(result.certificate)),
        "trees": [{"anchor": t.anchor, "segments": np.round(t.segments, 2).tolist()} for t in result.trees],
        "meetings": result.meetings.tolist(),
        "support": result.support.to_dict(),
    }


def _route_dict(route: Plan) -> dict[str, Any]:
    legs = [_finite(asdict(leg)) for leg in route.legs]
    return {**asdict(route), "path": np.round(route.path, 5).tolist(), "legs": legs}


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity: what is unbounded or unknown is written as null."""
    is_odd = {name: isinstance(value, float) and not np.isfinite(value) for name, value in values.items()}
    return {name: None if is_odd[name] else value for name, value in values.items()}


def _infinite(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float("inf") if value is None else value for name, value in values.items()}


def _from_dict(values: Mapping[str, Any]) -> PlanResult:
    return PlanResult(
        problem=Problem(**values["problem"]),
        routes=tuple(_plan(route) for route in values["routes"]),
        unmet=tuple((source, target) for source, target in values["unmet"]),
        rounds=tuple(_round(stats) for stats in values["rounds"]),
        num_expanded=values["num_expanded"],
        seconds=values["seconds"],
        seed=values["seed"],
        variant=values["variant"],
        preset=values["preset"],
        certificate=Certificate(**_infinite(values["certificate"])),
        trees=tuple(TreePicture(t["anchor"], np.array(t["segments"])) for t in values["trees"]),
        meetings=np.array(values["meetings"], dtype=float).reshape(-1, 2),
        support=Support.from_dict(values["support"]),
    )


def _plan(values: Mapping[str, Any]) -> Plan:
    legs = tuple(Leg(**_infinite({**leg, "chain": tuple(leg["chain"])})) for leg in values["legs"])
    path = np.array(values["path"], dtype=float).reshape(-1, 2)
    return Plan(list(values["order"]), path, legs, values["raw_length"], tuple(values["stops"]))


def _round(values: Mapping[str, Any]) -> RoundStats:
    orders = tuple(tuple(order) for order in values["route"]["orders"])
    pairs = {name: tuple(Pair(**pair) for pair in values[name]) for name in ("pairs", "accepted")}
    return RoundStats(**_infinite({**values, **pairs, "route": JointRoute(orders)}))
