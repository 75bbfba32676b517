"""Shorter paths: cut corners where the data supports it, keep room to its edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.errors import require_positive
from chronoforest.roadmap.straight import finely, resample, taut
from chronoforest.types import BoolArray, Density, Distance, FloatArray, IntArray

CROWDING = 4.0
"""How much more a unit costs at the edge of the support than with room to spare."""

NUM_PASSES = 3
"""Times a path is settled between its two rounds of cut corners."""

SLACK = 1.1
"""A cut may take this much longer, by the temporal distance, than the way it replaces."""

_FORBIDDEN = 1e6

_PLACES_AT_ONCE = 32_000
"""Places that are looked at together: what is known of them stays in the processor's cache."""

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

    def even(ways: Sequence[FloatArray]) -> list[FloatArray]:
        return [resample(way, 2 * params.spacing) for way in ways]

    shortened = []
    for first in range(0, len(paths), _AT_ONCE):
        ways = cut_corners(even(paths[first : first + _AT_ONCE]), density, distance, params)
        for _ in range(NUM_PASSES):
            ways = settle(even(ways), density, params)
        ways = cut_corners(even(ways), density, distance, params)
        shortened += [resample(way, params.spacing) for way in ways]
    return shortened


def _where_bent(
    paths: Sequence[FloatArray], change: Callable[[list[FloatArray]], list[FloatArray]]
) -> list[FloatArray]:
    """The paths that have inner points changed, all in one call; the others as they are."""
    bent = [path for path in paths if len(path) > 2]
    changed = iter(change(bent) if bent else [])
    return [next(changed) if len(path) > 2 else path for path in paths]


def _price(room: FloatArray, params: AssemblyParams) -> FloatArray:
    """What a unit costs with so much room to the edge of the support: 1 with enough of it."""
    return np.asarray(1.0 + CROWDING * np.maximum(0.0, 1.0 - room / params.keep_margin))


def cut_corners(
    paths: Sequence[FloatArray], density: Density, distance: Distance | None, params: AssemblyParams
) -> list[FloatArray]:
    """The cheapest way over each path's own points [n, d] along chords the data supports.

    A chord must stay inside the support (or no farther outside than the way it replaces), and must not take
    longer by the temporal distance; its price is its length, more where room is short.
    """

    def cut(bent: list[FloatArray]) -> list[FloatArray]:
        points, counts = np.concatenate(bent), [len(path) for path in bent]
        chords = _chords_of(bent, density.margin(points), params)
        shares = np.linspace(0.0, 1.0, max(3, int(params.longest_cut / (1.6 * params.spacing))))
        # Most chords fail in the middle, and a few places are looked at sooner than all of them.
        quarter = len(shares) // 4
        for share in shares[[2 * quarter, quarter, 3 * quarter]]:
            chords = chords.where(_along(points, chords, density, np.array([share]))[0])
        cost = _chord_costs(points, chords, density, shares, params)
        chords, cost = chords.where(np.isfinite(cost)), cost[np.isfinite(cost)]
        chains = _cheapest_links(counts, chords, cost)
        if distance is not None:
            is_detour = _detours(points, distance)
            # Hardly any chord is a detour: all are asked about only where the cheapest way takes one.
            rows, columns = (
                np.concatenate([chain[part] for chain in chains]) for part in (slice(-1), slice(1, None))
            )
            if is_detour(rows, columns).any():
                keep = ~is_detour(chords.rows, chords.columns)
                chains = _cheapest_links(counts, chords.where(keep), cost[keep])
        return [points[chain] for chain in chains]

    return _where_bent(paths, cut)


def _detours(points: FloatArray, distance: Distance) -> Callable[[IntArray, IntArray], BoolArray]:
    """What says which links [c] between points [n, d] of paths, hops left out, take longer than the way along
    the path."""
    codes = distance.encode(points)
    clock = np.concatenate([[0.0], np.cumsum(distance.between(codes[:-1], codes[1:]))])

    def is_detour(rows: IntArray, columns: IntArray) -> BoolArray:
        straight, along = distance.between(codes[rows], codes[columns]), clock[columns] - clock[rows]
        return np.asarray((columns != rows + 1) & ~(straight <= SLACK * along))

    return is_detour


def settle(paths: Sequence[FloatArray], density: Density, params: AssemblyParams) -> list[FloatArray]:
    """Move every inner point sideways to the cheapest polylines: length, more where room is short."""

    def settled(bent: list[FloatArray]) -> list[FloatArray]:
        tangent = np.concatenate([path[2:] - path[:-2] for path in bent])
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
        offsets = np.arange(-params.tube_width, params.tube_width + 1e-9, params.tube_step)
        points, counts = np.concatenate(bent), [len(path) for path in bent]
        is_inner = np.ones(len(points), dtype=np.bool_)
        ends = np.cumsum(counts)
        is_inner[ends - 1] = is_inner[ends - counts] = False
        sideways = np.zeros_like(points)
        sideways[is_inner] = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
        places = _beside(points, sideways, offsets)
        room = density.margin(places)
        price = _price(room, params)
        price[(room <= 0) & is_inner[:, None]] = _FORBIDDEN
        return _cheapest_chains(places, price, counts)

    return _where_bent(paths, settled)


def _lengths(moves: FloatArray) -> FloatArray:
    """[..., d] → [...]; the sum over two columns is many times quicker than over an axis of two."""
    return np.sqrt(sum(moves[..., k] * moves[..., k] for k in range(moves.shape[-1])))


@dataclass(frozen=True, eq=False)
class _Chords:
    """Links from points `rows` [c] to later ones `columns` [c] of the same path, in the order
    of the rows; least [c]: the margin that each must keep, −∞ for a hop from a point to the next, which may
    always be taken."""

    rows: IntArray
    columns: IntArray
    least: FloatArray

    def where(self, keep: BoolArray | slice) -> _Chords:
        return _Chords(self.rows[keep], self.columns[keep], self.least[keep])


def _chords_of(paths: Sequence[FloatArray], room: FloatArray, params: AssemblyParams) -> _Chords:
    """All hops of paths [n, d] and all chords that are not too long, over the numbers of all their points; by
    the room of these, a chord leaves `edge` units or what the way it replaces does, if that is less."""
    found, first = [], 0
    for path in paths:
        count = len(path)
        hop = np.arange(count - 1)
        keep = np.triu(_lengths(path[:, None] - path) <= params.longest_cut)
        np.fill_diagonal(keep, val=False)
        keep[hop, hop + 1] = True
        rows, columns = np.nonzero(keep)
        between = np.where(np.tri(count, k=-1, dtype=bool), np.inf, room[None, first : first + count])
        least = np.minimum(np.minimum.accumulate(between, axis=1)[rows, columns], params.edge) - 1e-6
        least[columns == rows + 1] = -np.inf
        found.append((rows + first, columns + first, least))
        first += count
    return _Chords(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _chord_costs(
    points: FloatArray, chords: _Chords, density: Density, shares: FloatArray, params: AssemblyParams
) -> FloatArray:
    """[c]: length times the mean price of the room at shares [s] of each chord; infinite where one of these
    places forbids it."""
    cost = np.empty(len(chords.rows))
    at_once = max(1, _PLACES_AT_ONCE // len(shares))
    for first in range(0, len(cost), at_once):
        some = chords.where(slice(first, first + at_once))
        is_open, room = _along(points, some, density, shares)
        length = _lengths(points[some.columns] - points[some.rows])
        price = _price(room, params).mean(axis=1)
        cost[first : first + at_once] = np.where(is_open, length * price, np.inf)
    return cost


def _along(
    points: FloatArray, chords: _Chords, density: Density, shares: FloatArray
) -> tuple[BoolArray, FloatArray]:
    """Whether chords keep their least margin at shares [s] of them, hops in any case; and the margin there,
    [c, s]."""
    starts = points[chords.rows]
    room = density.margin(_beside(starts, points[chords.columns] - starts, shares))
    return np.asarray(room.min(axis=1) >= chords.least), room


def _beside(points: FloatArray, moves: FloatArray, shares: FloatArray) -> FloatArray:
    """[n, s, d]: every point [n, d] moved by each share [s] of its move [n, d]. In memory one coordinate of
    all comes after the other, which makes what is asked about them several times quicker."""
    places = shares * moves.T[..., None]
    places += points.T[..., None]
    return np.moveaxis(places, 0, -1)


def _cheapest_links(counts: Sequence[int], links: _Chords, cost: FloatArray) -> list[IntArray]:
    """Points of the cheapest way from the first to the last point of each path over links of cost [c]; the
    paths have `counts` points, numbered one after another."""
    ends = np.cumsum(counts)
    begins = np.searchsorted(links.rows, np.arange(ends[-1] + 1))
    graph = csr_matrix((cost, links.columns, begins), shape=(ends[-1], ends[-1]))
    _, before, _ = dijkstra(graph, indices=ends - counts, min_only=True, return_predecessors=True)
    chains = []
    for first, end in zip(ends - counts, ends, strict=True):
        chain = [end - 1]
        while chain[-1] > first:
            chain.append(before[chain[-1]])
        chains.append(np.array(chain[::-1], dtype=np.int64))
    return chains


def _cheapest_chains(places: FloatArray, price: FloatArray, counts: Sequence[int]) -> list[FloatArray]:
    """Viterbi over one place per row of each path: places [n, o, d], price [n, o], `counts` rows each.

    The paths go side by side, and each stays where it ends, which costs nothing.
    """
    ends, num_rows = np.cumsum(counts), np.array(counts)
    rows = np.minimum((ends - num_rows)[:, None] + np.arange(num_rows.max()), ends[:, None] - 1)
    at, half = np.ascontiguousarray(places.transpose(2, 0, 1)[:, rows]), 0.5 * price[rows]
    total, came = np.zeros(at.shape[1::2]), []
    for row in range(1, rows.shape[1]):
        moves = at[:, :, row, :, None] - at[:, :, row - 1, None, :]
        step = np.sqrt(np.square(moves, out=moves).sum(axis=0))
        step *= half[:, row, :, None] + half[:, row - 1, None, :]
        step += total[:, None]
        came.append(step.argmin(axis=-1))
        total = np.take_along_axis(step, came[-1][..., None], axis=-1)[..., 0]
    chosen, every = [total.argmin(axis=-1)], np.arange(len(counts))
    for back in came[::-1]:
        chosen.append(back[every, chosen[-1]])
    found = places[rows, np.stack(chosen[::-1], axis=1)]
    return [path[:count] for path, count in zip(found, counts, strict=True)]
