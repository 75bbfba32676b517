"""Chords across the corners of paths: which of them may be taken, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.planning.cheapest import Links, lengths
from chronoforest.roadmap.lines import FAR
from chronoforest.types import BoolArray, Density, FloatArray

LARGEST_TURN = 45.0
"""Degrees between a cut and a one-way path where it leaves and joins it, so that it runs against no lane."""

_PLACES_AT_ONCE = 32_000
"""Places that are looked at together: what is known of them stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Chords(Links):
    """Links that cut corners, and least [c], the margin that each must keep: −∞ for a hop from a point to the
    next, which may always be taken."""

    least: FloatArray

    def where(self, keep: BoolArray | slice) -> Chords:
        """Some of them."""
        return Chords(self.rows[keep], self.columns[keep], self.least[keep])


def chords_of(paths: Sequence[FloatArray], room: FloatArray, longest: float, edge: float) -> Chords:
    """All hops of paths [n, d] and all chords that are not too long, over the numbers of all their points; by
    the room of these, a chord leaves `edge` units or what the way it replaces does, if that is less."""
    found, first = [], 0
    for path in paths:
        hop = np.arange(len(path) - 1)
        keep = np.triu(lengths(path[:, None] - path) <= longest)
        np.fill_diagonal(keep, val=False)
        keep[hop, hop + 1] = True
        rows, columns = np.nonzero(keep)
        least = np.minimum(_least_between(room[first : first + len(path)])[rows, columns], edge) - 1e-6
        least[columns == rows + 1] = -np.inf
        found.append((rows + first, columns + first, least))
        first += len(path)
    return Chords(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _least_between(values: FloatArray) -> FloatArray:
    """[n, n]: the least of values[i..j] for i ≤ j."""
    table = np.where(np.tri(len(values), k=-1, dtype=bool), np.inf, values[None, :])
    return np.minimum.accumulate(table, axis=1)


def are_open(points: FloatArray, chords: Chords, density: Density, share: float) -> BoolArray:
    """[c]: the chords between points [n, d] may be taken by what is known at one share of their way."""
    return _along(points, chords, density, np.array([share]))[0]


def chord_costs(
    points: FloatArray,
    chords: Chords,
    density: Density,
    shares: FloatArray,
    price: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """[c]: length times the mean price of the room at shares [s] of each chord; infinite where one of these
    places forbids it."""
    cost = np.empty(len(chords.rows))
    at_once = max(1, _PLACES_AT_ONCE // len(shares))
    for first in range(0, len(cost), at_once):
        some = chords.where(slice(first, first + at_once))
        is_open, room = _along(points, some, density, shares)
        length = lengths(points[some.columns] - points[some.rows])
        cost[first : first + at_once] = np.where(is_open, length * price(room).mean(axis=1), np.inf)
    return cost


def _along(
    points: FloatArray, chords: Chords, density: Density, shares: FloatArray
) -> tuple[BoolArray, FloatArray]:
    """Whether chords keep their least margin at shares [s] of them and go with recorded motion, hops in any
    case; and the margin there, [c, s]."""
    starts = points[chords.rows]
    moves = points[chords.columns] - starts
    places = beside(starts, moves, shares)
    room = density.margin(places)
    is_open = (room.min(axis=1) if len(shares) > 1 else room[:, 0]) >= chords.least
    if density.is_one_way:
        is_open &= chords.is_hop | density.follows(places, FAR * moves[:, None]).all(axis=1)
    return np.asarray(is_open), room


def beside(points: FloatArray, moves: FloatArray, shares: FloatArray) -> FloatArray:
    """[n, s, d]: every point [n, d] moved by each share [s] of its move [n, d]. In memory one coordinate of
    all comes after the other, which makes what is asked about them several times quicker."""
    places = shares * moves.T[..., None]
    places += points.T[..., None]
    return np.moveaxis(places, 0, -1)


def are_onward(points: FloatArray, tangent: FloatArray, chords: Chords) -> BoolArray:
    """[c]: the chord leaves and joins the path at no more than LARGEST_TURN degrees from its direction, or is
    a hop of it."""
    chord = points[chords.columns] - points[chords.rows]
    chord /= np.linalg.norm(chord, axis=1, keepdims=True) + 1e-9
    tangent = tangent / (np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9)
    least = np.cos(np.radians(LARGEST_TURN)) - 1e-6
    leaves, joins = ((tangent[ends] * chord).sum(axis=1) >= least for ends in (chords.rows, chords.columns))
    return np.asarray(leaves & joins | chords.is_hop)
