"""Evidence of the roadmap: it proposes ways, the denoiser verifies them, and trees cross its gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.cancellation import OutOfTime
from chronoforest.planning.assembly import Bridge
from chronoforest.planning.ledger import Found, KnownWay, Ledger, Reach
from chronoforest.planning.loop import Search
from chronoforest.planning.sources import Answers, Asks, Source, View
from chronoforest.planning.sources.forest import ForestSource
from chronoforest.planning.variants import Prepared
from chronoforest.roadmap.roads import OpenGap, Roads
from chronoforest.roadmap.verify import Piece, Questions, Verdict, cut
from chronoforest.routing.reachable import solver_within_reach
from chronoforest.routing.solver import Order, best_two_costs, order_from_names
from chronoforest.search.tree import ForestMemory
from chronoforest.types import (
    Certificate,
    FloatArray,
    Gap,
    JointRoute,
    Leg,
    Pair,
    Problem,
    RoundStats,
    Snapshot,
    StopCriterion,
    TreePicture,
    path_length,
)


@dataclass(frozen=True)
class ProposalParams:
    """How far the roadmap's proposals are followed.

    most_tentative: routes that are solved for before one of them is taken: each costs a solution;
    most_refuted: a leg whose ways were refuted so often stays as it was first proposed: where the denoiser
    realises nothing, its verdicts speak against itself, and a detour is no better than the way; most_rounds:
    of trees across one gap, which they cross in a few or in vain; most_searched: gaps that trees are grown
    across, the shortest first; most_listed: gaps that are looked for: a problem with more of them has one
    cause; longest: a generated segment is handed out in the place of a piece of the way that it follows where
    it is at most so many times as long and keeps its room.
    """

    longest: float = 1.02
    most_tentative: int = 8
    most_refuted: int = 3
    most_rounds: int = 10
    most_searched: int = 4
    most_listed: int = 32


@dataclass(frozen=True)
class PartOf:
    """A `StopCriterion` for trees that are part of a plan: `most_rounds` of theirs, and that of the plan,
    which has had `rounds` and took `seconds` before the trees."""

    stop: StopCriterion
    most_rounds: int
    rounds: Sequence[RoundStats]
    seconds: float

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether the trees or the plan had enough."""
        return len(rounds) >= self.most_rounds or self.stop(self.rounds)

    def is_over(self, seconds: float) -> bool:
        """Whether the plan shall end within a round."""
        is_over = getattr(self.stop, "is_over", None)
        return is_over is not None and bool(is_over(self.seconds + seconds))


class RoadmapSource(Source):
    """The best route of a problem over the roadmap, for those who can get somewhere through what can be
    visited; what the roadmap does not connect is left out until trees join it."""

    is_plan_at_once = True
    params = ProposalParams()

    def __init__(
        self,
        prepared: Prepared,
        problem: Problem,
        order: Order | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> None:
        super().__init__(problem, prepared.support, seed, prepared.given.step_length)
        self.prepared, self.variant, self.memory = prepared, prepared.variant, memory
        self.order = None if order is None else order_from_names(order, problem)

    def begin(self) -> Ledger:
        """The roadmap's costs."""
        turn_round = self.prepared.params.world.turn_round
        roads = Roads.of(self.prepared.roadmap, self.problem.anchors, turn_round)
        self.size = roads.num_hops
        return Ledger.of(roads.cost, self._reach(roads), self.prepared.params.is_reversible, roads)

    def _reach(self, roads: Roads) -> Reach:
        cost = roads.cost.copy()
        for pair in self.standing:
            cost[pair.source, pair.target] = 0.0
        with self.solving:
            return Reach(*solver_within_reach(cost, self.problem, self.order, self.variant.fixes_order))

    def propose(self, ledger: Ledger, route: JointRoute | None) -> tuple[JointRoute, Ledger]:
        """The best route when the ways that it uses cost what they come out at, the others what one may hope.

        A way is looked up and shortened only when a route wants it. route: the one so far, which wins ties.
        """
        tentative: list[tuple[float, JointRoute]] = []
        is_hopeful = _roads(ledger).is_hopeful(ledger.num_spare)
        while len(tentative) < (self.params.most_tentative if is_hopeful else 1):
            with self.solving:
                route = ledger.reach.solver(ledger.cost, self.problem, route)
            found = self._looked_up(route, ledger, is_spare=bool(tentative))
            ledger = ledger.updated(found)
            if not found.ways:
                return route, ledger
            known = (leg for leg in route.legs if leg in ledger.ways)
            tentative.append((sum(ledger.ways[leg].steps for leg in known), route))
            is_hopeful = _roads(ledger).is_hopeful(ledger.num_spare)
        best = min(tentative, key=lambda one: one[0])[1]
        return best, ledger.updated(self._looked_up(best, ledger, is_spare=False))

    def _looked_up(self, route: JointRoute, ledger: Ledger, *, is_spare: bool) -> Found:
        """Ways for the legs of a route that have none, or another one than in a route before, since they go
        on from other legs; shortened together. is_spare: the route need not be taken."""
        roads, moved = _roads(ledger).settled(route)
        withdrawn = {leg for leg in moved if leg not in ledger.closed}
        wanted = [leg for leg in route.legs if leg not in ledger.ways or leg in withdrawn]
        found = {leg: way for leg in wanted if (way := roads.way(leg)) is not None}
        paths = self.prepared.shortened([way.path for way in found.values()])
        first: dict[Pair, KnownWay] = {}
        ways: dict[Pair, KnownWay] = {}
        for (leg, way), path in zip(found.items(), paths, strict=True):
            parts = cut(path, self.prepared.checker.piece_length) if self.variant.verifies else []
            pieces = tuple(map(Piece, parts))
            bridge = Bridge(path, path_length(way.path))
            steps = roads.steps(way) * bridge.length / bridge.raw_length
            evidence = "recorded" if way.is_recorded else "inferred"
            known = KnownWay(bridge, steps, evidence, roads.leg_cost(leg), pieces, way.took)
            first[leg] = ways[leg] = known
            if self.prepared.params.is_reversible:
                ways[leg.reversed] = known.back(roads.leg_cost(leg.reversed))
        num_spare = len(first) if is_spare else 0
        return Found(ways=ways, first=first, withdrawn=withdrawn, roads=roads, num_spare=num_spare)

    def allocate(self, route: JointRoute, ledger: Ledger, round_index: int) -> Asks | None:
        """All legs that are neither verified nor closed; gaps once there are none."""
        legs = (leg for leg in route.legs if leg in ledger.ways and leg not in ledger.closed)
        pairs = tuple(leg for leg in legs if not ledger.ways[leg].is_verified)
        if pairs and self.variant.verifies:
            return Asks(pairs)
        if not self.prepared.given.has_networks or len(ledger.searched) >= self.params.most_searched:
            return None
        for gap in self.open_gaps(route, ledger):
            is_open = gap.width > 0 and gap.key not in ledger.searched
            if is_open and self.prepared.parts.joins(gap.places):
                return Asks((), gap=gap)
        return None

    def answer(self, asks: Asks, ledger: Ledger, plan: Search) -> Answers:
        """Verdicts of the denoiser on all pieces that are left of the legs, or trees across a gap."""
        if asks.gap is not None:
            return self._crossed(asks.gap, plan)
        counts = self.prepared.checker.tries(self.variant.piece_samples)
        tries = min(int(ledger.num_tries[leg.source, leg.target]) for leg in asks.pairs)
        pieces = [piece for leg in asks.pairs for piece in ledger.ways[leg].left]
        verdicts = yield Questions(pieces, counts[tries], self.rng)
        return self._judged(asks.pairs, verdicts, len(counts), plan.route, ledger)

    def verdicts(self, askers: Sequence[Questions]) -> list[list[Verdict]]:
        """What the denoiser says to the questions of several plans."""
        return self.prepared.checker.together(askers)

    def _judged(
        self,
        legs: Sequence[Pair],
        verdicts: Sequence[Verdict],
        num_tries: int,
        route: JointRoute,
        ledger: Ledger,
    ) -> Found:
        """What is made of the answers: a leg that failed in all tries is refuted, or at once where another
        try would find the same, and closed where the denoiser is too weak to be believed."""
        left = iter(verdicts)
        judged = {leg: [next(left) for _ in ledger.ways[leg].left] for leg in legs}
        ways = {leg: ledger.ways[leg].judged(some) for leg, some in judged.items()}
        tried = [leg for leg in legs if not ways[leg].is_verified]
        refuted = [
            leg
            for leg in tried
            if ledger.num_tries[leg.source, leg.target] + 1 == num_tries
            or any(one.refuted_by in ("support", "heading") for one in judged[leg])
        ]
        found = Found(ways=ways, tried=tried, num_expanded=len(verdicts))
        if not refuted or not self.variant.refutes:
            return replace(found, closed=refuted)
        return self._doubted(refuted, found, route, ledger)

    def _doubted(self, legs: Sequence[Pair], found: Found, route: JointRoute, ledger: Ledger) -> Found:
        """Hops along the refuted pieces of these legs cost more for all legs. Ways that are not verified are
        looked up again, but not those of the route that cost the same, nor those of legs
        that are closed since their ways were refuted too often."""
        ways = {**ledger.ways, **found.ways}
        doubts = [piece.doubtful for leg in legs for piece in ways[leg].left]
        roads = _roads(ledger).doubted(doubts, 2.0 * self.prepared.params.assembly.keep_margin)
        met = (leg for leg in route.legs if leg in ways)
        same = {leg for leg in met if ways[leg].expected == roads.leg_cost(leg)}
        kept = {leg: way for leg, way in ways.items() if way.is_verified or leg in same}
        kept = {leg: way for leg, way in kept.items() if leg not in legs}
        often = [
            leg for leg in legs if ledger.num_refuted[leg.source, leg.target] + 1 == self.params.most_refuted
        ]
        closed = ledger.closed.union(often)
        kept |= {leg: way for leg, way in ledger.first.items() if leg in closed}
        return replace(
            found, ways=kept, withdrawn=ledger.ways.keys() - kept, roads=roads, refuted=legs, closed=often
        )

    def _crossed(self, gap: OpenGap, plan: Search) -> Found:
        """Trees that grow from both sides of a gap, each of their rounds one of the plan; where they meet,
        the roads have another way, and all is solved anew."""
        names = dict(zip(("S1", "G1"), gap.leg.named(self.problem), strict=True))
        num_before = plan.ledger.num_expanded

        def watch(snapshot: Snapshot) -> None:
            trees = tuple(TreePicture(names[tree.anchor], tree.segments) for tree in snapshot.trees)
            num_new = num_before + snapshot.stats.num_expanded - plan.ledger.num_expanded
            is_round = snapshot.stats.round_index >= 0
            plan.take(Found(trees={gap.key: trees}, num_expanded=num_new, is_round=is_round), (gap.leg,))

        across = Problem(gap.places[:1], gap.places[1:])
        source = ForestSource(self.prepared, across, None, self.memory, self.seed)
        part = PartOf(plan.stop, self.params.most_rounds, plan.rounds, plan.watch.seconds)
        search = Search(source, across, self.seed, part, on_snapshot=watch)
        search.run()
        result = search.result("", "")
        if result.complete:
            path = result.routes[0].path
            (steps,) = self.prepared.clock([path])
            is_reversible = self.prepared.params.is_reversible
            roads = _roads(plan.ledger).with_way(gap.ends, path, steps, is_reversible)
            return Found(roads=roads, reach=self._reach(roads), searched=[gap.key])
        if result.num_rounds < self.params.most_rounds:
            raise OutOfTime
        return Found(searched=[gap.key], is_round=False)

    def open_gaps(self, route: JointRoute, ledger: Ledger) -> list[OpenGap]:
        """Where unmet legs and waypoints that are left out are cut off, the shortest first."""
        roads = _roads(ledger)
        wanted: list[tuple[Pair, tuple[int, ...]]] = [
            (leg, ()) for leg in route.legs if leg not in ledger.ways
        ]
        for group in _connected(roads.cost, ledger.reach.left_out):
            leg = self._missing_leg(roads, group[0])
            wanted += [] if leg is None else [(leg, group)]
        listed = wanted[: self.params.most_listed]
        gaps = [roads.gap(leg, group, self.prepared.learned) for leg, group in listed]
        return sorted(gaps, key=lambda gap: gap.width)

    def _missing_leg(self, roads: Roads, waypoint: int) -> Pair | None:
        """The leg to a waypoint or away from it that no way joins, for the agent that comes nearest; None
        where an agent could visit it if there were no others to visit."""
        legs = []
        for agent in range(self.problem.num_agents):
            start, goal = self.problem.start_index(agent), self.problem.goal_index(agent)
            both = Pair(start, waypoint), Pair(waypoint, goal)
            missing = [leg for leg in both if not np.isfinite(roads.leg_cost(leg))]
            apart = float(np.linalg.norm(self.problem.anchors[start] - self.problem.anchors[waypoint]))
            legs.append((len(missing), apart, missing[:1]))
        _, _, first = min(legs)
        return first[0] if first else None

    def view(self, route: JointRoute, ledger: Ledger) -> _RoadmapView:
        """Both as people see them."""
        return _RoadmapView(self.problem, route, ledger, self)


@dataclass(frozen=True, eq=False)
class _RoadmapView(View):
    """A route over ways that the roadmap proposed."""

    source: RoadmapSource

    @property
    def num_nodes(self) -> int:
        num_realised = sum(len(way.segments) for way in self.ledger.ways.values())
        return num_realised + sum(len(tree.segments) for tree in self.ledger.grown)

    @property
    def trees(self) -> tuple[TreePicture, ...]:
        """What was realised along the route, each segment with as many points as the longest of its leg; and
        what grew across gaps."""
        pictures = []
        for leg in self.met:
            if some := self.ledger.ways[leg].segments:
                longest = max(map(len, some))
                even = [np.pad(one, ((0, longest - len(one)), (0, 0)), mode="edge") for one in some]
                pictures.append(TreePicture(self.problem.names[leg.source], np.stack(even)))
        return (*pictures, *self.ledger.grown)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        names = self.problem.names
        return tuple(
            Gap(
                source=names[gap.leg.source],
                target=names[gap.leg.target],
                reached=gap.places[0],
                wanted=gap.places[1],
                extents=gap.at.extents,
                left_out=tuple(names[row] for row in gap.left_out),
                is_recorded=self.source.prepared.parts.joins(gap.places),
                is_searched=gap.key in self.ledger.searched,
            )
            for gap in self.source.open_gaps(self.route, self.ledger)
        )

    @property
    def certificate(self) -> Certificate:
        """Lengths over a roadmap bound nothing, but say how close the second-best order is."""
        best, second = best_two_costs(self.ledger.cost, self.problem)
        return Certificate(float("inf"), second - best, premises_hold=False)

    def leg(self, leg: Pair) -> Leg:
        """A leg, met or not; it leaves no gap where it is met."""
        names = leg.named(self.problem)
        if leg not in self.ledger.ways:
            return Leg(*names, False, np.inf, np.inf, None, names, "none")
        way = self.ledger.ways[leg]
        known = Leg(*names, True, way.steps, 0.0, None, names, way.evidence, way.took)
        return replace(known, proposed=way.bridge.path) if way.is_verified and way.pieces else known

    def way(self, leg: Pair) -> Bridge:
        """Its way; where there is none, its source."""
        if leg in self.ledger.ways:
            prepared, longest = self.source.prepared, self.source.params.longest
            return self.ledger.ways[leg].realised(longest, prepared.given.density, prepared.params.assembly)
        return Bridge(self.problem.anchors[[leg.source]], 0.0)


def _roads(ledger: Ledger) -> Roads:
    """What the ledger of a plan over the roadmap always has."""
    if ledger.roads is None:
        raise ValueError("the ledger has no roads")
    return ledger.roads


def _connected(cost: FloatArray, waypoints: Sequence[int]) -> list[tuple[int, ...]]:
    """Waypoints in groups within which ways lead to and fro: what cuts off one cuts off all."""
    groups: list[tuple[int, ...]] = []
    left = list(waypoints)
    while left:
        group = tuple(row for row in left if np.isfinite(cost[left[0], row] + cost[row, left[0]]))
        groups.append(group)
        left = [row for row in left if row not in group]
    return groups
