"""What the roadmap does not connect: where it is open, and trees that are grown there and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.preparation import Prepared
from chronoforest.planning.result import PlanResult
from chronoforest.planning.roads import Roads
from chronoforest.roadmap.breaks import Break, find_break
from chronoforest.roadmap.ways import Joined
from chronoforest.search.memory import ForestMemory
from chronoforest.types import (
    FloatArray,
    Gap,
    Pair,
    Problem,
    RoundStats,
    Snapshot,
    StopCriterion,
    TreePicture,
)

MOST_ROUNDS = 10
"""Rounds of trees across one gap: they cross it in a few, or in vain."""

MOST_SEARCHED = 4
"""Gaps that trees are grown across in one plan, the shortest first."""

MOST_TOLD = 32
"""Gaps that are looked for; a problem with more of them has one cause and not so many."""


@dataclass(frozen=True, eq=False)
class OpenGap:
    """A leg, in rows of anchors, that no way joins; where; the waypoints that are left out for it; and the
    rows of the places that trees are grown from."""

    leg: Pair
    at: Break
    left_out: tuple[int, ...]
    ends: tuple[int, int]


@dataclass(frozen=True)
class PartOf:
    """A `StopCriterion` for trees that are part of a plan: theirs and that of the plan, whose rounds it is
    asked about; seconds: those of the plan before the trees."""

    stop: StopCriterion
    rounds: Sequence[RoundStats]
    seconds: float

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether the trees or the plan had enough."""
        return len(rounds) >= MOST_ROUNDS or self.stop(self.rounds)

    def is_over(self, seconds: float) -> bool:
        """Whether the plan shall end within a round."""
        is_over = getattr(self.stop, "is_over", None)
        return is_over is not None and bool(is_over(self.seconds + seconds))


class Gaps:
    """The gaps of one plan, and the trees that are grown across some of them."""

    def __init__(self, prepared: Prepared, problem: Problem, memory: ForestMemory | None, seed: int) -> None:
        self.prepared, self.problem, self.memory, self.seed = prepared, problem, memory, seed
        self.searched: set[tuple[float, ...]] = set()
        self._grown: tuple[TreePicture, ...] = ()
        self._growing: tuple[TreePicture, ...] = ()
        self.num_expanded = 0

    @property
    def trees(self) -> tuple[TreePicture, ...]:
        """All trees so far, under the names of the anchors that they are grown for."""
        return (*self._grown, *self._growing)

    @property
    def num_nodes(self) -> int:
        """Segments of all trees."""
        return sum(len(tree.segments) for tree in self.trees)

    def open(self, roads: Roads, unmet: Sequence[Pair], left_out: Sequence[int]) -> list[OpenGap]:
        """Where unmet legs and waypoints that are left out are cut off, the shortest first."""
        wanted: list[tuple[Pair, tuple[int, ...]]] = [(leg, ()) for leg in unmet]
        for group in _together(roads.cost, left_out):
            leg = self._cut(roads, group[0])
            wanted += [] if leg is None else [(leg, group)]
        found = [self._gap(roads.joined, leg, group) for leg, group in wanted[:MOST_TOLD]]
        return sorted(found, key=lambda gap: self._width(roads, gap))

    def _gap(self, joined: Joined, leg: Pair, left_out: tuple[int, ...]) -> OpenGap:
        at, first = find_break(joined, leg.source, leg.target, self.prepared.learned), joined.first
        # Where one gets but cannot turn, both sides end at the same place.
        reached, wanted = joined.places.position[[at.reached, at.wanted]]
        is_turn = np.array_equal(reached, wanted)
        ends = (first + leg.source, first + leg.target) if is_turn else (at.reached, at.wanted)
        return OpenGap(leg, at, left_out, ends)

    def cross(
        self, roads: Roads, gaps: Sequence[OpenGap], stop: PartOf, seen: Callable[[Pair], None]
    ) -> bool:
        """Grow trees across the first gap that none were grown across and that recordings cross; whether
        they met, and the roads have their way then. seen: is told the leg after every round."""
        for gap in gaps:
            if len(self.searched) >= MOST_SEARCHED or stop(()):
                return False
            if self._is_searched(roads, gap) or not self._is_recorded(roads, gap):
                continue
            result = self._grow(roads, gap, stop, seen)
            if not result.complete and result.num_rounds < MOST_ROUNDS:  # the plan's time is over
                return False
            self.searched.add(self._key(roads, gap))
            if result.complete:
                path = result.routes[0].path
                (steps,) = self.prepared.clock([path])
                roads.add(gap.ends, path, steps, self.prepared.params.is_reversible)
                return True
        return False

    def told(self, roads: Roads, gaps: Sequence[OpenGap]) -> tuple[Gap, ...]:
        """The gaps with names and places, for people."""
        return tuple(self._told(roads, gap) for gap in gaps)

    def _told(self, roads: Roads, gap: OpenGap) -> Gap:
        names, position = self.problem.names, roads.joined.places.position
        return Gap(
            source=names[gap.leg.source],
            target=names[gap.leg.target],
            reached=position[gap.at.reached],
            wanted=position[gap.at.wanted],
            extents=gap.at.extents,
            left_out=tuple(names[row] for row in gap.left_out),
            is_recorded=self._is_recorded(roads, gap),
            is_searched=self._is_searched(roads, gap),
        )

    def _cut(self, roads: Roads, waypoint: int) -> Pair | None:
        """The leg to a waypoint or away from it that no way joins, for the agent that comes nearest; None
        where somebody could visit it if there were no others to visit."""
        legs = []
        for agent in range(self.problem.num_agents):
            start, goal = self.problem.start_index(agent), self.problem.goal_index(agent)
            both = Pair(start, waypoint), Pair(waypoint, goal)
            cut = [leg for leg in both if not np.isfinite(roads.told(leg))]
            apart = float(np.linalg.norm(self.problem.anchors[start] - self.problem.anchors[waypoint]))
            legs.append((len(cut), apart, cut[:1]))
        _, _, first = min(legs)
        return first[0] if first else None

    def _grow(self, roads: Roads, gap: OpenGap, stop: PartOf, seen: Callable[[Pair], None]) -> PlanResult:
        """What trees find that grow from both sides of a gap."""
        places, before = self._places(roads, gap), self.num_expanded
        loop = ClosedLoop(self.prepared, Problem(places[:1], places[1:]), None, self.memory, self.seed)

        def watch(snapshot: Snapshot) -> None:
            self._growing = self._named(gap, snapshot.trees)
            if snapshot.stats.round_index >= 0:
                self.num_expanded = before + snapshot.stats.num_expanded
                seen(gap.leg)

        loop.run(stop, None, watch)
        self._grown, self._growing = self.trees, ()
        return loop.result("", "")

    def _named(self, gap: OpenGap, trees: Sequence[TreePicture]) -> tuple[TreePicture, ...]:
        """Trees under the names of the anchors that they are grown for."""
        names = dict(zip(("S1", "G1"), gap.leg.named(self.problem), strict=True))
        return tuple(TreePicture(names[tree.anchor], tree.segments) for tree in trees)

    def _places(self, roads: Roads, gap: OpenGap) -> FloatArray:
        """[2, d] where the trees of the two sides begin."""
        return roads.joined.places.position[list(gap.ends)]

    def _width(self, roads: Roads, gap: OpenGap) -> float:
        reached, wanted = self._places(roads, gap)
        return float(np.linalg.norm(wanted - reached))

    def _key(self, roads: Roads, gap: OpenGap) -> tuple[float, ...]:
        return tuple(self._places(roads, gap).ravel().tolist())

    def _is_searched(self, roads: Roads, gap: OpenGap) -> bool:
        return self._key(roads, gap) in self.searched

    def _is_recorded(self, roads: Roads, gap: OpenGap) -> bool:
        return self.prepared.parts.joins(self._places(roads, gap))


def _together(cost: FloatArray, waypoints: Sequence[int]) -> list[tuple[int, ...]]:
    """Waypoints in groups within which ways lead to and fro: what cuts off one cuts off all."""
    groups: list[tuple[int, ...]] = []
    left = list(waypoints)
    while left:
        group = tuple(row for row in left if np.isfinite(cost[left[0], row] + cost[row, left[0]]))
        groups.append(group)
        left = [row for row in left if row not in group]
    return groups
