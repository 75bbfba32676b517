"""Planners with one parameter set otherwise, for sweeps, as "search.num_expand=2" tells."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from chronoforest.bench.suites import Mode
from chronoforest.errors import InvalidParameter
from chronoforest.models.sampler import SegmentSampler

if TYPE_CHECKING:
    from chronoforest.bench.run import ShippedPlanner
    from chronoforest.presets.loading import PresetPlanner

Params = TypeVar("Params")


@dataclass(frozen=True)
class ChangedPlanner:
    """Loads a planner and changes one of its parameters."""

    load: ShippedPlanner
    change: str

    def __call__(self, preset: str, mode: Mode) -> PresetPlanner:
        """The changed planner of a preset."""
        return changed(self.load(preset, mode), self.change)


def changed(planner: PresetPlanner, change: str) -> PresetPlanner:
    """Apply a change to a planner of one's own: what it names is in `PlannerParams`, or, after `calibration.`
    and `sampler.`, in the calibration of the distance and in the sampler's parameters."""
    path, value = parse(change)
    part, _, rest = path.partition(".")
    models = planner.models
    if part == "calibration":
        planner.models = replace(models, calibration=with_value(models.calibration, rest, value))
    elif part == "sampler":
        old = models.sampler
        sampler = SegmentSampler(old.net, old.distance, with_value(old.params, rest, value), old.device)
        planner.models = replace(models, sampler=sampler)
    else:
        planner.params = with_value(planner.params, path, value)
    return planner


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
