"""Closed areas: a search over the hops that lead around them, and a planner that goes around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np
import shapely
from scipy.ndimage import distance_transform_edt, map_coordinates
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.exports.network import LEAST, Network
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import PlanResult
from chronoforest.roadmap.roadmap import Doors, Roadmap
from chronoforest.service.hierarchy import Leg, Seeds
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Closure:
    """A search over the open hops; is_open: [m] of the hops; is_closed: [n] of the states; cost: [m] what is
    least on the way."""

    network: Network
    is_open: BoolArray
    is_closed: BoolArray
    cost: FloatArray

    @classmethod
    def of(cls, network: Network) -> Self:
        """Of the whole network, with nothing closed."""
        nothing = np.zeros(len(network.position), dtype=np.bool_)
        return cls(network, np.ones(network.num_hops, dtype=np.bool_), nothing, network.seconds)

    def leg(self, source: Seeds, targets: Sequence[Seeds]) -> Leg:
        """The cheapest ways over open hops from a set of states to each of some sets of states."""
        states, found, before = self._field(source)
        reached = np.append(found[: len(states)], np.inf)
        rows = [self._rows(states, ends) for ends, _ in targets]
        best = [int(np.argmin(reached[row] + gap)) for row, (_, gap) in zip(rows, targets, strict=True)]
        where = [int(row[k]) for row, k in zip(rows, best, strict=True)]
        cost = reached[where] + [gap[k] for (_, gap), k in zip(targets, best, strict=True)]

        def hops(column: int) -> IntArray:
            chain = [where[column]]
            while before[chain[-1]] < len(states):
                chain.append(int(before[chain[-1]]))
            way = states[chain[::-1]]
            return self.network.hops_between(way[:-1], way[1:])

        return Leg(cost, hops)

    def tables(self, sources: Sequence[Seeds], targets: Sequence[Seeds]) -> tuple[FloatArray, FloatArray]:
        """[K, L] seconds and units over open hops between sets of states."""
        seconds, length = np.full((2, len(sources), len(targets)), np.inf)
        for row, source in enumerate(sources):
            leg = self.leg(source, targets)
            for column in np.flatnonzero(np.isfinite(leg.cost)).tolist():
                hops = leg.hops(column)
                seconds[row, column] = self.network.seconds[hops].sum()
                length[row, column] = self.network.length[hops].sum()
        return seconds, length

    def _rows(self, states: IntArray, wanted: IntArray) -> IntArray:
        """Rows of wanted states, len(states) where they are not among them."""
        rows = np.minimum(np.searchsorted(states, wanted), len(states) - 1)
        return np.where(states[rows] == wanted, rows, len(states))

    def _field(self, source: Seeds) -> tuple[IntArray, FloatArray, IntArray]:
        """States of the part of the network where a search begins, what it costs to get to each of them and
        then nowhere, and the row before each, their number where a way begins."""
        network, (begin, gap) = self.network, source
        gap, begin = gap[np.isfinite(gap)], begin[np.isfinite(gap)]
        is_here = np.isin(network.component, network.component[begin])
        states = np.flatnonzero(is_here)
        hops = np.flatnonzero(self.is_open & is_here[network.source])
        count = len(states)
        start = np.append(np.searchsorted(states, network.source[hops]), np.full(len(begin), count))
        end = np.searchsorted(states, np.append(network.target[hops], begin))
        cost = np.append(self.cost[hops], np.maximum(gap, LEAST))
        graph = csr_matrix((cost, (start, end)), shape=(count + 1,) * 2)
        found, before = dijkstra(graph, indices=count, return_predecessors=True)
        return states, found, np.where(before < 0, count, before).astype(np.int64)


def apart(states: IntArray, cost: FloatArray) -> list[Seeds]:
    """Each of some states as a set of its own."""
    return [(states[k : k + 1], cost[k : k + 1]) for k in range(len(states))]


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


def united(polygons: Sequence[FloatArray]) -> Any:
    """The area of polygons [p, 2], prepared to be asked about often."""
    area = shapely.union_all(shapely.make_valid(np.array([shapely.Polygon(corners) for corners in polygons])))
    shapely.prepare(area)
    return area


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
