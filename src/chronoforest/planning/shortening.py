"""Shorter paths: cut corners where the data supports it, keep room to its edge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from chronoforest.errors import require_positive
from chronoforest.types import (
    BoolArray,
    Density,
    Distance,
    FloatArray,
    IntArray,
)

CROWDING = 4.0
"""How much more a unit costs at the edge of the support than with room to spare."""

NUM_PASSES = 3
"""Times a path is settled between its two rounds of cut corners."""

SLACK = 1.1
"""A cut may take this much longer, by the temporal distance, than the way it replaces."""

LARGEST_TURN = 45.0
"""Degrees between a cut and a one-way path where it leaves and joins it, so that it runs against no lane."""

_FORBIDDEN = 1e6

FAR = 1e6
"""A short move of a body has no direction, a piece of a path has one however short it is: it is asked about
so many times as long."""


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
    """What is made of a way [t, d] that was found: another one with the same ends."""

    def __call__(
        self, path: FloatArray, density: Density, distance: Distance, params: AssemblyParams, /
    ) -> FloatArray:
        """[t, d] with points at most `params.spacing` apart."""


def travel_time(path: FloatArray, distance: Distance, params: AssemblyParams) -> float:
    """Steps along a path [t, 2]: the temporal distance summed over hops of `timing_hop` units."""
    codes = distance.encode(resample(path, params.timing_hop))
    return float(distance.between(codes[:-1], codes[1:]).sum())


def shorten(path: FloatArray, density: Density, distance: Distance, params: AssemblyParams) -> FloatArray:
    """A shorter way with the same ends and room around it, by density and temporal distance alone."""
    raw = resample(path, params.spacing)
    path = cut_corners(resample(path, 2 * params.spacing), density, distance, params)
    for _ in range(NUM_PASSES):
        path = settle(resample(path, 2 * params.spacing), density, params)
    path = cut_corners(resample(path, 2 * params.spacing), density, distance, params)
    path = resample(path, params.spacing)
    return raw if against_traffic(path, density) > against_traffic(raw, density) else path


def against_traffic(path: FloatArray, density: Density) -> float:
    """Units of a path [n, d] along which nobody moved its way; 0 where directions do not matter."""
    if not density.is_one_way or len(path) < 2:
        return 0.0
    moves = np.diff(path, axis=0)
    is_against = ~density.follows(0.5 * (path[1:] + path[:-1]), FAR * moves)
    return float(_lengths(moves)[is_against].sum())


def as_found(path: FloatArray, _: Density, __: Distance, params: AssemblyParams) -> FloatArray:
    """The way itself, with all its corners and points between them (variant `no-shortening`)."""
    hops = [(a, b, float(np.linalg.norm(b - a))) for a, b in pairwise(path)]
    parts = [
        np.linspace(a, b, int(np.ceil(length / params.spacing)), endpoint=False)
        for a, b, length in hops
        if length > 1e-9
    ]
    return np.concatenate([*parts, path[-1:]])


def resample(path: FloatArray, spacing: float) -> FloatArray:
    """The same polyline with points at most `spacing` apart; ends are kept."""
    hops = np.linalg.norm(np.diff(path, axis=0), axis=1)
    keep = np.concatenate([[True], hops > 1e-9])
    path, along = path[keep], np.concatenate([[0.0], np.cumsum(hops[hops > 1e-9])])
    if len(path) == 1:
        return path
    ticks = np.linspace(0.0, along[-1], max(2, int(np.ceil(along[-1] / spacing)) + 1))
    return np.stack([np.interp(ticks, along, path[:, k]) for k in range(path.shape[1])], axis=1)


def cut_corners(path: FloatArray, density: Density, distance: Distance, params: AssemblyParams) -> FloatArray:
    """The cheapest way over the path's own points [n, 2] along chords the data supports.

    A chord must stay inside the support (or no farther outside than the way it replaces), go with recorded
    motion where directions matter, and must not take longer by the temporal distance; its price is its
    length, dearer where room is short.
    """
    if len(path) < 3:
        return path
    rows, columns = np.triu_indices(len(path), k=1)
    keep = _lengths(path[rows] - path[columns]) <= params.longest_cut
    if density.is_one_way:
        keep[keep] = _is_onward(path, rows[keep], columns[keep])
    keep[keep] = _is_no_detour(path, rows[keep], columns[keep], distance)
    keep |= columns == rows + 1
    rows, columns = rows[keep], columns[keep]
    least = np.minimum(_least_between(density.margin(path))[rows, columns], params.edge) - 1e-6
    least[columns == rows + 1] = -np.inf
    chords, room = _along_chords(path[rows], path[columns], least, density, params)
    rows, columns = rows[chords], columns[chords]
    length = _lengths(path[rows] - path[columns])
    return path[_cheapest_links(len(path), rows, columns, length * _price(room, params).mean(axis=1))]


def settle(path: FloatArray, density: Density, params: AssemblyParams) -> FloatArray:
    """Move every inner point sideways to the cheapest polyline: length, dearer where room is short."""
    if len(path) < 3:
        return path
    tangent = path[2:] - path[:-2]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    offsets = np.arange(-params.tube_width, params.tube_width + 1e-9, params.tube_step)
    inner = path[1:-1, None] + offsets[None, :, None] * normal[:, None]
    ends = np.repeat(path[[0, -1], None], len(offsets), axis=1)
    places = np.concatenate([ends[:1], inner, ends[1:]])
    room = density.margin(places)
    price = _price(room, params)
    price[1:-1][(room[1:-1] <= 0) | _leaves_lane(path, inner, tangent, density)] = _FORBIDDEN
    return _cheapest_chain(places, price)


def _leaves_lane(path: FloatArray, inner: FloatArray, tangent: FloatArray, density: Density) -> BoolArray:
    """[n, o]: nobody moved the way of the path at a place beside it [n, o, d], though somebody did on it."""
    if not density.is_one_way:
        return np.zeros(inner.shape[:2], dtype=np.bool_)
    was_on = density.follows(path[1:-1], FAR * tangent)
    return np.asarray(was_on[:, None] & ~density.follows(inner, FAR * tangent[:, None]))


def _lengths(moves: FloatArray) -> FloatArray:
    """[..., d] → [...]; the sum over two columns is many times quicker than over an axis of two."""
    return np.sqrt(sum(moves[..., k] * moves[..., k] for k in range(moves.shape[-1])))


def _least_between(values: FloatArray) -> FloatArray:
    """[n, n]: the least of values[i..j] for i ≤ j."""
    table = np.where(np.tri(len(values), k=-1, dtype=bool), np.inf, values[None, :])
    return np.minimum.accumulate(table, axis=1)


def _along_chords(
    starts: FloatArray, ends: FloatArray, least: FloatArray, density: Density, params: AssemblyParams
) -> tuple[IntArray, FloatArray]:
    """Rows of the straight chords that keep their least margin [c] all along and go with recorded motion,
    those without a bound in any case; and the margin [rows, samples] along them.

    Most chords fail in the middle, so a few places are looked at first.
    """
    share = np.linspace(0.0, 1.0, max(3, int(params.longest_cut / (1.6 * params.spacing))))
    rows = np.arange(len(starts))
    for some in (share[len(share) // 4 :: max(1, len(share) // 4)], share):
        moves = (ends - starts)[rows, None]
        places = starts[rows, None] + some[None, :, None] * moves
        room = density.margin(places)
        is_open = room.min(axis=1) >= least[rows]
        is_open &= (least[rows] == -np.inf) | density.follows(places, FAR * moves).all(axis=1)
        rows, room = rows[is_open], room[is_open]
    return rows, room


def _price(room: FloatArray, params: AssemblyParams) -> FloatArray:
    """What a unit costs with so much room to the edge of the support: 1 with enough of it."""
    return 1.0 + CROWDING * np.maximum(0.0, 1.0 - room / params.keep_margin)


def _is_no_detour(path: FloatArray, rows: IntArray, columns: IntArray, distance: Distance) -> BoolArray:
    """[c]: the chord takes no longer than the way along the path, in steps."""
    codes = distance.encode(path)
    clock = np.concatenate([[0.0], np.cumsum(distance.between(codes[:-1], codes[1:]))])
    straight = distance.between(codes[rows], codes[columns])
    return np.asarray(straight <= SLACK * (clock[columns] - clock[rows]))


def _is_onward(path: FloatArray, rows: IntArray, columns: IntArray) -> BoolArray:
    """[c]: the chord leaves and joins the path at no more than LARGEST_TURN degrees from its direction."""
    tangent, chord = np.gradient(path, axis=0), path[columns] - path[rows]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    chord /= np.linalg.norm(chord, axis=1, keepdims=True) + 1e-9
    least = np.cos(np.radians(LARGEST_TURN)) - 1e-6
    leaves, joins = ((tangent[ends] * chord).sum(axis=1) >= least for ends in (rows, columns))
    return np.asarray(leaves & joins)


def _cheapest_links(count: int, rows: IntArray, columns: IntArray, cost: FloatArray) -> list[int]:
    """Indices of the cheapest way from point 0 to point count − 1 over links row → column, row < column."""
    best = np.full(count, np.inf)
    best[0] = 0.0
    came = np.zeros(count, dtype=np.int64)
    order = np.argsort(columns, kind="stable")
    bounds = np.searchsorted(columns[order], np.arange(count + 1))
    for column in range(1, count):
        links = order[bounds[column] : bounds[column + 1]]
        total = best[rows[links]] + cost[links]
        winner = int(np.argmin(total))
        best[column], came[column] = total[winner], rows[links[winner]]
    chain = [count - 1]
    while chain[-1] > 0:
        chain.append(int(came[chain[-1]]))
    return chain[::-1]


def _cheapest_chain(places: FloatArray, price: FloatArray) -> FloatArray:
    """Viterbi over one place per row: places [n, o, 2], price [n, o] → [n, 2]."""
    total = np.zeros(places.shape[1])
    came: list[IntArray] = []
    hop = _lengths(places[:-1, :, None] - places[1:, None, :])
    every = np.arange(places.shape[1])
    for step in hop * 0.5 * (price[:-1, :, None] + price[1:, None, :]):
        cost = total[:, None] + step
        came.append(np.argmin(cost, axis=0))
        total = cost[came[-1], every]
    choice = [int(np.argmin(total))]
    for back in reversed(came):
        choice.append(int(back[choice[-1]]))
    return places[np.arange(len(places)), choice[::-1]]
