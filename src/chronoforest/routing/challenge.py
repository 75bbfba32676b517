"""Which links may still change the answer, once a route is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.routing.bridges import Closure
from chronoforest.types import BoolArray, FloatArray, IntArray, JointRoute, Pair


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
