"""Who visits what in which order: exact while that is cheap, PyVRP beyond (eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyvrp
from pyvrp.stop import MaxIterations

from chronoforest.errors import InvalidProblem, require_at_least, require_within
from chronoforest.types import FloatArray, IntArray, JointRoute, Problem

MAX_EXACT = 12
"""Most waypoints the exact solver takes: its tables hold M · 2^K · K costs."""

_INTEGER_RANGE = 1e7  # PyVRP counts in integers; the largest cost becomes this


@dataclass(frozen=True)
class AutoSolver:
    """A `RouteSolver`: exact for few waypoints, PyVRP's beyond.

    max_exact: most waypoints solved exactly; num_iterations: PyVRP's effort, a count and not a time, so that
    one seed gives one route on any machine; seed: PyVRP's randomness.
    """

    max_exact: int = 10
    num_iterations: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        require_within(self, 0, MAX_EXACT, "max_exact")
        require_at_least(self, 1, "num_iterations")
        require_at_least(self, 0, "seed")

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """Solve on the closure [A, A]."""
        if problem.num_waypoints <= self.max_exact:
            return solve_exact(cost, problem, previous)
        return solve_pyvrp(cost, problem, previous, self.num_iterations, self.seed)


@dataclass(frozen=True)
class FixedOrder:
    """A `RouteSolver` that has made up its mind (variants `temporal-fixed`, `graph-fixed`)."""

    route: JointRoute

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """The given route, whatever the costs; InvalidProblem when it does not fit the problem."""
        check_route(self.route, problem)
        return self.route


def order_from_names(names: Sequence[Sequence[str]], problem: Problem) -> JointRoute:
    """One list of anchor names per agent, such as [["S1", "W2", "G1"]], as a checked route."""
    rows = {name: row for row, name in enumerate(problem.names)}
    try:
        unknown = [name for order in names for name in order if name not in rows]
    except TypeError as error:
        raise InvalidProblem(f"order must be lists such as [['S1', 'G1']], got {names!r:.80}") from error
    if unknown:
        raise InvalidProblem(f"no anchor is called {unknown[0]!r}; available: {', '.join(rows)}")
    route = JointRoute(tuple(tuple(rows[name] for name in order) for order in names))
    check_route(route, problem)
    return route


def check_route(route: JointRoute, problem: Problem) -> None:
    """InvalidProblem unless every agent goes from its start to its goal and each waypoint is visited once."""
    ends = [(order[0], order[-1]) if order else () for order in route.orders]
    wanted = [(problem.start_index(m), problem.goal_index(m)) for m in range(problem.num_agents)]
    visits = sorted(anchor for order in route.orders for anchor in order[1:-1])
    if ends != wanted or visits != list(problem.waypoint_indices):
        raise InvalidProblem(
            f"route {route.orders} must lead from {wanted} (start, goal) "
            f"and visit each of {list(problem.waypoint_indices)} exactly once"
        )


def solve_exact(cost: FloatArray, problem: Problem, previous: JointRoute | None = None) -> JointRoute:
    """The cheapest joint route on [A, A] (eq. 6), K ≤ 12; `previous` is kept when nothing is cheaper."""
    if problem.num_waypoints > MAX_EXACT:
        raise InvalidProblem(
            f"solve_exact takes at most {MAX_EXACT} waypoints, got {problem.num_waypoints}; use solve_pyvrp"
        )
    finite = _capped(cost, problem)
    return _prefer(previous, _trace(_tabulate(finite, problem, num_best=1), finite, problem), finite, problem)


def solve_pyvrp(
    cost: FloatArray, problem: Problem, previous: JointRoute | None, num_iterations: int, seed: int = 0
) -> JointRoute:
    """A good joint route on [A, A] for any K, never worse than `previous`, from which it starts.

    PyVRP's neighbourhoods assume near-symmetric costs; with a hundred and more waypoints and strongly
    directed costs expect routes some per cent above the optimum.
    """
    finite = _capped(cost, problem)
    data = _vehicle_problem(finite, problem)
    warm = None if previous is None else _as_solution(previous, problem, data)
    stop = MaxIterations(num_iterations)
    result = pyvrp.solve(data, stop, seed, collect_stats=False, initial_solution=warm)
    return _prefer(previous, _as_route(result.best, problem), finite, problem)


def best_two_costs(cost: FloatArray, problem: Problem) -> tuple[float, float]:
    """The costs of the best and the second-best joint route on [A, A], whose difference is Δ_route (eq. 26);
    infinite where there is no route or no second one, NaN when K > 12."""
    if problem.num_waypoints > MAX_EXACT:
        return float("nan"), float("nan")
    best, second = _tabulate(cost, problem, num_best=2).done[-1, -1]
    return float(best), float(second)


@dataclass(frozen=True)
class _Tables:
    """Dynamic programming over waypoint subsets, agent by agent; R best costs are kept in each cell.

    done: [M + 1, 2^K, R], the first m agents are home and have visited the subset.
    reach: [M, 2^K, K, R], agent m stands at a waypoint, the subset is visited by then.
    Every joint route is exactly one path through the tables.
    """

    done: FloatArray
    reach: FloatArray


def _tabulate(cost: FloatArray, problem: Problem, num_best: int) -> _Tables:
    num_agents, num_waypoints = problem.num_agents, problem.num_waypoints
    done = np.full((num_agents + 1, 1 << num_waypoints, num_best), np.inf)
    reach = np.full((num_agents, 1 << num_waypoints, num_waypoints, num_best), np.inf)
    done[0, 0, 0] = 0.0
    for agent in range(num_agents):
        out, between, home, idle = _agent_costs(cost, problem, agent)
        for subsets in _subsets_by_size(num_waypoints):
            _visit_one_more(reach[agent], done[agent], subsets, out, between)
        arrived = reach[agent] + home[:, None]
        done[agent + 1] = _best_of([done[agent] + idle, *np.moveaxis(arrived, 1, 0)], num_best)
    return _Tables(done, reach)


def _visit_one_more(
    reach: FloatArray, done: FloatArray, subsets: IntArray, out: FloatArray, between: FloatArray
) -> None:
    """Fill reach[subsets] from the subsets that lack the waypoint stood at."""
    for last in range(len(out)):
        with_last = subsets[subsets >> last & 1 == 1]
        without = with_last ^ (1 << last)
        come = reach[without] + between[:, last, None]
        leave = done[without] + out[last]
        reach[with_last, last] = _best_of([leave, *np.moveaxis(come, 1, 0)], reach.shape[-1])


def _best_of(candidates: Sequence[FloatArray], num_best: int) -> FloatArray:
    """The R smallest over several [n, R] arrays, sorted."""
    return np.sort(np.concatenate(candidates, axis=1))[:, :num_best]


def _subsets_by_size(num_waypoints: int) -> list[IntArray]:
    subsets = np.arange(1 << num_waypoints)
    sizes = np.array([subset.bit_count() for subset in subsets.tolist()])
    return [subsets[sizes == size] for size in range(1, num_waypoints + 1)]


def _agent_costs(
    cost: FloatArray, problem: Problem, agent: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """start → waypoint [K], waypoint → waypoint [K, K], waypoint → goal [K], start → goal."""
    start, goal, waypoints = problem.start_index(agent), problem.goal_index(agent), problem.waypoint_indices
    between = cost[np.ix_(waypoints, waypoints)]
    return cost[start, waypoints], between, cost[waypoints, goal], float(cost[start, goal])


def _trace(tables: _Tables, cost: FloatArray, problem: Problem) -> JointRoute:
    """Walk back through the tables, last agent first."""
    subset, orders = (1 << problem.num_waypoints) - 1, []
    for agent in reversed(range(problem.num_agents)):
        visits, subset = _trace_agent(tables, cost, problem, agent, subset)
        orders.append((problem.start_index(agent), *visits, problem.goal_index(agent)))
    return JointRoute(tuple(reversed(orders)))


def _trace_agent(
    tables: _Tables, cost: FloatArray, problem: Problem, agent: int, subset: int
) -> tuple[list[int], int]:
    """The agent's visits and the subset its predecessors have visited."""
    out, between, onward, leave = _agent_costs(cost, problem, agent)
    done, reach = tables.done[agent, :, 0], tables.reach[agent, :, :, 0]
    visits: list[int] = []
    while True:
        come = reach[subset] + onward
        if done[subset] + leave <= come.min(initial=np.inf):
            return [problem.waypoint_indices[k] for k in reversed(visits)], subset
        last = int(come.argmin())
        visits.append(last)
        subset ^= 1 << last
        onward, leave = between[:, last], out[last]


def _capped(cost: FloatArray, problem: Problem) -> FloatArray:
    """Infinity as a number above any reachable route, so that the fewest unreachable legs are used."""
    is_finite = np.isfinite(cost)
    largest = float(cost[is_finite].max(initial=1.0))
    num_legs = problem.num_waypoints + problem.num_agents
    return np.where(is_finite, cost, largest * (num_legs + 1))


def _prefer(previous: JointRoute | None, found: JointRoute, cost: FloatArray, problem: Problem) -> JointRoute:
    """Last round's route unless the new one is cheaper, so that ties do not make the search change course."""
    if previous is None:
        return found
    check_route(previous, problem)
    return found if found.cost(cost) < previous.cost(cost) * (1 - 1e-12) else previous


def _vehicle_problem(cost: FloatArray, problem: Problem) -> pyvrp.ProblemData:
    """One vehicle per agent from its start to its goal; clients are the waypoints, then one gate per agent.

    An unused vehicle would cost nothing although the agent still has to go home. So each agent has a
    required client, its gate, that only its own start reaches and that costs what its start costs.
    """
    num_agents, num_anchors = problem.num_agents, problem.num_anchors
    num_locations = num_anchors + num_agents
    client_locations = [*problem.waypoint_indices, *range(num_anchors, num_locations)]
    goals = [problem.goal_index(m) for m in range(num_agents)]
    matrix: Any = _gated_matrix(cost, num_agents)  # PyVRP's stubs misname the array type
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * num_locations,
        clients=[pyvrp.Client(location) for location in client_locations],
        depots=[pyvrp.Depot(location) for location in (*range(num_agents), *goals)],
        vehicle_types=[pyvrp.VehicleType(start_depot=m, end_depot=num_agents + m) for m in range(num_agents)],
        distance_matrices=[matrix],
        duration_matrices=[np.zeros_like(matrix)],
    )


def _gated_matrix(cost: FloatArray, num_agents: int) -> IntArray:
    """[A + M, A + M] integer costs with the gates' rows and columns behind the anchors'."""
    scaled = np.rint(cost * (_INTEGER_RANGE / float(cost.max(initial=1.0)))).astype(np.int64)
    num_anchors = len(scaled)
    forbidden = int(_INTEGER_RANGE) * (num_anchors + 1)
    matrix = np.full((num_anchors + num_agents,) * 2, forbidden, dtype=np.int64)
    matrix[:num_anchors, :num_anchors] = scaled
    matrix[num_anchors:, :num_anchors] = scaled[:num_agents]
    matrix[np.arange(num_agents), num_anchors + np.arange(num_agents)] = 0
    np.fill_diagonal(matrix, 0)
    return matrix


def _as_solution(route: JointRoute, problem: Problem, data: pyvrp.ProblemData) -> pyvrp.Solution:
    check_route(route, problem)
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
