"""What the roadmap says between the anchors of a problem, while hops along refuted ways get dearer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from chronoforest.roadmap.breaks import with_way
from chronoforest.roadmap.hops import AGAINST
from chronoforest.roadmap.ways import Joined, Way
from chronoforest.types import FloatArray, IntArray, Pair

DEARER = 1.5
"""What a refuted hop costs then, in times of what it cost: how much of a detour the doubt is worth. It gets
dearer once, however often it is refuted. On a lane it costs what one does that nobody drove."""


class Roads:
    """Ways between anchors. After a doubt they are asked for again only from where somebody wants to leave:
    what nobody wants need not be known, and costs no less than it did."""

    def __init__(self, joined: Joined) -> None:
        self.joined = joined
        self.ways = joined.ways()
        self._undoubted = joined.hops.steps
        self._dear: IntArray = np.zeros(0, dtype=np.int64)
        self._stale: set[int] = set()

    @property
    def cost(self) -> FloatArray:
        """[A, A] steps, as they were told last."""
        return self.ways.cost

    def told(self, leg: Pair) -> float:
        """Steps of a leg, as they were told last."""
        return float(self.cost[leg.source, leg.target])

    def way(self, leg: Pair) -> Way | None:
        """The way of a leg; None where there is none."""
        return self.ways.way(leg.source, leg.target)

    def steps(self, way: Way) -> float:
        """Of the way's hops, without any doubt."""
        return float(self._undoubted[way.hops].sum())

    def renew(self, legs: Iterable[Pair]) -> None:
        """Ask again for the ways of some legs, where something got dearer since."""
        sources = sorted({leg.source for leg in legs} & self._stale)
        if sources:
            self.ways = self.ways.renewed(self.joined, np.array(sources))
            self._stale -= set(sources)

    def add(self, ends: tuple[int, int], path: FloatArray, steps: float, is_reversible: bool) -> None:
        """Another way [t, d] between two places, by their rows, that takes so many steps."""
        num_hops = len(self.joined.hops)
        self.joined = with_way(self.joined, ends, path, steps, is_reversible)
        self._undoubted = np.concatenate([self._undoubted, self.joined.hops.steps[num_hops:]])
        self.ways = self.joined.ways()
        self._stale = set()

    def doubt(self, pieces: Sequence[FloatArray], room: float) -> None:
        """Make hops along pieces [t, d] dearer, within `room` units of them."""
        hops = np.concatenate([self.joined.hops_along(piece, room) for piece in pieces])
        news = np.setdiff1d(hops, self._dear)
        factor = DEARER if self.joined.turns is None else AGAINST
        self.joined, self._dear = self.joined.dearer(news, factor), np.union1d(self._dear, news)
        self._stale = set(range(self.joined.num_anchors))
