"""A planner that goes around closed areas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import shapely
from scipy.ndimage import distance_transform_edt, map_coordinates

from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import PlanResult
from chronoforest.roadmap.roadmap import Doors, Roadmap
from chronoforest.service.search import united
from chronoforest.types import FloatArray

AROUND = (DEFAULT_VARIANT, "roadmap-only")
"""Variants that can go around closed areas: their ways are hops, and those that enter are left out."""


def plan_around(planner: Planner, exclude: Sequence[Any], problem: Any, **options: Any) -> PlanResult:
    """A plan, as `planner` makes it, whose routes enter none of some polygons [p, 2] in the user's
    coordinates. Networks know nothing of a closure, so ways over the roadmap are not verified."""
    if options.get("variant", DEFAULT_VARIANT) not in AROUND:
        raise InvalidParameter(f"exclude goes with the variants {' and '.join(AROUND)}")
    area = united([planner.frame.to_local(np.array(corners)) for corners in exclude])
    for name, place in zip(problem.names, planner.frame.to_local(problem.anchors), strict=True):
        if area.intersects(shapely.Point(place)):
            raise InvalidProblem(f"{name} lies in a closed area")
    roadmap = planner.prepared(DEFAULT_VARIANT).roadmap
    aside = roadmap.params.room * roadmap.space.spacing
    # Hops lead around; where the line drawn over them still cuts a corner, those beside the area close too.
    for room in (0.0, max(aside, 2.0 * planner.models.support.cell)):
        result = _detouring(planner, roadmap, area, room).plan(problem, **options)
        paths = [planner.frame.to_local(route.path) for route in result.routes if len(route.path) > 1]
        if not any(area.intersects(shapely.LineString(path)) for path in paths):
            return result
    raise InvalidProblem("every way that was found enters a closed area")


@dataclass(frozen=True, eq=False)
class _Detours(Roadmap):
    """A roadmap whose anchors are not joined to places across a closed area."""

    area: Any = None

    def doors(self, anchors: FloatArray) -> Doors:
        found = super().doors(anchors)
        lines = shapely.linestrings(np.stack([anchors[found.anchor], self.position[found.place]], axis=1))
        is_free = ~shapely.intersects(self.area, lines)
        return Doors(found.anchor[is_free], found.place[is_free], found.cost[is_free])


class _Instead:
    """Something else with a few attributes in the place of its own."""

    def __init__(self, other: Any, **attributes: Any) -> None:
        self.__dict__.update(attributes, other=other)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["other"], name)


def _detouring(planner: Planner, roadmap: Roadmap, area: Any, room: float) -> Planner:
    """The planner without the hops that come within `room` units of an area, which is no support either."""
    wide, hops = area.buffer(room), roadmap.hops
    shapely.prepare(wide)
    ends = np.stack([roadmap.position[hops.source], roadmap.position[hops.target]], axis=1)
    is_open = ~shapely.intersects(wide, shapely.linestrings(ends))
    values = vars(roadmap) | {
        "hops": hops.where(is_open),
        "times": replace(roadmap.times, steps=roadmap.times.steps[is_open]),
    }
    names = Roadmap.__dataclass_fields__
    around = _Detours(**{name: values[name] for name in names}, area=area)
    support, given = planner.models.support, planner.models.density
    near, cells = area.buffer(0.75 * support.cell), np.argwhere(support.mask)
    closed = cells[shapely.contains_xy(near, *(support.origin + support.cell * cells).T)]
    mask = support.mask.copy()
    mask[tuple(closed.T)] = False

    @cache
    def room_around() -> FloatArray:
        """[nx, ny] units from cells to the area, in which they are negative."""
        is_near = np.zeros(mask.shape, dtype=np.bool_)
        is_near[tuple(closed.T)] = True
        found = support.cell * (distance_transform_edt(~is_near) - distance_transform_edt(is_near))
        return np.asarray(found if len(closed) else np.full(mask.shape, 1e9))

    def margin(points: FloatArray) -> FloatArray:
        rows = np.moveaxis((np.asarray(points) - support.origin) / support.cell, -1, 0)
        own = given.margin(points)
        return np.minimum(own, map_coordinates(room_around(), rows, order=1, mode="nearest"))

    density = _Instead(given, margin=margin)
    models: Any = _Instead(planner.models, density=density, support=replace(support, mask=mask))
    return Planner(models, planner.params, planner.name, planner.frame, around, can_verify=False)
