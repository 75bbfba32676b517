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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from chronoforest.cancellation import OutOfTime, limited
from chronoforest.errors import ChronoForestError, InvalidParameter
from chronoforest.planning.assembly import make_plan
from chronoforest.planning.ledger import Found, standing
from chronoforest.planning.result import PlanResult
from chronoforest.planning.sources import Source, Stopwatch, View
from chronoforest.roadmap.verify import Questions, Verdict
from chronoforest.typed import check_seconds, check_whole
from chronoforest.types import (
    PROPOSED,
    Pair,
    Problem,
    RoundObserver,
    RoundStats,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
)

Outcome = PlanResult | ChronoForestError
"""A plan, or the error that `plan` raises for such a problem."""


class Search:
    """One call of `plan`: its problem, its source of evidence, its ledger, its route and its rounds.

    watch: counts what it took so far, without others that are planned at the same time.
    """

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
        view = self.source.view(self.route, self.ledger)
        if self.source.is_plan_at_once:
            self._record((), view)
            return
        if self.on_snapshot is not None:
            self.on_snapshot(self._snapshot(self._stats(-1, (), view, ())))
        self.route, self.ledger = self.source.propose(self.ledger, self.route)

    def take(self, found: Found, pairs: tuple[Pair, ...]) -> None:
        """Take answers into the ledger, solve for the route again where they change what routes cost, and
        record the round, which paid for pairs."""
        served = self.source.view(self.route, self.ledger)
        self.ledger = self.ledger.updated(found)
        if found.changes_costs:
            route = None if found.reach is not None else self.route
            self.route, self.ledger = self.source.propose(self.ledger, route)
        if found.is_round:
            is_new = self.source.is_plan_at_once
            self._record(pairs, self.source.view(self.route, self.ledger) if is_new else served)

    def _record(self, pairs: tuple[Pair, ...], shown: View) -> None:
        """Note a round with the route that it shows, and what is met of it now."""
        met = self.source.view(shown.route, self.ledger).met
        self.rounds.append(self._stats(len(self.rounds), pairs, shown, met))
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
            seconds=self.watch.seconds,
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
            seconds=self.watch.seconds,
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
    began, last = time.perf_counter(), min((one for one, _ in asking), key=lambda one: one.watch.seconds)
    verdicts: Sequence[Sequence[Verdict] | None] = [None] * len(asking)
    is_over = False
    try:
        with within(last.stop, last.watch.seconds, len(asking)):
            verdicts = last.source.verdicts([questions for _, questions in asking])
    except OutOfTime:
        is_over = True
    share = (time.perf_counter() - began) / len(asking)
    for search, _ in asking:
        search.watch.add(share)
    return [search.step(one, is_over=is_over) for (search, _), one in zip(asking, verdicts, strict=True)]


@dataclass(frozen=True)
class BatchParams:
    """How many problems are planned at the same time: as many as fill the batches of the denoiser, as long as
    their roadmaps, each with anchors of its own in it, have fewer than `most_hops` hops."""

    most_plans: int = 32
    most_hops: int = 4_000_000


def in_turns(
    tasks: Iterable[Callable[[], Search]], params: BatchParams
) -> Iterator[tuple[int, Search | ChronoForestError]]:
    """The numbers and searches of many tasks as they are over, or the error with which one begins.

    A task begins when there is room for it; then the denoiser is asked for all that wait for it together. The
    time of a search is its own and its share of the batches.
    """
    numbered = enumerate(tasks)
    asking: list[tuple[int, Search, Questions]] = []
    while True:
        while _has_room([search for _, search, _ in asking], params) and (task := next(numbered, None)):
            number, begin = task
            try:
                search = begin()
                questions = search.step()
            except ChronoForestError as error:
                yield number, error
                continue
            if questions is None:
                yield number, search
            else:
                asking.append((number, search, questions))
        if not asking:
            return
        asked = ask([(search, questions) for _, search, questions in asking])
        answered = [(number, search, more) for (number, search, _), more in zip(asking, asked, strict=True)]
        asking = [(number, search, more) for number, search, more in answered if more is not None]
        yield from ((number, search) for number, search, more in answered if more is None)


def _has_room(searches: Sequence[Search], params: BatchParams) -> bool:
    num_hops = sum(search.source.size for search in searches)
    return len(searches) < params.most_plans and num_hops < params.most_hops


@dataclass(frozen=True)
class MaxRounds:
    """Stop after `count` rounds."""

    count: int

    def __post_init__(self) -> None:
        check_whole("count", self.count)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        return len(rounds) >= self.count


@dataclass(frozen=True)
class MaxExpansions:
    """Stop once `count` leaves were promoted, or none in `patience` rounds: then the count may never come."""

    count: int
    patience: int = 20

    def __post_init__(self) -> None:
        check_whole("count", self.count)
        check_whole("patience", self.patience, least=1)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        spent = [stats.num_expanded for stats in rounds]
        is_stuck = len(spent) > self.patience and spent[-1] == spent[-1 - self.patience]
        return bool(spent) and (spent[-1] >= self.count or is_stuck)


@dataclass(frozen=True)
class MaxSeconds:
    """Stop once so much time went by."""

    seconds: float

    def __post_init__(self) -> None:
        check_seconds("seconds", self.seconds)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether it is spent."""
        return bool(rounds) and self.is_over(rounds[-1].seconds)

    def is_over(self, seconds: float) -> bool:
        """Whether planning shall end within its round; asked before every denoising step."""
        return seconds >= self.seconds


def checked_stop(stop: StopCriterion | None, seconds: float | None = None) -> StopCriterion | None:
    """The criterion itself, or one of seconds; only one of both may be given."""
    if seconds is not None and stop is not None:
        raise InvalidParameter(f"seconds={seconds!r:.40} and stop={stop!r:.40} are two ends; give one")
    if seconds is not None:
        return MaxSeconds(seconds)
    if stop is None or callable(stop):
        return stop
    raise InvalidParameter(
        f"stop must be a criterion such as MaxRounds(10), got {stop!r:.40}; seconds=2.0 is a time"
    )


def within(stop: StopCriterion, seconds: float, num_sharing: int = 1) -> AbstractContextManager[None]:
    """Context whose work raises `OutOfTime` at its next step once the criterion's `is_over` is true for the
    seconds that a plan has taken. A criterion without `is_over` is not applied here.

    seconds: at the beginning of the work; num_sharing: plans that share the work and therefore its time.
    """
    is_over, began = getattr(stop, "is_over", None), time.perf_counter()
    if is_over is None:
        return nullcontext()
    return limited(lambda: is_over(seconds + (time.perf_counter() - began) / num_sharing))
