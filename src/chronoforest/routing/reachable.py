"""Who can visit what: routes through as many waypoints as ways lead to, and home if that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.routing.bridges import closure
from chronoforest.routing.insertion import Part, finite_chains
from chronoforest.routing.solver import AutoSolver, solve_for_most
from chronoforest.routing.subsets import tabulate
from chronoforest.types import BoolArray, FloatArray, JointRoute, Problem, RouteSolver


@dataclass(frozen=True)
class Share:
    """Agents, by number, and the waypoints, by their rows, that these visit among themselves."""

    agents: tuple[int, ...]
    waypoints: tuple[int, ...]

    def part(self, cost: FloatArray, problem: Problem) -> Part:
        """The share as a problem of its own on [A, A]; who has no way home may end anywhere."""
        part = Part.of(cost, problem, self.agents, self.waypoints)
        open_ended = part.cost.copy()
        largest = float(part.cost[np.isfinite(part.cost)].max(initial=1.0))
        for agent in range(part.problem.num_agents):
            goal, start = part.problem.goal_index(agent), part.problem.start_index(agent)
            if not np.isfinite(part.cost[start, goal]):
                column = part.cost[:, goal]
                open_ended[:, goal] = np.where(np.isfinite(column), column, 2.0 * largest)
        return Part(open_ended, part.problem, part.rows)


@dataclass(frozen=True)
class Shares:
    """A `RouteSolver` for a problem that is not connected: every share is solved for apart.

    left_out: waypoints, by their rows, that no agent can visit.
    """

    shares: tuple[Share, ...]
    left_out: tuple[int, ...]
    solve: RouteSolver

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """Routes without what is left out."""
        orders: dict[int, tuple[int, ...]] = {}
        for share in self.shares:
            part = share.part(cost, problem)
            before = None if previous is None else part.inner(previous)
            found = part.outer(self.solve(part.cost, part.problem, before))
            orders |= dict(zip(share.agents, found.orders, strict=True))
        return JointRoute(tuple(orders[agent] for agent in range(problem.num_agents)))


@dataclass(frozen=True)
class FixedChains:
    """A `RouteSolver` that has made up its mind about a route and leaves out what it cannot visit."""

    route: JointRoute
    left_out: tuple[int, ...]

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """The route, whatever the costs."""
        return self.route


def solver_within_reach(
    cost: FloatArray, problem: Problem, order: JointRoute | None, fixes_order: bool
) -> tuple[RouteSolver, tuple[int, ...]]:
    """What solves for routes over ways that take [A, A] steps, and the rows of waypoints that it leaves out.

    order: a given route, kept as far as ways lead along it; fixes_order: the first solution stands.
    """
    if order is not None:
        kept = keep_order(cost, problem, order)
        return kept, kept.left_out
    solver: RouteSolver = AutoSolver()
    left_out: tuple[int, ...] = ()
    if not is_connected(cost, problem):
        solver = shares = share_out(cost, problem, AutoSolver())
        left_out = shares.left_out
    return (FixedChains(solver(cost, problem, None), left_out) if fixes_order else solver), left_out


def share_out(cost: FloatArray, problem: Problem, solver: AutoSolver) -> Shares:
    """Waypoints for those who get home, as many as can be; of what these leave, for the others what they can
    reach."""
    agents = range(problem.num_agents)
    is_home = [bool(np.isfinite(cost[problem.start_index(m), problem.goal_index(m)])) for m in agents]
    left: tuple[int, ...] = tuple(problem.waypoint_indices)
    shares = []
    for wanted in (True, False):
        some = tuple(m for m in agents if is_home[m] is wanted)
        if some:
            shares.append(Share(some, _visited(Share(some, left), cost, problem, solver)))
            left = tuple(row for row in left if row not in shares[-1].waypoints)
    return Shares(tuple(shares), left, solver)


def keep_order(cost: FloatArray, problem: Problem, route: JointRoute) -> FixedChains:
    """A given route without the fewest waypoints that make all of its legs finite."""
    kept = finite_chains(route, cost)
    visited = {row for order in kept.orders for row in order}
    return FixedChains(kept, tuple(row for row in problem.waypoint_indices if row not in visited))


def is_connected(cost: FloatArray, problem: Problem) -> bool:
    """Whether it is plain that a route visits everything on [A, A]: every agent gets home, and has waypoints
    of its own among which it can go as it likes."""
    agents, waypoints = range(problem.num_agents), np.array(problem.waypoint_indices, dtype=np.int64)
    if problem.fix:
        return False
    is_finite = np.isfinite(cost)
    if not all(is_finite[problem.start_index(m), problem.goal_index(m)] for m in agents):
        return False
    servers = _servers(is_finite, problem)
    if not servers.any(axis=0).all():
        return False
    first = servers.argmax(axis=0)
    groups = (waypoints[first == agent] for agent in agents)
    return all(bool(is_finite[np.ix_(group, group)].all()) for group in groups)


def _servers(is_finite: BoolArray, problem: Problem) -> BoolArray:
    """[M, K] whether an agent can go to a waypoint and then to its goal."""
    waypoints = list(problem.waypoint_indices)
    goals = [problem.goal_index(agent) for agent in range(problem.num_agents)]
    arrives = is_finite[: problem.num_agents, waypoints]
    return np.asarray(arrives & is_finite[np.ix_(waypoints, goals)].T)


def _visited(share: Share, cost: FloatArray, problem: Problem, solver: AutoSolver) -> tuple[int, ...]:
    """Rows of as many waypoints of a share as its agents can visit."""
    whole = share.part(cost, problem)
    # Over a stop one may get where no way leads at once: who stops there may turn.
    servers = _servers(np.isfinite(closure(whole.cost).cost), whole.problem)
    rows = tuple(row for k, row in enumerate(share.waypoints) if servers[:, k].any())
    part = Share(share.agents, rows).part(cost, problem)
    if is_connected(part.cost, part.problem):
        return rows
    if len(rows) <= solver.max_exact:
        return tuple(rows[k] for k in _largest_subset(part.cost, part.problem))
    route = solver(part.cost, part.problem, None)
    if not np.isfinite(route.cost(part.cost)):
        route = solve_for_most(part.cost, part.problem, route, solver.num_iterations, solver.seed)
    return tuple(sorted(part.rows[row] for order in route.orders for row in order[1:-1]))


def _largest_subset(cost: FloatArray, problem: Problem) -> Sequence[int]:
    """Numbers of as many waypoints as a finite route visits, of such sets the cheapest."""
    done = tabulate(cost, problem, num_best=1).done[-1, :, 0]
    subsets = np.flatnonzero(np.isfinite(done)).tolist()
    best = max(subsets, key=lambda subset: (subset.bit_count(), -done[subset]))
    return [k for k in range(problem.num_waypoints) if best >> k & 1]
