"""Ways that go on through stops: where ways are lanes, a stop is left in about the direction in which it was
reached, because turning round in a street is what nobody recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from chronoforest.roadmap.chains import quickest
from chronoforest.roadmap.turns import NUM_HEADINGS, Turns
from chronoforest.roadmap.ways import Joined, Way
from chronoforest.types import BoolArray, FloatArray, IntArray, JointRoute, Pair, Problem

UNREACHABLE = 1e12
"""Steps of a leg that no chain of hops leads over, so that the rest of its route can still be passed well."""


@dataclass(frozen=True)
class Passage:
    """How a leg is driven: by which exit its source is left, with which heading its target is reached, and
    what turning round at the source costs, 0 where the leg goes on."""

    exit: int
    heading: int
    turning: float


@dataclass(frozen=True, eq=False)
class Exits:
    """How anchors may be left: a start anyhow, a stop by its doors, a goal never. anchor: [n] of each exit;
    node: [n] of the graph over headings; goes_on: [n, headings] whether who arrives with a heading may take
    it without turning round."""

    anchor: IntArray
    node: IntArray
    goes_on: BoolArray

    @classmethod
    def of(cls, turns: Turns, problem: Problem) -> Exits:
        """The exits of a problem's anchors."""
        starts = np.arange(problem.num_agents)
        stops = np.flatnonzero(np.isin(turns.doors.anchor, list(problem.waypoint_indices)))
        return cls(
            np.concatenate([starts, turns.doors.anchor[stops]]),
            np.concatenate([turns.leaving()[starts], turns.by_door()[stops]]),
            np.concatenate([np.ones((len(starts), NUM_HEADINGS), np.bool_), turns.doors.goes_on()[stops]]),
        )


@dataclass(frozen=True, eq=False)
class OnwardWays:
    """Ways between the anchors of a problem by exit and heading. steps: [exits, A, headings], infinite where
    no chain of hops leads; before: for each exit [n] the node before each; passages: how the legs of the
    routes are driven that were settled so far."""

    joined: Joined
    turns: Turns
    exits: Exits
    steps: FloatArray
    before: tuple[IntArray, ...]
    passages: Mapping[Pair, Passage] = field(default_factory=dict)

    @classmethod
    def of(cls, joined: Joined, turns: Turns, problem: Problem) -> OnwardWays:
        """The cheapest ways between the anchors of a problem, by what may follow what."""
        exits = Exits.of(turns, problem)
        return cls(joined, turns, exits, *_ways(joined, turns, exits.node))

    @cached_property
    def cost(self) -> FloatArray:
        """[A, A] steps of the best passage of each leg, for itself."""
        count = self.joined.num_anchors
        cost = np.full((count, count), np.inf)
        np.minimum.at(cost, self.exits.anchor, self.steps.min(axis=2))
        np.fill_diagonal(cost, 0.0)
        return cost

    def passage(self, leg: Pair) -> Passage | None:
        """How a leg is driven, where that was settled."""
        return self.passages.get(leg)

    def told(self, leg: Pair) -> float:
        """Steps of a leg as it is driven, or at least."""
        passage = self.passage(leg)
        if passage is None:
            return float(self.cost[leg.source, leg.target])
        return float(self.steps[passage.exit, leg.target, passage.heading]) + passage.turning

    def renewed(self, joined: Joined, sources: IntArray) -> OnwardWays:
        """The same with ways from some anchors over another state of the hops; the rest stays as it was."""
        rows = np.flatnonzero(np.isin(self.exits.anchor, sources))
        steps, before = self.steps.copy(), list(self.before)
        steps[rows], found = _ways(joined, self.turns, self.exits.node[rows])
        for row, nodes in zip(rows, found, strict=True):
            before[row] = nodes
        return replace(self, joined=joined, steps=steps, before=tuple(before))

    def settled(self, route: JointRoute) -> OnwardWays:
        """The same with the legs of a route driven so that all of it is cheapest."""
        found = {leg: passage for order in route.orders for leg, passage in self._passages(order)}
        return replace(self, passages={**self.passages, **found})

    def way(self, source: int, target: int) -> Way | None:
        """The way from one anchor to another as it is driven; None where there is none."""
        leg = Pair(source, target)
        if source == target or not np.isfinite(self.told(leg)):
            return None
        passage = self.passage(leg) or self._best(leg)
        end = int(self.turns.by_heading()[target, passage.heading])
        start = int(self.exits.node[passage.exit])
        nodes = self.joined.places_between(start, end, self.before[passage.exit])
        return Way(
            self.joined.places.position[nodes],
            self.joined.numbers_of(nodes),
            self.told(leg),
            passage.turning,
        )

    def _best(self, leg: Pair) -> Passage:
        """How a leg is driven for itself."""
        rows = np.flatnonzero(self.exits.anchor == leg.source)
        row, heading = np.unravel_index(np.argmin(self.steps[rows, leg.target]), (len(rows), NUM_HEADINGS))
        return Passage(int(rows[row]), int(heading), 0.0)

    def _passages(self, order: Sequence[int]) -> Iterator[tuple[Pair, Passage]]:
        """The legs of an order from the last to the first, by dynamic programming over the headings with
        which anchors are reached."""
        reached = np.zeros(NUM_HEADINGS)
        choices = []
        for source, target in pairwise(order):
            rows = np.flatnonzero(self.exits.anchor == source)
            arriving = reached + np.where(self.exits.goes_on[rows], 0.0, self.turns.turning)
            come, left = arriving.argmin(axis=1), arriving.min(axis=1)
            total = left[:, None] + np.minimum(self.steps[rows, target], UNREACHABLE)
            choices.append((Pair(source, target), rows, come, total.argmin(axis=0)))
            reached = total.min(axis=0)
        heading = int(reached.argmin())
        for leg, rows, come, exits in reversed(choices):
            row = exits[heading]
            goes_on = self.exits.goes_on[rows[row], come[row]]
            yield leg, Passage(int(rows[row]), heading, 0.0 if goes_on else self.turns.turning)
            heading = int(come[row])


def _ways(joined: Joined, turns: Turns, nodes: IntArray) -> tuple[FloatArray, tuple[IntArray, ...]]:
    """[n, A, headings] steps from nodes to anchors by the heading of arrival, and for each of them the node
    before each."""
    return quickest(turns.graph(joined.hops.steps), nodes, turns.by_heading())
