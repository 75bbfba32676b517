"""Where evidence comes from: the roadmap with the denoiser, the forest, or a peer, as the loop asks them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chronoforest.planning.assembly import Bridge
from chronoforest.planning.ledger import Found, Ledger
from chronoforest.roadmap.roads import OpenGap
from chronoforest.roadmap.verify import Questions, Verdict
from chronoforest.types import (
    Certificate,
    FloatArray,
    Gap,
    JointRoute,
    Leg,
    Pair,
    Problem,
    Support,
    TreePicture,
)

if TYPE_CHECKING:
    from chronoforest.planning.loop import Search

Answers = Generator[Questions, Sequence[Verdict], Found]
"""What a source finds; on the way it may ask the denoiser, which is asked for many plans at once."""


class Stopwatch:
    """seconds: that the blocks under it took, up to now."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._began: float | None = None

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._spent, self._began = self.seconds, None

    def add(self, seconds: float) -> None:
        """Count time that was spent elsewhere."""
        self._spent += seconds

    @property
    def seconds(self) -> float:
        """So far."""
        return self._spent + (0.0 if self._began is None else time.perf_counter() - self._began)


@dataclass(frozen=True, eq=False)
class Asks:
    """What a round pays for: pairs; those of them that count as tried by it, whatever is found; and the gap
    of the roadmap that trees are grown across, if that is what is asked."""

    pairs: tuple[Pair, ...]
    tried: tuple[Pair, ...] = ()
    gap: OpenGap | None = None


@dataclass(frozen=True, eq=False)
class View(ABC):
    """A route and a ledger as people see them. Each source says how it sees a leg and what it has grown; the
    rest is what holds for a source that knows a way for each pair, and compares no orders."""

    problem: Problem
    route: JointRoute
    ledger: Ledger

    @property
    def met(self) -> tuple[Pair, ...]:
        """Legs of the route that there is a way for."""
        return tuple(leg for leg in self.route.legs if leg in self.ledger.ways)

    @property
    def cost(self) -> float:
        """Steps of the route, infinite where a leg has no way."""
        return self.route.cost(self.ledger.cost)

    @property
    @abstractmethod
    def num_nodes(self) -> int:
        """Segments so far."""

    @property
    @abstractmethod
    def trees(self) -> tuple[TreePicture, ...]:
        """All segments, under the names of anchors."""

    @property
    def meetings(self) -> Mapping[Pair, FloatArray]:
        """[2] where the trees of a pair touch."""
        return {}

    @property
    def meetings_in_use(self) -> FloatArray:
        """[n, 2] those of them along the route."""
        return np.zeros((0, self.problem.anchors.shape[1]))

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What cuts off waypoints and unmet legs."""
        return ()

    @property
    def certificate(self) -> Certificate:
        """What is known of the order."""
        return Certificate(float("inf"), float("inf"), premises_hold=False)

    @abstractmethod
    def leg(self, leg: Pair) -> Leg:
        """A leg, met or not, with its certificate."""

    @abstractmethod
    def way(self, leg: Pair) -> Bridge:
        """Its way; the best attempt where it is not met."""

    def path(self, leg: Pair) -> FloatArray:
        """[t, d] of a leg that is met."""
        return self.way(leg).path


class Source(ABC):
    """Where evidence comes from.

    is_plan_at_once: the first route is a plan already, and so a round; rounds show the route after the
    answers then, otherwise the one that was paid for. size: hops that it holds in memory; solving: times the
    solver. standing: pairs of anchors at one place, nearer than this part of a step, which no source is asked
    about.
    """

    is_plan_at_once = False
    size = 0
    least_steps = 1e-3

    def __init__(self, problem: Problem, support: Support, seed: int, step_length: float) -> None:
        self.problem, self.support, self.seed = problem, support, seed
        self.standing = frozenset(problem.pairs_within(self.least_steps * step_length))
        self.rng, self.solving = np.random.default_rng(seed), Stopwatch()

    @abstractmethod
    def begin(self) -> Ledger:
        """What is known before anything is asked."""

    @abstractmethod
    def propose(self, ledger: Ledger, route: JointRoute | None) -> tuple[JointRoute, Ledger]:
        """The best route by what is known, from the one so far, with what was looked up for it."""

    @abstractmethod
    def allocate(self, route: JointRoute, ledger: Ledger, round_index: int) -> Asks | None:
        """What to pay for next; None when there is nothing left to ask."""

    @abstractmethod
    def answer(self, asks: Asks, ledger: Ledger, plan: Search) -> Answers:
        """What is found, within the time of the plan."""

    @abstractmethod
    def view(self, route: JointRoute, ledger: Ledger) -> View:
        """Both as people see them."""

    def verdicts(self, askers: Sequence[Questions]) -> list[list[Verdict]]:
        """What the denoiser says to the questions of several plans, if this source asks any."""
        return [[] for _ in askers]

    def finish(self, route: JointRoute, ledger: Ledger) -> tuple[JointRoute, Ledger]:
        """The route that is handed out."""
        return route, ledger
