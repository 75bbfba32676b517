"""Which pairs are searched next: the route's open links first, a little of everything else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, product
from typing import Protocol

from chronoforest.errors import InvalidParameter
from chronoforest.routing.bridges import Bridges
from chronoforest.types import Pair, Problem


@dataclass(frozen=True)
class BudgetParams:
    """num_pairs: B_pair, pairs searched in a round; num_coverage: Q_cov, those kept for off-route pairs;
    certified_gap: τ in steps, below which an off-route pair is left alone."""

    num_pairs: int = 4
    num_coverage: int = 1
    certified_gap: float = 30.0

    def __post_init__(self) -> None:
        if self.num_pairs < 1:
            raise InvalidParameter(f"num_pairs must be 1 or more, got {self.num_pairs}")
        if not 0 <= self.num_coverage < self.num_pairs:
            raise InvalidParameter(
                f"num_coverage must be between 0 and num_pairs - 1 = {self.num_pairs - 1}, "
                f"so that the route is always served, got {self.num_coverage}"
            )
        if not self.certified_gap >= 0:
            raise InvalidParameter(f"certified_gap must be 0 or more, got {self.certified_gap}")


class PairBudget(Protocol):
    """Chooses the pairs of one round; each is searched from both of its ends."""

    def __call__(
        self,
        route_links: Iterable[Pair],
        bridges: Bridges,
        accepted_links: Iterable[Pair],
        round_index: int,
        problem: Problem,
        is_reversible: bool,
    ) -> tuple[Pair, ...]:
        """route_links: the links of the tentative route's chains; accepted_links: those already served."""
        ...


@dataclass(frozen=True)
class RouteBudget:
    """A `PairBudget`: the paper's split into current-route and coverage pairs."""

    params: BudgetParams = BudgetParams()

    def __call__(
        self,
        route_links: Iterable[Pair],
        bridges: Bridges,
        accepted_links: Iterable[Pair],
        round_index: int,
        problem: Problem,
        is_reversible: bool,
    ) -> tuple[Pair, ...]:
        """See `allocate`."""
        return allocate(
            route_links, bridges, accepted_links, round_index, problem, self.params, is_reversible
        )


@dataclass(frozen=True)
class ExhaustiveBudget:
    """A `PairBudget`: every pair a route could use, until it is met (variant `exhaustive`)."""

    def __call__(
        self,
        route_links: Iterable[Pair],
        bridges: Bridges,
        accepted_links: Iterable[Pair],
        round_index: int,
        problem: Problem,
        is_reversible: bool,
    ) -> tuple[Pair, ...]:
        """The route's open links, then all other linkable pairs without a meeting."""
        pairs = (*route_links, *linkable_pairs(problem, is_reversible))
        return _once((pair for pair in pairs if pair not in bridges.meetings), is_reversible)


def allocate(
    route_links: Iterable[Pair],
    bridges: Bridges,
    accepted_links: Iterable[Pair],
    round_index: int,
    problem: Problem,
    params: BudgetParams,
    is_reversible: bool,
) -> tuple[Pair, ...]:
    """E_on then E_cov, at most `num_pairs` together; what one leaves the other uses.

    In a reversible world (i, j) and (j, i) are one pair, named in the direction the route travels it.
    """
    route_links = tuple(route_links)
    served = (*route_links, *accepted_links)
    active = active_links(route_links, bridges, accepted_links, is_reversible)
    uncertified = uncertified_pairs(served, bridges, problem, params.certified_gap, is_reversible)
    on_route = active[: params.num_pairs - min(params.num_coverage, len(uncertified))]
    turn = round_index * max(1, params.num_coverage)
    return (*on_route, *_round_robin(uncertified, turn, params.num_pairs - len(on_route)))


def active_links(
    route_links: Iterable[Pair], bridges: Bridges, accepted_links: Iterable[Pair], is_reversible: bool
) -> tuple[Pair, ...]:
    """O_t: links of the route neither met nor accepted, widest gap first; ties by cost, then by row."""

    def urgency(link: Pair) -> tuple[float, float, Pair]:
        row = link.source, link.target
        return -float(bridges.gap[row]), float(bridges.cost[row]), link

    settled = {*bridges.meetings, *accepted_links}
    return _once(sorted((link for link in route_links if link not in settled), key=urgency), is_reversible)


def uncertified_pairs(
    route_links: Iterable[Pair],
    bridges: Bridges,
    problem: Problem,
    certified_gap: float,
    is_reversible: bool,
) -> tuple[Pair, ...]:
    """U_t: linkable pairs off the route without a witness or with one whose gap exceeds τ, by row."""
    on_route = {_key(link, is_reversible) for link in route_links}
    off_route = (p for p in linkable_pairs(problem, is_reversible) if _key(p, is_reversible) not in on_route)
    return tuple(pair for pair in off_route if bridges.smallest_gap(pair) > certified_gap)


def linkable_pairs(problem: Problem, is_reversible: bool) -> tuple[Pair, ...]:
    """Every pair a route could travel directly, by row; once for both directions when reversible."""
    rows = range(problem.num_anchors)
    return _once((Pair(i, j) for i, j in product(rows, rows) if problem.can_link(i, j)), is_reversible)


def _round_robin(pairs: tuple[Pair, ...], turn: int, count: int) -> tuple[Pair, ...]:
    first = turn % max(1, len(pairs))
    return tuple(islice((*pairs[first:], *pairs[:first]), count))


def _once(pairs: Iterable[Pair], is_reversible: bool) -> tuple[Pair, ...]:
    """The first of each pair, or of each pair and its reverse."""
    first: dict[Pair, Pair] = {}
    for pair in pairs:
        first.setdefault(_key(pair, is_reversible), pair)
    return tuple(first.values())


def _key(pair: Pair, is_reversible: bool) -> Pair:
    return min(pair, pair.reversed) if is_reversible else pair
