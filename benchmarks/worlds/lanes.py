"""A world of one-way lanes: places, links between them, and the turns that traffic makes.

For making recordings and for scoring. The planner never sees it: it gets the recordings alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.types import FloatArray, lengths_along, path_length

Link = tuple[str, str]
Turn = tuple[str, str, str]

SPACING = 0.1
"""Units between the points of a lane's middle, and between those where a plan is looked at."""


@dataclass(frozen=True, eq=False)
class LaneWorld:
    """places: by name; turns: from place over place to place, as traffic makes them and no others; corner:
    units before and after a place in which a turn is made; reach: units from its middle that are a lane."""

    places: Mapping[str, tuple[float, float]]
    turns: tuple[Turn, ...]
    corner: float
    reach: float

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Every link that traffic passes."""
        return tuple(dict.fromkeys(link for a, b, c in self.turns for link in ((a, b), (b, c))))

    @cached_property
    def onward(self) -> dict[Link, list[str]]:
        """Where traffic that comes over a link goes next."""
        found: dict[Link, list[str]] = {link: [] for link in self.links}
        for a, b, c in self.turns:
            found[a, b].append(c)
        return found

    def points(self, names: Sequence[str]) -> FloatArray:
        """[n, 2] where the places lie."""
        return np.array([self.places[name] for name in names], dtype=np.float64).reshape(-1, 2)

    def middle(self, names: Sequence[str]) -> FloatArray:
        """[n, 2] the middle of the lanes over some places, corners rounded."""
        corners = self.points(names)
        parts = [corners[:1]]
        for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
            reach = min(self.corner, *(0.5 * np.linalg.norm(end - corner) for end in (before, after)))
            first, last = (
                corner + reach * (end - corner) / np.linalg.norm(end - corner) for end in (before, after)
            )
            share = np.linspace(0, 1, 15)[:, None]
            parts.append((1 - share) ** 2 * first + 2 * share * (1 - share) * corner + share**2 * last)
        return evenly(np.concatenate([*parts, corners[-1:]]), SPACING)

    @cached_property
    def _passages(self) -> tuple[FloatArray, FloatArray]:
        """[n, 2] points of all recorded passages, and [n, 2] their directions."""
        ways = [self.middle(turn) for turn in self.turns]
        return np.concatenate(ways), np.concatenate([directions(way) for way in ways])

    def judge(self, path: FloatArray) -> LaneVerdict:
        """What a path [t, 2] does on the lanes."""
        way = evenly(path, SPACING)
        places, moves = 0.5 * (way[1:] + way[:-1]), directions(way)[:-1]
        points, headings = self._passages
        gap = np.linalg.norm(places[:, None] - points[None], axis=-1)
        agreement = np.where(gap <= self.reach, moves @ headings.T, -np.inf).max(axis=1)
        is_off = gap.min(axis=1) > self.reach
        return LaneVerdict(len(places), int(((agreement < 0) & ~is_off).sum()), int(is_off.sum()))

    def unrecorded_changes(self, path: FloatArray, start: Link, end: Link) -> list[tuple[Link, Link]]:
        """Where a path [t, 2] between places on two links goes from one link to another on which no traffic
        that came over the first goes on, wherever the two meet. Of links that a place and its direction fit,
        all are followed, so that only what none of them explains counts."""
        found, on = [], {start}
        for near in (*self.links_along(path), {end}):
            onward = {link for link in near if any(self._goes_on(before, link) for before in on)}
            if near and not onward:
                found.append((min(on), min(near)))
            on = onward or near or on
        return found

    def _goes_on(self, before: Link, link: Link) -> bool:
        return before == link or (before[1] == link[0] and link[1] in self.onward[before])

    def links_along(self, path: FloatArray) -> list[set[Link]]:
        """Of every place of a path, `SPACING` apart, the links that it lies on and goes along."""
        way = evenly(path, SPACING)
        places, moves = 0.5 * (way[1:] + way[:-1]), directions(way)[:-1]
        starts, ends = (self.points([link[k] for link in self.links]) for k in (0, 1))
        ahead = ends - starts
        length = np.linalg.norm(ahead, axis=1)
        along = ((places[:, None] - starts) * ahead).sum(axis=-1) / length**2
        nearest = starts + along.clip(0, 1)[..., None] * ahead
        is_on = np.linalg.norm(places[:, None] - nearest, axis=-1) <= self.reach
        is_on &= moves @ (ahead / length[:, None]).T > 0.5
        return [{self.links[k] for k in np.flatnonzero(row)} for row in is_on]

    def shortest(self, start: tuple[Link, float], end: tuple[Link, float]) -> FloatArray | None:
        """[n, 2] the shortest recorded way between places on links, each told by its share of the link;
        None where none leads there."""
        chain = self._chain(start, end)
        if chain is None:
            return None
        way = self.middle([chain[0][0], *(link[1] for link in chain)])
        first, last = (int(np.argmin(np.linalg.norm(way - self.place(at), axis=1))) for at in (start, end))
        return way[first : last + 1]

    def place(self, at: tuple[Link, float]) -> FloatArray:
        """[2] a place on a link."""
        (start, end), share = self.points(at[0]), at[1]
        return np.asarray((1 - share) * start + share * end)

    def _chain(self, start: tuple[Link, float], end: tuple[Link, float]) -> list[Link] | None:
        """The links of the shortest way, both ends' among them."""
        if start[0] == end[0] and start[1] <= end[1]:
            return [start[0]]
        number = {link: row for row, link in enumerate(self.links)}
        turns = [(number[a, b], number[b, c], path_length(self.points((b, c)))) for a, b, c in self.turns]
        rows, columns, lengths = zip(*turns, strict=True)
        graph = csr_matrix((lengths, (rows, columns)), shape=(len(number),) * 2)
        cost, before = dijkstra(graph, indices=number[start[0]], return_predecessors=True)
        if not np.isfinite(cost[number[end[0]]]) or start[0] == end[0]:
            return None
        chain = [number[end[0]]]
        while chain[-1] != number[start[0]]:
            chain.append(int(before[chain[-1]]))
        return [self.links[row] for row in reversed(chain)]


@dataclass(frozen=True)
class LaneVerdict:
    """Pieces of a path in all, those against every lane within reach, and those off all lanes."""

    num_pieces: int
    num_against: int
    num_off: int


def drive(world: LaneWorld, length: float, rng: np.random.Generator) -> FloatArray:
    """[n, 2] the middle of a random way of at least that length, from somewhere on a link; shorter where
    the lanes end."""
    sizes = np.array([path_length(world.points(link)) for link in world.links])
    names = list(world.links[int(rng.choice(len(sizes), p=sizes / sizes.sum()))])
    skipped = rng.uniform(0, path_length(world.points(names)))
    while path_length(world.points(names)) - skipped < length and world.onward[names[-2], names[-1]]:
        names.append(str(rng.choice(world.onward[names[-2], names[-1]])))
    way = world.middle(names)
    along = lengths_along(way)
    return way[(along >= skipped) & (along <= skipped + length)]


def at_distances(way: FloatArray, ticks: FloatArray) -> FloatArray:
    """[m, 2] the points at so many units [m] along a polyline [n, 2]."""
    along = lengths_along(way)
    return np.stack([np.interp(ticks, along, column) for column in way.T], axis=1)


def evenly(way: FloatArray, spacing: float) -> FloatArray:
    """A polyline [n, 2] with points about `spacing` units apart; ends are kept."""
    total = path_length(way)
    return at_distances(way, np.linspace(0.0, total, max(2, round(total / spacing) + 1)))


def directions(way: FloatArray) -> FloatArray:
    """[n, 2] unit directions at the points of a polyline."""
    ahead = np.gradient(way, axis=0)
    return np.asarray(ahead / (np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-9))


def turn_chains(world: LaneWorld) -> Iterator[tuple[str, ...]]:
    """Every recorded turn, and every two in a row that change from one lane over a crossing to another."""
    yield from world.turns
    for a, b, c in world.turns:
        if not is_straight(world, (a, b, c)):
            for d in world.onward[b, c]:
                if not is_straight(world, (b, c, d)):
                    yield a, b, c, d


def is_straight(world: LaneWorld, turn: Turn) -> bool:
    """Whether traffic goes straight on there."""
    first, second = np.diff(world.points(turn), axis=0)
    return bool(first @ second > 0.9 * np.linalg.norm(first) * np.linalg.norm(second))
