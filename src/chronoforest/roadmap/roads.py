"""What the roadmap says between the anchors of a problem, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.roadmap.ways import Break, Joined, Way, Ways, find_break
from chronoforest.types import Distance, FloatArray, IntArray, JointRoute, Pair


@dataclass(frozen=True)
class RoadParams:
    """How much is made of what the roadmap says.

    hope: a way that was not looked up yet is hoped to come out at this share of what others do; most_spare:
    ways looked up for routes that were not taken, after which nothing is hoped for any more: with many
    waypoints there is always one more route that might be worth a little; doubt: what a refuted hop costs, in
    times of what it cost before: how much of a detour the doubt is worth.
    """

    hope: float = 0.96
    most_spare: int = 64
    doubt: float = 1.5


@dataclass(frozen=True, eq=False)
class OpenGap:
    """Where no way leads: leg: that it cuts off; left_out: rows of the waypoints that it cuts off besides;
    ends: rows of the places that trees are grown from, and places: [2, d] where these are; at: the two
    nearest places of both sides, and how far each side gets."""

    leg: Pair
    left_out: tuple[int, ...]
    ends: tuple[int, int]
    places: FloatArray
    at: Break

    @property
    def key(self) -> tuple[float, ...]:
        """What it is known by, whatever leg it cuts off."""
        return tuple(self.places.ravel().tolist())

    @property
    def width(self) -> float:
        """Units in a straight line."""
        return float(np.linalg.norm(self.places[1] - self.places[0]))


@dataclass(frozen=True, eq=False)
class Roads:
    """What the roadmap says between the anchors of a problem: the cheapest ways, and which hops are in doubt.

    undoubted: [h] steps of the hops without any doubt; doubts: numbers of those along ways that were refuted.
    """

    ways: Ways
    undoubted: FloatArray
    doubts: IntArray
    params: RoadParams = RoadParams()

    @classmethod
    def of(cls, roadmap: Roadmap, anchors: FloatArray, turn_round: bool = False) -> Roads:
        """Between anchors [A, d], before any doubt; turn_round: stops may be left in any state."""
        ways = Ways.of(Joined.of(roadmap, anchors, turn_round))
        return cls(ways, _steps(ways.joined.roadmap), np.zeros(0, dtype=np.int64))

    @property
    def roadmap(self) -> Roadmap:
        """The roadmap with the anchors in it."""
        return self.ways.joined.roadmap

    @property
    def num_hops(self) -> int:
        """Those beside the anchors among them."""
        return len(self.undoubted)

    @property
    def cost(self) -> FloatArray:
        """[A, A] steps."""
        return self.ways.cost

    def leg_cost(self, leg: Pair) -> float:
        """Steps of a leg as it is driven."""
        return self.ways.steps_of(leg)

    def is_hopeful(self, num_spare: int) -> bool:
        """Whether better routes are still hoped for."""
        return num_spare < self.params.most_spare

    def expected(self, known: Mapping[Pair, float], num_spare: int) -> FloatArray:
        """[A, A] steps: legs take what is known of them; others what the roadmap says, in proportion to what
        known ways came out at in the median, and a little less while there is hope, more afterwards."""
        hope = self.params.hope if self.is_hopeful(num_spare) else 1.0 / self.params.hope
        ratios = [steps / self.leg_cost(leg) for leg, steps in known.items() if steps > 0]
        cost = self.cost * (hope * float(np.median(ratios)) if ratios else 1.0)
        for leg, steps in known.items():
            cost[leg.source, leg.target] = steps
        return cost

    def way(self, leg: Pair) -> Way | None:
        """The way of a leg; None where there is none."""
        return self.ways.way(leg)

    def steps(self, way: Way) -> float:
        """Of the way's hops, without any doubt, and beside them."""
        return float(self.undoubted[way.hops].sum()) + way.beside

    def settled(self, route: JointRoute) -> tuple[Roads, tuple[Pair, ...]]:
        """The roads with the legs of a route going on from each other; those that lead another way since."""
        ways = self.ways.settled(route.orders)
        before, after = self.ways.passages, ways.passages
        moved = tuple(leg for leg in route.legs if after.get(leg) != before.get(leg))
        return replace(self, ways=ways), moved

    def _over(self, roadmap: Roadmap) -> Ways:
        """The ways looked up again over another state of the hops."""
        return Ways.of(replace(self.ways.joined, roadmap=roadmap), self.ways.passages)

    def with_way(self, ends: tuple[int, int], path: FloatArray, steps: float, both_ways: bool) -> Roads:
        """Another way [t, d] between two places, by their rows, that takes `steps`."""
        roadmap = self.roadmap.with_way(ends, path, steps, both_ways)
        undoubted = np.concatenate([self.undoubted, _steps(roadmap)[self.num_hops :]])
        return replace(self, ways=self._over(roadmap), undoubted=undoubted)

    def gap(self, leg: Pair, left_out: tuple[int, ...], distance: Distance | None) -> OpenGap:
        """Where no way leads along a leg."""
        at = find_break(self.ways.joined, leg.source, leg.target, distance)
        ends = at.reached, at.wanted
        return OpenGap(leg, left_out, ends, self.roadmap.position[list(ends)], at)

    def doubted(self, pieces: Sequence[FloatArray], room: float) -> Roads:
        """Hops along pieces [t, d], within `room` units of them, at a higher cost: once, however often they
        are refuted. To doubt only the hops of a refuted way would propose the next ones beside it."""
        hops = np.concatenate([self.roadmap.hops_along(piece, room) for piece in pieces])
        more = np.setdiff1d(hops, self.doubts)
        roadmap = self.roadmap.with_cost_factor(more, self.params.doubt)
        return replace(self, ways=self._over(roadmap), doubts=np.union1d(self.doubts, more))


def _steps(roadmap: Roadmap) -> FloatArray:
    """[h] that each hop costs: its length at the usual pace, more where it is inferred or in doubt."""
    return roadmap.pace * roadmap.hops.cost
