"""What the roadmap says between the anchors of a problem, while hops along refuted ways get dearer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from chronoforest.roadmap.breaks import with_way
from chronoforest.roadmap.hops import AGAINST
from chronoforest.roadmap.onward import OnwardWays
from chronoforest.roadmap.ways import Joined, Way, Ways
from chronoforest.types import FloatArray, IntArray, JointRoute, Pair, Problem

DEARER = 1.5
"""What a refuted hop costs then, in times of what it cost: how much of a detour the doubt is worth. It gets
dearer once, however often it is refuted. On a lane it costs what one does that nobody drove."""


class Roads:
    """Ways between anchors. After a doubt they are asked for again only from where somebody wants to leave:
    what nobody wants need not be known, and costs no less than it did."""

    def __init__(self, joined: Joined, problem: Problem) -> None:
        self.joined, self.problem = joined, problem
        self.ways = _ways(joined, problem)
        self._undoubted = joined.hops.steps
        self._dear: IntArray = np.zeros(0, dtype=np.int64)
        self._stale: set[int] = set()

    @property
    def cost(self) -> FloatArray:
        """[A, A] steps, as they were told last."""
        return self.ways.cost

    def told(self, leg: Pair) -> float:
        """Steps of a leg, as they were told last."""
        return self.ways.told(leg)

    def expected(self, known: Mapping[Pair, float], hope: float) -> FloatArray:
        """[A, A] steps: legs take what is known of them, others `hope` times as much of what they were told
        as those do in the median."""
        ratios = [steps / self.told(leg) for leg, steps in known.items()]
        cost = self.cost * (hope * float(np.median(ratios)) if ratios else 1.0)
        for leg, steps in known.items():
            cost[leg.source, leg.target] = steps
        return cost

    def way(self, leg: Pair) -> Way | None:
        """The way of a leg; None where there is none."""
        return self.ways.way(leg.source, leg.target)

    def steps(self, way: Way) -> float:
        """Of the way's hops, without any doubt, and of turning round before them."""
        return float(self._undoubted[way.hops].sum()) + way.turning

    def settle(self, route: JointRoute) -> tuple[Pair, ...]:
        """Let the legs of a route go on from each other; those that lead another way since."""
        before = {leg: self.ways.passage(leg) for leg in route.legs}
        self.ways = self.ways.settled(route)
        return tuple(leg for leg in route.legs if self.ways.passage(leg) != before[leg])

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
        self.ways = _ways(self.joined, self.problem)
        self._stale = set()

    def doubt(self, pieces: Sequence[FloatArray], room: float) -> None:
        """Make hops along pieces [t, d] dearer, within `room` units of them."""
        hops = np.concatenate([self.joined.hops_along(piece, room) for piece in pieces])
        news = np.setdiff1d(hops, self._dear)
        factor = DEARER if self.joined.turns is None else AGAINST
        self.joined, self._dear = self.joined.dearer(news, factor), np.union1d(self._dear, news)
        self._stale = set(range(self.joined.num_anchors))


def _ways(joined: Joined, problem: Problem) -> Ways | OnwardWays:
    """The ways between all anchors of a problem; on lanes they go on through its stops."""
    return joined.ways() if joined.turns is None else OnwardWays.of(joined, joined.turns, problem)
