"""What is known about every leg, and the cheapest way to chain legs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import floyd_warshall

from chronoforest.types import Evidence, FloatArray, IntArray, JointRoute, Meeting, Pair, Problem, Witness

_HOP_PENALTY = 1e-9  # relative to the largest cost: far above rounding, far below any real difference


@dataclass(frozen=True)
class Bridges:
    """The direct-bridge state C_t, B_t, γ_t (eq. 4); all costs and gaps are in steps.

    cost: [A, A] running minimum over root scores and witnesses, diagonal 0.
    witness_cost, gap: [A, A] of the cheapest witness, infinite until one is found; a root score is none,
    so `cost` may lie below `witness_cost`.
    meetings: the cheapest of each pair, kept when the route leaves the pair.
    """

    cost: FloatArray
    witness_cost: FloatArray
    gap: FloatArray
    meetings: Mapping[Pair, Meeting] = field(default_factory=dict)

    @classmethod
    def from_roots(cls, cost: FloatArray) -> Bridges:
        """C_0 from root-to-root scores [A, A]; infinite where no bridge can exist."""
        start = np.array(cost, dtype=np.float64)
        np.fill_diagonal(start, 0.0)
        return cls(start, np.full_like(start, np.inf), np.full_like(start, np.inf))

    def updated(self, evidence: Evidence, is_reversible: bool) -> Bridges:
        """C_t, B_t and γ_t after one round (eq. 4); a meeting is a witness too.

        In a reversible world what is found for a leg is found for the leg back.
        """
        found = _both_ways(evidence) if is_reversible else evidence
        return self._with_witnesses((*found.witnesses, *found.meetings))._with_meetings(found.meetings)

    def _with_witnesses(self, witnesses: Iterable[Witness | Meeting]) -> Bridges:
        witness_cost, gap = self.witness_cost.copy(), self.gap.copy()
        for found in witnesses:
            leg = found.pair.source, found.pair.target
            witness_cost[leg], gap[leg] = min((found.cost, found.gap), (witness_cost[leg], gap[leg]))
        return replace(self, cost=np.minimum(self.cost, witness_cost), witness_cost=witness_cost, gap=gap)

    def _with_meetings(self, meetings: Iterable[Meeting]) -> Bridges:
        cheapest = dict(self.meetings)
        for found in meetings:
            if found.pair not in cheapest or found.cost < cheapest[found.pair].cost:
                cheapest[found.pair] = found
        return replace(self, meetings=cheapest)

    @property
    def met_cost(self) -> FloatArray:
        """[A, A] cost of the meetings, infinite where there is none, diagonal 0."""
        cost = np.full_like(self.cost, np.inf)
        np.fill_diagonal(cost, 0.0)
        for pair, meeting in self.meetings.items():
            cost[pair.source, pair.target] = meeting.cost
        return cost

    def smallest_gap(self, pair: Pair) -> float:
        """The smaller of γ_t and the meeting's gap: C_t is below both costs, so each bounds its error."""
        gap = float(self.gap[pair.source, pair.target])
        return min(gap, self.meetings[pair].gap) if pair in self.meetings else gap


@dataclass(frozen=True)
class Closure:
    """All-hop costs C̃ and the chains of anchors that attain them (eq. 5).

    cost: [A, A]; predecessors: [A, A], the anchor before the column's on the way from the row's.
    """

    cost: FloatArray
    predecessors: IntArray

    def chain(self, pair: Pair) -> tuple[int, ...]:
        """Anchors from source to target along a shortest path; the pair itself when there is none."""
        if not np.isfinite(self.cost[pair.source, pair.target]):
            return pair.source, pair.target
        chain = [pair.target]
        while chain[-1] != pair.source:
            chain.append(int(self.predecessors[pair.source, chain[-1]]))
        return tuple(reversed(chain))

    def links(self, pair: Pair) -> tuple[Pair, ...]:
        """The direct legs of the chain."""
        return tuple(Pair(a, b) for a, b in pairwise(self.chain(pair)))

    def links_of(self, legs: Iterable[Pair]) -> tuple[Pair, ...]:
        """The links of several legs, each once, in the legs' order."""
        return tuple(dict.fromkeys(link for leg in legs for link in self.links(leg)))


def closure(cost: FloatArray) -> Closure:
    """Floyd–Warshall closure of a direct matrix [A, A] (eq. 5).

    Of chains that cost the same the one with the fewest hops is taken, so a direct link is never replaced
    by an equal chain: the predecessors come from costs with a tiny penalty on every link.
    """
    penalty = _HOP_PENALTY * float(cost[np.isfinite(cost)].max(initial=1.0))
    _, predecessors = floyd_warshall(_graph(cost + penalty), return_predecessors=True)
    return Closure(floyd_warshall(_graph(cost)), predecessors.astype(np.int64))


def direct(cost: FloatArray) -> Closure:
    """The direct matrix in the closure's place, every leg its own chain (variant `direct-matrix`)."""
    sources = np.arange(len(cost), dtype=np.int64)[:, None]
    return Closure(cost.copy(), np.broadcast_to(sources, cost.shape))


def _graph(cost: FloatArray) -> csr_matrix:
    """A dense graph would read a cost of 0 as "no link"; here only infinity means that."""
    is_link = np.isfinite(cost)
    begins = np.concatenate([[0], np.cumsum(is_link.sum(axis=1))])
    return csr_matrix((cost[is_link], np.nonzero(is_link)[1], begins), shape=cost.shape)


def _both_ways(evidence: Evidence) -> Evidence:
    back = (replace(found, pair=found.pair.reversed) for found in evidence.witnesses)
    met_back = (
        replace(
            found,
            pair=found.pair.reversed,
            source_frame=found.target_frame,
            target_frame=found.source_frame,
        )
        for found in evidence.meetings
    )
    return Evidence((*evidence.witnesses, *back), (*evidence.meetings, *met_back))


def respects_degrees(pairs: Iterable[Pair], problem: Problem) -> bool:
    """The paper's degree screen: nothing enters a start or leaves a goal, and no anchor is left or
    entered twice."""
    legs = set(pairs)
    if any(problem.is_goal(leg.source) or problem.is_start(leg.target) for leg in legs):
        return False
    left, entered = Counter(leg.source for leg in legs), Counter(leg.target for leg in legs)
    return all(count == 1 for count in (*left.values(), *entered.values()))


def accept(
    accepted: Iterable[Pair], route: JointRoute, all_hop: Closure, bridges: Bridges, problem: Problem
) -> frozenset[Pair]:
    """E_soft: earlier legs that are still on the route and can be assembled from meetings, plus route legs
    whose every link of the chain attaining the closure has met, in whatever round.

    all_hop: the closure the route was solved on.
    """
    met = closure(bridges.met_cost).cost
    kept = {leg for leg in accepted if leg in route.legs and np.isfinite(met[leg.source, leg.target])}
    for leg in route.legs:
        is_met = all(link in bridges.meetings for link in all_hop.links(leg))
        if is_met and respects_degrees({*kept, leg}, problem):
            kept.add(leg)
    return frozenset(kept)


def is_complete(route: JointRoute, accepted: Iterable[Pair]) -> bool:
    """Adj(π) ⊆ E_soft: every leg of the route is accepted."""
    return set(route.legs) <= set(accepted)
