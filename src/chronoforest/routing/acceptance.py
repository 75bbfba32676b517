"""Which legs of the route are met: revocable, route-consistent acceptance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from chronoforest.routing.bridges import Bridges, Closure, closure
from chronoforest.types import JointRoute, Pair, Problem


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
    met = closure(bridges.met_cost)
    kept = {leg for leg in accepted if leg in route.legs and can_assemble(leg, met)}
    for leg in route.legs:
        if bridges.are_met(all_hop.links(leg)) and respects_degrees({*kept, leg}, problem):
            kept.add(leg)
    return frozenset(kept)


def can_assemble(leg: Pair, met: Closure) -> bool:
    """Whether meetings alone lead along the leg; `met` is the closure of `Bridges.met_cost`."""
    return bool(np.isfinite(met.cost[leg.source, leg.target]))


def unmet(route: JointRoute, accepted: Iterable[Pair]) -> tuple[Pair, ...]:
    """The route's legs that are not accepted, in order."""
    known = frozenset(accepted)
    return tuple(leg for leg in route.legs if leg not in known)


def is_complete(route: JointRoute, accepted: Iterable[Pair]) -> bool:
    """Adj(π) ⊆ E_soft: every leg of the route is accepted."""
    return not unmet(route, accepted)
