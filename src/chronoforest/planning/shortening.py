"""Shorter paths: cut corners where the data supports it, keep room to its edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from chronoforest.errors import require_positive
from chronoforest.planning.polylines import (
    Links,
    are_open,
    beside,
    cheapest_chains,
    cheapest_links,
    chord_costs,
    chords_of,
    links_of,
)
from chronoforest.roadmap.straight import finely, resample, taut
from chronoforest.types import BoolArray, Density, Distance, FloatArray

CROWDING = 4.0
"""How much more a unit costs at the edge of the support than with room to spare."""

NUM_PASSES = 3
"""Times a path is settled between its two rounds of cut corners."""

SLACK = 1.1
"""A cut may take this much longer, by the temporal distance, than the way it replaces."""

_FORBIDDEN = 1e6

_AT_ONCE = 16
"""Ways that are shortened together, so that memory stays small."""


@dataclass(frozen=True)
class AssemblyParams:
    """Post-processing, in world units.

    spacing: between points of the final path, at most; keep_margin: room to the edge of the data's support
    that a path tries to keep; edge: room that every cut must leave, unless the way it replaces had less;
    longest_cut: longest chord across a corner; tube_width: how far a point may move sideways; tube_step: how
    finely; timing_hop: hops over which travel time is summed.
    """

    spacing: float = 0.25
    keep_margin: float = 1.1
    edge: float = 0.2
    longest_cut: float = 16.0
    tube_width: float = 1.2
    tube_step: float = 0.1
    timing_hop: float = 4.0

    def __post_init__(self) -> None:
        require_positive(self, "spacing", "keep_margin", "tube_step", "longest_cut")


def shorten_all(
    paths: Sequence[FloatArray], density: Density, distance: Distance | None, params: AssemblyParams
) -> list[FloatArray]:
    """Shorter ways with the same ends and room around them, [t, d] each with points at most `params.spacing`
    apart, by density and, if there is one, temporal distance; both are asked about many ways at once.

    Where directions count corners are not cut, since the density of a chord does not say which lanes it
    crosses: ways are pulled tight within the room that they keep to the edge of the support.
    """
    if density.is_one_way:
        return [taut(finely(path, params.spacing), params.edge) for path in paths]
    parts = [paths[first : first + _AT_ONCE] for first in range(0, len(paths), _AT_ONCE)]
    return [path for part in parts for path in _shortened(part, density, distance, params)]


def _shortened(
    paths: Sequence[FloatArray], density: Density, distance: Distance | None, params: AssemblyParams
) -> list[FloatArray]:
    """Cut, settle a few times, cut again."""

    def even(ways: Sequence[FloatArray]) -> list[FloatArray]:
        return [resample(way, 2 * params.spacing) for way in ways]

    ways = cut_corners(even(paths), density, distance, params)
    for _ in range(NUM_PASSES):
        ways = settle(even(ways), density, params)
    return [resample(way, params.spacing) for way in cut_corners(even(ways), density, distance, params)]


def cut_corners(
    paths: Sequence[FloatArray], density: Density, distance: Distance | None, params: AssemblyParams
) -> list[FloatArray]:
    """The cheapest way over each path's own points [n, d] along chords the data supports.

    A chord must stay inside the support (or no farther outside than the way it replaces), and must not take
    longer by the temporal distance; its price is its length, more where room is short.
    """
    return _where_bent(paths, lambda bent: _cut(bent, density, distance, params))


def _cut(
    paths: Sequence[FloatArray], density: Density, distance: Distance | None, params: AssemblyParams
) -> list[FloatArray]:
    points, counts = np.concatenate(paths), [len(path) for path in paths]
    chords = chords_of(paths, density.margin(points), params.longest_cut, params.edge)
    shares = np.linspace(0.0, 1.0, max(3, int(params.longest_cut / (1.6 * params.spacing))))
    # Most chords fail in the middle, and a few places are looked at sooner than all of them.
    quarter = len(shares) // 4
    for share in shares[[2 * quarter, quarter, 3 * quarter]]:
        chords = chords.where(are_open(points, chords, density, share))
    cost = chord_costs(points, chords, density, shares, partial(_price, params=params))
    chords, cost = chords.where(np.isfinite(cost)), cost[np.isfinite(cost)]
    chains = cheapest_links(counts, chords, cost)
    is_detour = None if distance is None else _Detours(points, distance)
    # Hardly any chord is a detour: all are asked about only where the cheapest way takes one.
    if is_detour is not None and is_detour(links_of(chains)).any():
        keep = ~is_detour(chords)
        chains = cheapest_links(counts, chords.where(keep), cost[keep])
    return [points[chain] for chain in chains]


class _Detours:
    """Which links between points [n, d] of paths, hops left out, take longer than the way along the path."""

    def __init__(self, points: FloatArray, distance: Distance) -> None:
        self.distance = distance
        self.codes = distance.encode(points)
        hops = distance.between(self.codes[:-1], self.codes[1:])
        self.clock = np.concatenate([[0.0], np.cumsum(hops)])

    def __call__(self, links: Links) -> BoolArray:
        """[c], in steps."""
        straight = self.distance.between(self.codes[links.rows], self.codes[links.columns])
        along = self.clock[links.columns] - self.clock[links.rows]
        return np.asarray(~links.is_hop & ~(straight <= SLACK * along))


def settle(paths: Sequence[FloatArray], density: Density, params: AssemblyParams) -> list[FloatArray]:
    """Move every inner point sideways to the cheapest polylines: length, more where room is short."""
    return _where_bent(paths, lambda bent: _settled(bent, density, params))


def _settled(paths: Sequence[FloatArray], density: Density, params: AssemblyParams) -> list[FloatArray]:
    tangent = np.concatenate([path[2:] - path[:-2] for path in paths])
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    offsets = np.arange(-params.tube_width, params.tube_width + 1e-9, params.tube_step)
    points, is_inner = np.concatenate(paths), np.concatenate([_is_inner(len(path)) for path in paths])
    sideways = np.zeros_like(points)
    sideways[is_inner] = normal
    places = beside(points, sideways, offsets)
    room = density.margin(places)
    price = _price(room, params)
    price[(room <= 0) & is_inner[:, None]] = _FORBIDDEN
    return cheapest_chains(places, price, [len(path) for path in paths])


def _where_bent(
    paths: Sequence[FloatArray], change: Callable[[Sequence[FloatArray]], list[FloatArray]]
) -> list[FloatArray]:
    """The paths that have inner points changed, all in one call; the others as they are."""
    bent = [path for path in paths if len(path) > 2]
    changed = iter(change(bent) if bent else [])
    return [next(changed) if len(path) > 2 else path for path in paths]


def _is_inner(count: int) -> BoolArray:
    """[count]: all but the ends."""
    is_inner = np.ones(count, dtype=np.bool_)
    is_inner[[0, -1]] = False
    return is_inner


def _price(room: FloatArray, params: AssemblyParams) -> FloatArray:
    """What a unit costs with so much room to the edge of the support: 1 with enough of it."""
    price = room / params.keep_margin
    np.subtract(1.0, price, out=price)
    np.maximum(0.0, price, out=price)
    price *= CROWDING
    price += 1.0
    return price
