"""Shorter paths: cut corners where the data supports it, keep room to its edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Protocol

import numpy as np

from chronoforest.errors import require_positive
from chronoforest.planning.cheapest import Links, cheapest_chains, cheapest_links, lengths, links_of
from chronoforest.planning.chords import are_onward, are_open, beside, chord_costs, chords_of
from chronoforest.roadmap.lines import FAR
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


class Shortening(Protocol):
    """What is made of ways [t, d] that were found: others with the same ends, all in one call."""

    def __call__(
        self, paths: Sequence[FloatArray], density: Density, distance: Distance, params: AssemblyParams, /
    ) -> list[FloatArray]:
        """[t, d] each, with points at most `params.spacing` apart."""


def shorten(path: FloatArray, density: Density, distance: Distance, params: AssemblyParams) -> FloatArray:
    """A shorter way with the same ends and room around it, by density and temporal distance alone."""
    return shorten_all([path], density, distance, params)[0]


def shorten_all(
    paths: Sequence[FloatArray], density: Density, distance: Distance, params: AssemblyParams
) -> list[FloatArray]:
    """A shorter way for each: what is asked of the models is asked for many ways at once."""
    parts = [paths[first : first + _AT_ONCE] for first in range(0, len(paths), _AT_ONCE)]
    return [path for part in parts for path in _shortened(part, density, distance, params)]


def _shortened(
    paths: Sequence[FloatArray], density: Density, distance: Distance, params: AssemblyParams
) -> list[FloatArray]:
    """Cut, settle a few times, cut again; a way that would run against traffic by that stays as it was."""

    def even(ways: Sequence[FloatArray]) -> list[FloatArray]:
        return [resample(way, 2 * params.spacing) for way in ways]

    ways = cut_corners(even(paths), density, distance, params)
    for _ in range(NUM_PASSES):
        ways = settle(even(ways), density, params)
    ways = cut_corners(even(ways), density, distance, params)
    pairs = [
        (resample(way, params.spacing), resample(path, params.spacing))
        for way, path in zip(ways, paths, strict=True)
    ]
    return [
        raw if against_traffic(way, density) > against_traffic(raw, density) else way for way, raw in pairs
    ]


def against_traffic(path: FloatArray, density: Density) -> float:
    """Units of a path [n, d] along which nobody moved its way; 0 where directions do not matter."""
    if not density.is_one_way or len(path) < 2:
        return 0.0
    moves = np.diff(path, axis=0)
    is_against = ~density.follows(0.5 * (path[1:] + path[:-1]), FAR * moves)
    return float(lengths(moves)[is_against].sum())


def as_found(
    paths: Sequence[FloatArray], _: Density, __: Distance, params: AssemblyParams
) -> list[FloatArray]:
    """The ways themselves, with all corners and points between them (variant `no-shortening`)."""
    return [_filled(path, params.spacing) for path in paths]


def _filled(path: FloatArray, spacing: float) -> FloatArray:
    """A polyline [t, d] with all its corners and points at most `spacing` apart."""
    hops = [(a, b, float(np.linalg.norm(b - a))) for a, b in pairwise(path)]
    parts = [
        np.linspace(a, b, int(np.ceil(length / spacing)), endpoint=False)
        for a, b, length in hops
        if length > 1e-9
    ]
    return np.concatenate([*parts, path[-1:]])


def resample(path: FloatArray, spacing: float) -> FloatArray:
    """The same polyline with points at most `spacing` apart; ends are kept."""
    hops = lengths(np.diff(path, axis=0))
    keep = np.concatenate([[True], hops > 1e-9])
    path, along = path[keep], np.concatenate([[0.0], np.cumsum(hops[hops > 1e-9])])
    if len(path) == 1:
        return path
    ticks = np.linspace(0.0, along[-1], max(2, int(np.ceil(along[-1] / spacing)) + 1))
    return np.stack([np.interp(ticks, along, path[:, k]) for k in range(path.shape[1])], axis=1)


def cut_corners(
    paths: Sequence[FloatArray], density: Density, distance: Distance, params: AssemblyParams
) -> list[FloatArray]:
    """The cheapest way over each path's own points [n, d] along chords the data supports.

    A chord must stay inside the support (or no farther outside than the way it replaces), go with recorded
    motion where directions matter, and must not take longer by the temporal distance; its price is its
    length, dearer where room is short.
    """
    return _where_bent(paths, lambda bent: _cut(bent, density, distance, params))


def _cut(
    paths: Sequence[FloatArray], density: Density, distance: Distance, params: AssemblyParams
) -> list[FloatArray]:
    points, counts = np.concatenate(paths), [len(path) for path in paths]
    chords = chords_of(paths, density.margin(points), params.longest_cut, params.edge)
    if density.is_one_way:
        tangent = np.concatenate([np.gradient(path, axis=0) for path in paths])
        chords = chords.where(are_onward(points, tangent, chords))
    shares = np.linspace(0.0, 1.0, max(3, int(params.longest_cut / (1.6 * params.spacing))))
    # Most chords fail in the middle, and a few places are looked at sooner than all of them.
    quarter = len(shares) // 4
    for share in shares[[2 * quarter, quarter, 3 * quarter]]:
        chords = chords.where(are_open(points, chords, density, share))
    cost = chord_costs(points, chords, density, shares, partial(_price, params=params))
    chords, cost = chords.where(np.isfinite(cost)), cost[np.isfinite(cost)]
    is_detour = _Detours(points, distance)
    chains = cheapest_links(counts, chords, cost)
    # Hardly any chord is a detour: all are asked about only where the cheapest way takes one.
    if is_detour(links_of(chains)).any():
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
    """Move every inner point sideways to the cheapest polylines: length, dearer where room is short."""
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
    is_banned = room <= 0
    is_banned[is_inner] |= _leaves_lane(points[is_inner], places[is_inner], tangent, density)
    price[is_banned & is_inner[:, None]] = _FORBIDDEN
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


def _leaves_lane(points: FloatArray, beside: FloatArray, tangent: FloatArray, density: Density) -> BoolArray:
    """[n, o]: nobody moved the way of a path at a place beside it [n, o, d], though somebody did on it."""
    if not density.is_one_way:
        return np.zeros(beside.shape[:2], dtype=np.bool_)
    was_on = density.follows(points, FAR * tangent)
    return np.asarray(was_on[:, None] & ~density.follows(beside, FAR * tangent[:, None]))


def _price(room: FloatArray, params: AssemblyParams) -> FloatArray:
    """What a unit costs with so much room to the edge of the support: 1 with enough of it."""
    price = room / params.keep_margin
    np.subtract(1.0, price, out=price)
    np.maximum(0.0, price, out=price)
    price *= CROWDING
    price += 1.0
    return price
