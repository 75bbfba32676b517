"""The loop of every plan: solve for the route on the ledger, ask where it matters, take in the answers.

::

    route = source.propose(ledger, None)
    while (asks := source.allocate(route, ledger)) and not stop(rounds):
        found = source.answer(asks)              # the roadmap and the denoiser, the forest, or a peer
        ledger = ledger.updated(found)           # a value; the only thing that changes
        route = source.propose(ledger, route)    # solved for again where costs changed
        rounds.append(RoundStats(...))
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.cancellation import OutOfTime
from chronoforest.errors import ChronoForestError
from chronoforest.planning.assembly import Bridge, make_plan
from chronoforest.planning.criteria import within
from chronoforest.planning.ledger import Found, Ledger, standing
from chronoforest.planning.result import PlanResult
from chronoforest.roadmap.roads import OpenGap
from chronoforest.roadmap.verify import Questions, Verdict
from chronoforest.types import (
    PROPOSED,
    Certificate,
    FloatArray,
    Gap,
    JointRoute,
    Leg,
    Pair,
    Problem,
    RoundObserver,
    RoundStats,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
    Support,
    TreePicture,
)

Answers = Generator[Questions, Sequence[Verdict], Found]
"""What a source finds; on the way it may ask the denoiser, which is asked for many plans at once."""


class Stopwatch:
    """Seconds that the blocks under it took."""

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
    """Where evidence comes from: the roadmap and the denoiser, the forest, or a peer.

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


class Search:
    """One call of `plan`: its problem, its source of evidence, its ledger, its route and its rounds."""

    def __init__(
        self,
        source: Source,
        problem: Problem,
        seed: int,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        self.source, self.problem, self.seed, self.stop = source, problem, seed, stop
        self.on_round, self.on_snapshot = on_round, on_snapshot
        self.rounds: list[RoundStats] = []
        self.watch = Stopwatch()
        with self.watch:
            self.ledger = source.begin().updated(standing(problem, source.standing))
            self.route, self.ledger = source.propose(self.ledger, None)
        self._rounds = self._all_rounds()

    @property
    def seconds(self) -> float:
        """What it took so far, without others that are planned at the same time."""
        return self.watch.seconds

    def run(self) -> None:
        """All rounds, with the denoiser to itself."""
        questions = self.step()
        while questions is not None:
            (questions,) = ask([(self, questions)])

    def step(self, verdicts: Sequence[Verdict] | None = None, *, is_over: bool = False) -> Questions | None:
        """Go on with verdicts, or end where the time is over; the next questions to the denoiser, None when
        the plan is done."""
        with self.watch:
            try:
                if is_over:
                    return self._rounds.throw(OutOfTime())
                return next(self._rounds) if verdicts is None else self._rounds.send(verdicts)
            except StopIteration:
                return None

    def _all_rounds(self) -> Generator[Questions, Sequence[Verdict], None]:
        """The loop, until there is nothing left to ask or the criterion says so."""
        self._open()
        while True:
            asks = self.source.allocate(self.route, self.ledger, len(self.rounds))
            if asks is None or self.stop(self.rounds):
                break
            try:
                found = yield from self.source.answer(asks, self.ledger, self)
            except OutOfTime:
                break
            self.take(found, asks.pairs)
        self.route, self.ledger = self.source.finish(self.route, self.ledger)

    def _open(self) -> None:
        """Show the first route: as a round where it is a plan, as a guess before the first round
        otherwise."""
        if self.source.is_plan_at_once:
            self._record((), self.route, self.ledger)
            return
        if self.on_snapshot is not None:
            view = self.source.view(self.route, self.ledger)
            self.on_snapshot(self._snapshot(self._stats(-1, (), view, ())))
        self.route, self.ledger = self.source.propose(self.ledger, self.route)

    def take(self, found: Found, pairs: tuple[Pair, ...]) -> None:
        """Take answers into the ledger, solve for the route again where they change what routes cost, and
        record the round, which paid for pairs."""
        served = self.route, self.ledger
        self.ledger = self.ledger.updated(found)
        if found.changes_costs:
            route = None if found.reach is not None else self.route
            self.route, self.ledger = self.source.propose(self.ledger, route)
        if found.is_round:
            shown = (self.route, self.ledger) if self.source.is_plan_at_once else served
            self._record(pairs, *shown)

    def _record(self, pairs: tuple[Pair, ...], route: JointRoute, ledger: Ledger) -> None:
        """Note a round with the route that it shows, and what is met of it now."""
        view, met = self.source.view(route, ledger), self.source.view(route, self.ledger).met
        self.rounds.append(self._stats(len(self.rounds), pairs, view, met))
        if self.on_round is not None:
            self.on_round(self.rounds[-1], self.problem)
        if self.on_snapshot is not None:
            self.on_snapshot(self._snapshot(self.rounds[-1]))

    def _stats(
        self, index: int, pairs: tuple[Pair, ...], shown: View, accepted: tuple[Pair, ...]
    ) -> RoundStats:
        return RoundStats(
            round_index=index,
            route=shown.route,
            route_cost=shown.cost,
            pairs=pairs,
            accepted=accepted,
            num_expanded=self.ledger.num_expanded,
            num_nodes=self.source.view(shown.route, self.ledger).num_nodes,
            seconds=self.seconds,
            num_refuted=int(self.ledger.num_refuted.sum()),
            solver_seconds=self.source.solving.seconds,
        )

    def _snapshot(self, stats: RoundStats) -> Snapshot:
        view = self.source.view(stats.route, self.ledger)
        return Snapshot(
            problem=self.problem,
            stats=stats,
            trees=view.trees,
            bridge_cost=self.ledger.cost,
            meetings=view.meetings,
            paths={leg: view.path(leg) for leg in stats.accepted},
            proposed=frozenset(leg for leg in stats.accepted if view.leg(leg).evidence in PROPOSED),
        )

    def result(self, preset: str, variant: str) -> PlanResult:
        """The routes as far as their legs are met, each leg with what speaks for it."""
        view = self.source.view(self.route, self.ledger)
        legs = {leg: view.leg(leg) for leg in self.route.legs}
        return PlanResult(
            problem=self.problem,
            routes=tuple(
                make_plan(order, self.problem, legs.__getitem__, view.way) for order in self.route.orders
            ),
            unmet=tuple((leg.source, leg.target) for leg in legs.values() if not leg.is_met),
            rounds=tuple(self.rounds),
            num_expanded=self.ledger.num_expanded,
            seconds=self.seconds,
            seed=self.seed,
            variant=variant,
            preset=preset,
            certificate=view.certificate,
            trees=view.trees,
            meetings=view.meetings_in_use,
            support=self.source.support,
            left_out=tuple(self.problem.names[row] for row in self.ledger.reach.left_out),
            gaps=view.gaps,
        )


def ask(asking: Sequence[tuple[Search, Questions]]) -> list[Questions | None]:
    """Ask the denoiser the questions of several searches in one batch; what each asks next, None where it is
    over. Their time is over when it is for the one that has used least; each pays its share of the batch."""
    began, last = time.perf_counter(), min((search for search, _ in asking), key=lambda one: one.seconds)
    verdicts: Sequence[Sequence[Verdict] | None] = [None] * len(asking)
    is_over = False
    try:
        with within(last.stop, last.seconds, len(asking)):
            verdicts = last.source.verdicts([questions for _, questions in asking])
    except OutOfTime:
        is_over = True
    share = (time.perf_counter() - began) / len(asking)
    for search, _ in asking:
        search.watch.add(share)
    return [search.step(one, is_over=is_over) for (search, _), one in zip(asking, verdicts, strict=True)]


Outcome = PlanResult | ChronoForestError
"""A plan, or the error that `plan` raises for such a problem."""

Finished = tuple[int, Outcome]
"""The number of a problem and its outcome."""

ResultObserver = Callable[[int, Outcome], None]
"""Sees the outcome of every problem."""


@dataclass(frozen=True)
class BatchParams:
    """How many problems are planned at the same time: as many as fill the batches of the denoiser, as long as
    their roadmaps, each with anchors of its own in it, have fewer than `most_hops` hops."""

    most_plans: int = 32
    most_hops: int = 4_000_000


@dataclass(frozen=True, eq=False)
class Task:
    """A problem to plan; number: its place among all of them; begin: makes its search, or raises what refuses
    the problem."""

    number: int
    problem: Problem
    begin: Callable[[], Search]


def in_turns(
    tasks: Iterator[Task], finish: Callable[[Task, Search], PlanResult], params: BatchParams
) -> Iterator[Finished]:
    """The plans of many tasks as they are over, some of which take turns; finish: makes the plan of a search.

    A task begins when there is room for it; then the denoiser is asked for all that wait for it together. The
    time of a search is its own and its share of the batches.
    """
    asking: list[tuple[Task, Search, Questions]] = []
    while True:
        while _has_room(asking, params) and (task := next(tasks, None)) is not None:
            try:
                search = task.begin()
                questions = search.step()
                if questions is None:
                    yield task.number, finish(task, search)
                else:
                    asking.append((task, search, questions))
            except ChronoForestError as error:
                yield task.number, error
        if not asking:
            return
        asked = ask([(search, questions) for _, search, questions in asking])
        answered = [(task, search, more) for (task, search, _), more in zip(asking, asked, strict=True)]
        asking = [(task, search, more) for task, search, more in answered if more is not None]
        yield from ((task.number, finish(task, search)) for task, search, more in answered if more is None)


def _has_room(asking: Sequence[tuple[Task, Search, Questions]], params: BatchParams) -> bool:
    num_hops = sum(search.source.size for _, search, _ in asking)
    return len(asking) < params.most_plans and num_hops < params.most_hops
