"""Who visits what in which order: exact while that is cheap, PyVRP beyond (eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyvrp
from pyvrp.stop import MaxIterations

from chronoforest.errors import InvalidProblem, require_at_least, require_within
from chronoforest.routing.insertion import Part, far_apart_first, finite_chains, insert, straight_home
from chronoforest.routing.subsets import tabulate, trace
from chronoforest.types import FloatArray, IntArray, JointRoute, Problem, RouteSolver

MAX_EXACT = 12
"""Most waypoints the exact solver takes: its tables hold M · 2^K · K costs."""

FEWEST = 10
"""Waypoints that PyVRP is first asked about; then twice as many, and so on."""

MOST_DETOUR = 3.0
"""What a visit is worth where not all are possible, in times of the longest leg: more than any detour."""

_INTEGER_RANGE = 1e7  # PyVRP counts in integers; the largest cost becomes this


@dataclass(frozen=True)
class AutoSolver:
    """A `RouteSolver`: exact for few waypoints, PyVRP's beyond.

    max_exact: most waypoints solved exactly; num_iterations: PyVRP's effort each time the waypoints are
    doubled, a count and not a time, so that one seed gives one route on any machine; num_again: the same
    from a route that was the best before some costs changed; seed: PyVRP's randomness.
    """

    max_exact: int = 10
    num_iterations: int = 200
    num_again: int = 25
    seed: int = 0

    def __post_init__(self) -> None:
        require_within(self, 0, MAX_EXACT, "max_exact")
        require_at_least(self, 1, "num_iterations", "num_again")
        require_at_least(self, 0, "seed")

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """Solve on the closure [A, A]."""
        if problem.num_waypoints <= self.max_exact:
            return solve_exact(cost, problem, previous)
        num_iterations = self.num_iterations if previous is None else self.num_again
        return solve_pyvrp(cost, problem, previous, num_iterations, self.seed)


@dataclass(frozen=True)
class FixedOrder:
    """A `RouteSolver` that has made up its mind (variants `temporal-fixed`, `graph-fixed`)."""

    route: JointRoute

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """The given route, whatever the costs; InvalidProblem when it does not fit the problem."""
        check_route(self.route, problem)
        return self.route


Order = Sequence[str] | Sequence[Sequence[str]]
"""Names of each agent's stops, or those of a single agent."""


def order_from_names(names: Order, problem: Problem) -> JointRoute:
    """One list of names per agent, such as [["S1", "W2", "G1"]], or a flat one for a single agent, as a
    checked route. Labels do as well, where their place in the order says which stop is meant."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InvalidProblem(f"order must be lists such as [['S1', 'G1']], got {names!r:.80}")
    orders = [names] if all(isinstance(name, str) for name in names) else names
    are_lists = all(isinstance(order, Sequence) and not isinstance(order, str) for order in orders)
    if len(orders) != problem.num_agents or not are_lists:
        raise InvalidProblem(
            f"order must be a list for each of {problem.num_agents} agents, got {names!r:.80}"
        )
    rows = [
        [_named(name, problem, agent, place, len(order)) for place, name in enumerate(order)]
        for agent, order in enumerate(orders)
    ]
    route = JointRoute(tuple(map(tuple, rows)))
    check_route(route, problem)
    return route


def _named(name: object, problem: Problem, agent: int, place: int, count: int) -> int:
    """Row of the stop that a name or a label means at a place of an agent's order."""
    if name in problem.names:
        return problem.names.index(str(name))
    meant: Sequence[int] = problem.waypoint_indices
    if place in (0, count - 1):
        meant = (problem.start_index(agent) if place == 0 else problem.goal_index(agent),)
    found = [row for row in meant if problem.labels[row] == name]
    if len(found) != 1:
        known = ", ".join(dict.fromkeys((*problem.names, *problem.labels)))
        how = "no stop" if not found else "more than one stop"
        raise InvalidProblem(f"{how} is called {name!r:.40} here; available: {known}")
    return found[0]


def solver_of(order: Order | None, problem: Problem) -> RouteSolver:
    """A given order, by its names, or whatever is best."""
    return AutoSolver() if order is None else FixedOrder(order_from_names(order, problem))


def check_route(route: JointRoute, problem: Problem) -> None:
    """InvalidProblem unless every agent goes from its start to its goal and each waypoint is visited once."""
    ends = [(order[0], order[-1]) if order else () for order in route.orders]
    wanted = [(problem.start_index(m), problem.goal_index(m)) for m in range(problem.num_agents)]
    visits = sorted(anchor for order in route.orders for anchor in order[1:-1])
    if ends != wanted or visits != list(problem.waypoint_indices):
        known = dict(enumerate(problem.names))
        names = [" → ".join(known.get(stop, "?") for stop in order) for order in route.orders]
        pairs = [f"{problem.names[start]} to {problem.names[goal]}" for start, goal in wanted]
        raise InvalidProblem(
            f"an order must lead from {', '.join(pairs)} and visit each waypoint once, got {'; '.join(names)}"
        )
    if problem.fix and not _keeps_rules(route, problem):
        words = "; ".join(f"{name} {rule}" for name, rule in problem.fix.items())
        raise InvalidProblem(f"no order was found that keeps to fix: {words}")


def _keeps_rules(route: JointRoute, problem: Problem) -> bool:
    orders = enumerate(route.orders)
    return all(problem.may_travel(agent)[order[:-1], order[1:]].all() for agent, order in orders)


def solve_exact(cost: FloatArray, problem: Problem, previous: JointRoute | None = None) -> JointRoute:
    """The cheapest joint route on [A, A] (eq. 6), K ≤ 12; `previous` is kept when nothing is cheaper."""
    if problem.num_waypoints > MAX_EXACT:
        raise InvalidProblem(
            f"solve_exact takes at most {MAX_EXACT} waypoints, got {problem.num_waypoints}; use solve_pyvrp"
        )
    finite = _capped(cost, problem)
    return _prefer(previous, trace(tabulate(finite, problem, num_best=1), finite, problem), finite, problem)


def solve_pyvrp(
    cost: FloatArray, problem: Problem, previous: JointRoute | None, num_iterations: int, seed: int = 0
) -> JointRoute:
    """A good joint route on [A, A] for any K, never worse than `previous`, from which it starts.

    Without one it solves for few waypoints that lie far apart, puts in as many again and solves anew, until
    all are in. PyVRP changes a few visits at a time: who goes where, and which way round, is decided while
    waypoints are few, and no number of iterations would change it once they are many.
    """
    finite = _capped(cost, problem)
    if previous is not None:
        check_route(previous, problem)
        found = _improved(finite, problem, previous, num_iterations, seed)
        return _prefer(previous, found, finite, problem)
    ranked, route = far_apart_first(finite, problem), straight_home(problem)
    num_in = 0
    while num_in < len(ranked):
        news = ranked[num_in : max(FEWEST, 2 * num_in)]
        num_in += len(news)
        part = Part.of(finite, problem, range(problem.num_agents), ranked[:num_in])
        start = part.inner(insert(_agents_costs(finite, problem), route, news))
        route = part.outer(_improved(part.cost, part.problem, start, num_iterations, seed))
    if problem.fix:
        check_route(route, problem)
    return route


def solve_for_most(
    cost: FloatArray, problem: Problem, route: JointRoute, num_iterations: int, seed: int = 0
) -> JointRoute:
    """A good joint route on [A, A] through as many waypoints as finite legs lead to, from what is left of a
    route without the others. Every agent's start must lead to its goal."""
    prize = MOST_DETOUR * float(cost[np.isfinite(cost)].max(initial=1.0))
    barred = np.where(np.isfinite(cost), cost, (problem.num_waypoints + 1) * prize)
    return _improved(barred, problem, finite_chains(route, cost), num_iterations, seed, prize)


def _improved(
    cost: FloatArray,
    problem: Problem,
    route: JointRoute,
    num_iterations: int,
    seed: int,
    prize: float | None = None,
) -> JointRoute:
    """What PyVRP makes of a route on finite costs; prize: what a visit is worth where not all are a must."""
    data = _vehicle_problem(cost, problem, prize)
    start, stop = _as_solution(route, problem, data), MaxIterations(num_iterations)
    result = pyvrp.solve(data, stop, seed, collect_stats=False, initial_solution=start)
    return _as_route(result.best, problem)


def best_two_costs(cost: FloatArray, problem: Problem) -> tuple[float, float]:
    """The costs of the best and the second-best joint route on [A, A], whose difference is Δ_route (eq. 26);
    infinite where there is no route or no second one, NaN when K > 12."""
    if problem.num_waypoints > MAX_EXACT:
        return float("nan"), float("nan")
    best, second = tabulate(cost, problem, num_best=2).done[-1, -1]
    return float(best), float(second)


def _capped(cost: FloatArray, problem: Problem) -> FloatArray:
    """Infinity as a number above any reachable route, so that the fewest unreachable legs are used."""
    is_finite = np.isfinite(cost)
    largest = float(cost[is_finite].max(initial=1.0))
    num_legs = problem.num_waypoints + problem.num_agents
    return np.where(is_finite, cost, largest * (num_legs + 1))


def _agents_costs(cost: FloatArray, problem: Problem) -> FloatArray:
    """[M, A, A] costs of each agent, above any route where a rule forbids a leg; [A, A] without rules."""
    if not problem.fix:
        return cost
    allowed = [problem.may_travel(agent) for agent in range(problem.num_agents)]
    return np.where(allowed, cost, cost.max(initial=1.0) * (problem.num_anchors + 1))


def _prefer(previous: JointRoute | None, found: JointRoute, cost: FloatArray, problem: Problem) -> JointRoute:
    """Last round's route unless the new one is cheaper, so that ties do not make the search change course."""
    if previous is None:
        return found
    check_route(previous, problem)
    return found if found.cost(cost) < previous.cost(cost) * (1 - 1e-12) else previous


def _vehicle_problem(cost: FloatArray, problem: Problem, prize: float | None) -> pyvrp.ProblemData:
    """One vehicle per agent from its start to its goal; clients are the waypoints, then one gate per agent.

    An unused vehicle would cost nothing although the agent still has to go home. So each agent has a
    required client, its gate, that only its own start reaches and that costs what its start costs.
    """
    num_agents, num_anchors = problem.num_agents, problem.num_anchors
    num_locations = num_anchors + num_agents
    scale = _INTEGER_RANGE / float(cost.max(initial=1.0))
    # PyVRP pays a prize for a visit only where it may be left out.
    worth: dict[str, Any] = {} if prize is None else {"prize": round(prize * scale), "required": False}
    goals = [problem.goal_index(m) for m in range(num_agents)]
    scaled = np.rint(_agents_costs(cost, problem) * scale).astype(np.int64).reshape(-1, *cost.shape)
    matrices: list[Any] = [_gated_matrix(one, num_agents) for one in scaled]  # PyVRP's stubs misname the type
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * num_locations,
        clients=[
            *(pyvrp.Client(location, **worth) for location in problem.waypoint_indices),
            *(pyvrp.Client(location) for location in range(num_anchors, num_locations)),
        ],
        depots=[pyvrp.Depot(location) for location in (*range(num_agents), *goals)],
        vehicle_types=[
            pyvrp.VehicleType(start_depot=m, end_depot=num_agents + m, profile=min(m, len(matrices) - 1))
            for m in range(num_agents)
        ],
        distance_matrices=matrices,
        duration_matrices=[np.zeros_like(matrix) for matrix in matrices],
    )


def _gated_matrix(scaled: IntArray, num_agents: int) -> IntArray:
    """[A + M, A + M] integer costs with the gates' rows and columns behind the anchors'."""
    num_anchors = len(scaled)
    forbidden = int(_INTEGER_RANGE) * (num_anchors + 1)
    matrix = np.full((num_anchors + num_agents,) * 2, forbidden, dtype=np.int64)
    matrix[:num_anchors, :num_anchors] = scaled
    matrix[num_anchors:, :num_anchors] = scaled[:num_agents]
    matrix[np.arange(num_agents), num_anchors + np.arange(num_agents)] = 0
    np.fill_diagonal(matrix, 0)
    return matrix


def _as_solution(route: JointRoute, problem: Problem, data: pyvrp.ProblemData) -> pyvrp.Solution:
    first, num_waypoints = problem.num_agents, problem.num_waypoints
    visits = [[num_waypoints + m, *(a - first for a in order[1:-1])] for m, order in enumerate(route.orders)]
    return pyvrp.Solution(data, [pyvrp.Route(data, clients, m) for m, clients in enumerate(visits)])


def _as_route(solution: pyvrp.Solution, problem: Problem) -> JointRoute:
    visits: dict[int, list[int]] = {m: [] for m in range(problem.num_agents)}
    for route in solution.routes():
        clients = [stop.idx for stop in route.schedule() if stop.is_client()]
        visits[route.vehicle_type()] = [c + problem.num_agents for c in clients if c < problem.num_waypoints]
    return JointRoute(
        tuple((problem.start_index(m), *order, problem.goal_index(m)) for m, order in visits.items())
    )
