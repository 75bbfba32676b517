"""Planners with one parameter set otherwise, for sweeps, as "search.num_expand=2" tells."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from chronoforest.errors import InvalidParameter
from chronoforest.models.sampler import SegmentSampler
from chronoforest.models.store import Models
from chronoforest.presets.loading import PresetPlanner

Params = TypeVar("Params")


@lru_cache(maxsize=4)
def overridden(planner: PresetPlanner, change: str) -> PresetPlanner:
    """A planner with one parameter of `PlannerParams` set otherwise, or, after `calibration.` and `sampler.`,
    of those; itself where there is nothing to change."""
    if not change:
        return planner
    path, value = parse(change)
    part, _, rest = path.partition(".")
    other, models = copy(planner), planner.models
    if not isinstance(models, Models):
        raise InvalidParameter(f"{planner.name!r} has no networks, so {change!r} changes nothing")
    if part == "calibration":
        other.models = replace(models, calibration=with_value(models.calibration, rest, value))
    elif part == "sampler":
        old = models.sampler
        sampler = SegmentSampler(old.teacher, old.distance, with_value(old.params, rest, value), old.device)
        other.models = replace(models, sampler=sampler)
    else:
        other.params = with_value(planner.params, path, value)
    return other


def parse(change: str) -> tuple[str, Any]:
    """The dotted name and the value of a change."""
    path, equals, text = change.partition("=")
    if not equals or not path:
        raise InvalidParameter(f"a change must look like search.num_expand=2, got {change!r}")
    try:
        number = float(text)
    except ValueError:
        raise InvalidParameter(f"{path} must be set to a number, got {text!r}") from None
    return path, number


def with_value(params: Params, path: str, value: float) -> Params:
    """A copy of nested parameters with one number replaced; whole numbers stay whole."""
    name, _, rest = path.partition(".")
    known = [field.name for field in fields(params)] if is_dataclass(params) else []
    if name not in known:
        raise InvalidParameter(
            f"{type(params).__name__} has no parameter {name!r}; available: {', '.join(known)}"
        )
    old = getattr(params, name)
    new = with_value(old, rest, value) if rest else type(old)(value)
    return replace(params, **{name: new})  # type: ignore[type-var]
