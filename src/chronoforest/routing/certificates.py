"""What may be claimed about a leg and a route: widths and Theorem 1, with its premises checked."""

from __future__ import annotations

import numpy as np

from chronoforest.routing.bridges import Bridges, closure
from chronoforest.routing.solver import best_two_costs
from chronoforest.types import Calibration, Certificate, JointRoute, Pair, Problem


def width(gap: float, calibration: Calibration) -> float:
    """W(ĝ) in steps: the 5–95 % band of what crossing a gap really costs (eq. 37–39)."""
    if not np.isfinite(gap):
        return float("inf")
    is_local = gap <= calibration.local_window
    low, high = calibration.local_ratios if is_local else calibration.all_ratios
    return (high - low) * calibration.local_scale * calibration.inflate(gap)


def link_error(gap: float, calibration: Calibration, certified_gap: float) -> float:
    """ε_ij ≤ ε_loc(ĝ) + αĝ² (eq. 16, 17) for a witness within τ; infinite beyond."""
    if gap > certified_gap:
        return float("inf")
    return calibration.error_within(gap) + calibration.alpha * gap**2


def certify(
    route: JointRoute, bridges: Bridges, problem: Problem, calibration: Calibration, certified_gap: float
) -> Certificate:
    """Theorem 1 and Corollary 1 for the estimated costs.

    The paper states both for the unknown best route and its unknown chains. Here the errors are bounded
    for every pair, so that the same inequalities hold with the estimated margin: no route π is overrated
    by more than the bound, J*(π) ≤ J_t(π) ≤ J*(π) + bound.
    """
    all_hop = closure(bridges.cost).cost
    best, second = best_two_costs(all_hop, problem)
    num_legs = problem.num_waypoints + problem.num_agents
    bound = num_legs * closure_error(bridges, problem, calibration, certified_gap)
    margin = second - best  # NaN where no route is possible
    is_best_estimate = route.cost(all_hop) <= best * (1 + 1e-9)  # never when K > 12: best is unknown
    is_certified = not uncertified_links(bridges, certified_gap) and bool(np.isfinite(bound))
    premises_hold = is_certified and is_best_estimate
    return Certificate(bound, margin, premises_hold)


def closure_error(
    bridges: Bridges, problem: Problem, calibration: Calibration, certified_gap: float
) -> float:
    """The largest C̃_t − C̃* that the link errors allow over the legs a route could have (eq. 18–21).

    A true direct cost is at least max(0, C_t − ε), so C̃* is at least the closure of those. That is never
    worse than eq. 20: the difference is at most the hops of the lower chain times the error of a link.
    """
    errors = np.zeros_like(bridges.cost)
    for pair in _possible_links(bridges):
        errors[pair.source, pair.target] = link_error(bridges.smallest_gap(pair), calibration, certified_gap)
    lower = np.maximum(bridges.cost - errors, 0.0)
    upper_closure, lower_closure = closure(bridges.cost).cost, closure(lower).cost
    rows, columns = np.nonzero(np.isfinite(upper_closure))
    legs = [(i, j) for i, j in zip(rows, columns, strict=True) if problem.can_link(int(i), int(j))]
    return float(max((upper_closure[leg] - lower_closure[leg] for leg in legs), default=0.0))


def uncertified_links(bridges: Bridges, certified_gap: float) -> tuple[Pair, ...]:
    """The links without a witness within τ, for which eq. 15 fails."""
    return tuple(p for p in _possible_links(bridges) if bridges.smallest_gap(p) > certified_gap)


def _possible_links(bridges: Bridges) -> list[Pair]:
    """Every ordered pair a chain could use: the closure may run through any anchor."""
    rows, columns = np.nonzero(np.isfinite(bridges.cost) & ~np.eye(len(bridges.cost), dtype=bool))
    return [Pair(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]
