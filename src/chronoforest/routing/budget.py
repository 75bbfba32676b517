"""Which pairs are searched next: the route's open links first, a little of everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.routing.bridges import Bridges, Closure
from chronoforest.types import BoolArray, FloatArray, IntArray, JointRoute, Pair, Problem


@dataclass(frozen=True)
class BudgetParams:
    """How the pairs of a round are chosen.

    num_pairs: B_pair, pairs searched in a round, each from both ends; num_coverage: Q_cov, those of them kept
    for pairs off the route; certified_gap: τ in steps, below which an off-route pair is left alone.
    """

    num_pairs: int = 4
    num_coverage: int = 1
    certified_gap: float = 30.0

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_pairs")
        if not 0 <= self.num_coverage < self.num_pairs:
            raise InvalidParameter(
                f"num_coverage must be between 0 and num_pairs - 1 = {self.num_pairs - 1}, "
                f"so that the route is always served, got {self.num_coverage}"
            )
        require_at_least(self, 0, "certified_gap")


@dataclass(frozen=True)
class RoundState:
    """What the pairs of a round are chosen by; route_links: the links of the tentative route's chains;
    accepted_links: those already served."""

    problem: Problem
    bridges: Bridges
    is_reversible: bool
    route_links: tuple[Pair, ...] = ()
    accepted_links: tuple[Pair, ...] = ()
    round_index: int = 0


def allocate(state: RoundState, params: BudgetParams) -> tuple[Pair, ...]:
    """E_on then E_cov, at most `num_pairs` together; what one leaves the other uses.

    In a reversible world (i, j) and (j, i) are one pair, named in the direction the route travels it.
    """
    active, uncertified = active_links(state), uncertified_pairs(state, params.certified_gap)
    on_route = active[: params.num_pairs - min(params.num_coverage, len(uncertified))]
    first = state.round_index * max(1, params.num_coverage) % max(1, len(uncertified))
    in_turn = (*uncertified[first:], *uncertified[:first])
    return (*on_route, *in_turn[: params.num_pairs - len(on_route)])


def every_unmet(state: RoundState) -> tuple[Pair, ...]:
    """The route's open links, then all other linkable pairs without a meeting (variant `exhaustive`)."""
    pairs = (*state.route_links, *linkable_pairs(state.problem, state.is_reversible))
    return _once((pair for pair in pairs if pair not in state.bridges.meetings), state.is_reversible)


def active_links(state: RoundState) -> tuple[Pair, ...]:
    """O_t: links of the route neither met nor accepted, widest gap first; ties by cost, then by row."""

    def urgency(link: Pair) -> tuple[float, float, Pair]:
        row = link.source, link.target
        return -float(state.bridges.gap[row]), float(state.bridges.cost[row]), link

    settled = {*state.bridges.meetings, *state.accepted_links}
    links = (link for link in state.route_links if link not in settled)
    return _once(sorted(links, key=urgency), state.is_reversible)


def uncertified_pairs(state: RoundState, certified_gap: float) -> tuple[Pair, ...]:
    """U_t: linkable pairs neither on the route nor accepted, without a witness or with one whose gap exceeds
    τ, by row."""
    served = {_key(link, state.is_reversible) for link in (*state.route_links, *state.accepted_links)}
    return tuple(
        pair
        for pair in linkable_pairs(state.problem, state.is_reversible)
        if _key(pair, state.is_reversible) not in served and state.bridges.smallest_gap(pair) > certified_gap
    )


def linkable_pairs(problem: Problem, is_reversible: bool) -> tuple[Pair, ...]:
    """Every pair a route could travel directly, by row; once for both directions when reversible."""
    rows = range(problem.num_anchors)
    return _once((Pair(i, j) for i, j in product(rows, rows) if problem.can_link(i, j)), is_reversible)


def _once(pairs: Iterable[Pair], is_reversible: bool) -> tuple[Pair, ...]:
    """The first of each pair, or of each pair and its reverse."""
    first: dict[Pair, Pair] = {}
    for pair in pairs:
        first.setdefault(_key(pair, is_reversible), pair)
    return tuple(first.values())


def _key(pair: Pair, is_reversible: bool) -> Pair:
    return min(pair, pair.reversed) if is_reversible else pair


@dataclass(frozen=True)
class ChallengeParams:
    """When a complete route is doubted; all costs are compared with the guess before any search.

    doubt: a link whose bridge takes more than this many times the guess, stretched by what ways usually come
    out at, is searched on: it looks like a detour; chain_doubt: a leg that runs through other anchors is also
    searched directly when its chain takes more than this many times the guess; max_doubts: rounds in which a
    link is searched on for these reasons; optimism: other orders are weighed as if their unmet links cost
    this share of the guess; max_challenges: rounds in which one link is tried for the sake of such an order.
    """

    doubt: float = 1.08
    chain_doubt: float = 1.02
    max_doubts: int = 3
    optimism: float = 0.85
    max_challenges: int = 3

    def __post_init__(self) -> None:
        require_at_least(self, 0, "max_doubts", "max_challenges")
        require_at_least(self, 1, "doubt", "chain_doubt")
        if not 0.0 < self.optimism <= 1.0:
            raise InvalidParameter(f"optimism must lie in (0, 1], got {self.optimism}")


def challengers(
    route: JointRoute,
    met: FloatArray,
    guess: FloatArray,
    num_tries: IntArray,
    chained: Callable[[FloatArray], Closure],
    solve: Callable[[FloatArray], JointRoute],
    params: ChallengeParams,
) -> tuple[Pair, ...]:
    """The links to search next although the route is complete; none when it stands.

    First those of the route itself: a met link whose bridge looks like a detour, and a direct link in the
    place of a chain that looks longer. Then the open links of the order that would be best, its own or
    another, if open links cost what one may hope. A link is open while it is not met, or met by what looks
    like a detour, and has not been tried too often.

    met, guess: [A, A] steps of the bridges found, infinite where there is none, and as expected before any
    search; num_tries: [A, A] how often a link was returned here before; chained: direct costs to chains;
    solve: chained costs to the best route.
    """
    is_met = np.isfinite(met)
    is_detour = is_met & (met > params.doubt * guess)
    is_roundabout = ~is_met & (chained(met).cost > params.chain_doubt * guess)
    is_doubtful = (is_detour | is_roundabout) & (num_tries < params.max_doubts)
    plain = chained(np.where(is_doubtful, guess, met))
    doubtful = _among(plain.links_of(route.legs), is_doubtful)
    if doubtful:
        return doubtful
    is_open = (~is_met | is_detour) & (num_tries < params.max_challenges)
    hope = np.where(is_met, 1.0, params.optimism) * guess
    hoped = chained(np.where(is_open, hope, met))
    return _among(hoped.links_of(solve(hoped.cost).legs), is_open)


def _among(links: Iterable[Pair], is_open: BoolArray) -> tuple[Pair, ...]:
    return tuple(link for link in links if is_open[link.source, link.target])
