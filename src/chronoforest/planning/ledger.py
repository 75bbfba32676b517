"""What is known of every pair of anchors: what it costs, how wide its gap is, its way and what speaks for
it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chronoforest.planning.assembly import Bridge, concatenated
from chronoforest.planning.shortening import AssemblyParams
from chronoforest.roadmap.roads import Roads
from chronoforest.roadmap.straight import finely
from chronoforest.roadmap.verify import Piece, Verdict, judged
from chronoforest.routing.bridges import Bridges
from chronoforest.types import (
    PROPOSED,
    Density,
    Evidence,
    FloatArray,
    IntArray,
    Meeting,
    Pair,
    Problem,
    RouteSolver,
    TreePicture,
)

Ends = tuple[float, ...]
"""The coordinates of the two places that a gap lies between."""


@dataclass(frozen=True, eq=False)
class KnownWay:
    """The way of a pair.

    bridge: its path and the length before shortening; steps: along it; evidence: as of a `Leg`; expected:
    steps that the roadmap gave for it; pieces: of its path, that the denoiser is asked about; took: steps
    that recordings took along it, the median, what 5 % and 95 % of them stay below.
    """

    bridge: Bridge
    steps: float
    evidence: str
    expected: float = np.nan
    pieces: tuple[Piece, ...] = ()
    took: tuple[float, float, float] | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the denoiser realised all of it, or trees did, or there was nothing to ask."""
        return self.evidence not in PROPOSED

    @property
    def left(self) -> list[Piece]:
        """Pieces that no segment follows so far."""
        return [piece for piece in self.pieces if piece.segment is None]

    @property
    def segments(self) -> list[FloatArray]:
        """Generated segments that follow its pieces."""
        return [piece.segment for piece in self.pieces if piece.segment is not None]

    def back(self, expected: float) -> KnownWay:
        """The way back over one that was just proposed; it takes as long."""
        pieces = tuple(Piece(piece.path[::-1]) for piece in self.pieces[::-1])
        return replace(self, bridge=self.bridge.reversed, expected=expected, pieces=pieces)

    def judged(self, verdicts: Sequence[Verdict]) -> KnownWay:
        """The way after a verdict on every piece that was left."""
        way = replace(self, pieces=judged(self.pieces, verdicts))
        return way if way.left else replace(way, evidence="verified")

    def realised(self, longest: float, density: Density, params: AssemblyParams) -> Bridge:
        """The way as an agent gets it: a verified one is made of the generated segments, with points as near
        to each other as on any way, but for pieces whose segment is more than `longest` times as long as they
        or keeps less room."""
        if self.evidence != "verified" or not self.pieces:
            return self.bridge
        room = params.keep_margin
        path, _ = concatenated([piece.realised(longest, density, room) for piece in self.pieces])
        return replace(self.bridge, path=finely(path, params.spacing))


@dataclass(frozen=True, eq=False)
class Reach:
    """Who can visit what: the solver of routes through as much as ways lead to, and the rows of the waypoints
    that it leaves out."""

    solver: RouteSolver
    left_out: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Found:
    """What a source answers; what it says nothing of stays as it was.

    evidence: witnesses and meetings of trees; built: what trees took to the meetings that were made walkable;
    ways: of pairs, new or judged; first: those of them that were looked up; withdrawn: pairs whose way is no
    longer proposed; roads: where the roadmap says something else now; reach: where that changes who can visit
    what; tried: pairs that were asked about in vain; refuted: those of them whose way is; closed: pairs that
    are not asked about again; searched: a gap that trees did not cross; trees: those grown for a gap so far;
    num_expanded: leaves promoted and pieces asked about; num_spare: ways looked up for a route that need not
    be taken; is_round: whether it was one.
    """

    evidence: Evidence | None = None
    built: Mapping[Pair, float] = field(default_factory=dict)
    ways: Mapping[Pair, KnownWay] = field(default_factory=dict)
    first: Mapping[Pair, KnownWay] = field(default_factory=dict)
    withdrawn: Collection[Pair] = ()
    roads: Roads | None = None
    reach: Reach | None = None
    tried: Sequence[Pair] = ()
    refuted: Sequence[Pair] = ()
    closed: Collection[Pair] = ()
    searched: Collection[Ends] = ()
    trees: Mapping[Ends, tuple[TreePicture, ...]] = field(default_factory=dict)
    num_expanded: int = 0
    num_spare: int = 0
    is_round: bool = True

    @property
    def changes_costs(self) -> bool:
        """Whether another route may be the best now."""
        return self.evidence is not None or self.roads is not None


def standing(problem: Problem, pairs: Collection[Pair]) -> Found:
    """What is known of pairs of anchors at one place: their way is the two points and costs nothing."""
    ways = {
        pair: KnownWay(Bridge(problem.anchors[[pair.source, pair.target]], 0.0), 0.0, "standing", 0.0)
        for pair in pairs
    }
    meetings = tuple(
        Meeting(pair, 0.0, 0.0, source_frame=0, target_frame=0)
        for pair in pairs
        if problem.can_link(pair.source, pair.target)
    )
    return Found(evidence=Evidence(meetings=meetings), ways=ways, closed=pairs)


@dataclass(frozen=True, eq=False)
class Ledger:
    """What a plan knows, as a value: `updated` makes another one.

    It never gets worse. Costs and gaps that trees found are running minima, a verified way stays, and only
    what is merely proposed may be withdrawn or cost more, once it is refuted. (Where ways are lanes, the way
    of a leg depends on the leg before it, so that another order may need another way.)

    bridges: costs, gaps and meetings [A, A] (eq. 4), from the roadmap only costs; ways, first: of each pair
    that has one, and as it was first proposed; num_tries, num_refuted: [A, A] rounds spent on a pair in vain,
    and its refuted ways. Otherwise as in `Found`, taken together.
    """

    bridges: Bridges
    reach: Reach
    is_reversible: bool
    num_tries: IntArray
    num_refuted: IntArray
    roads: Roads | None = None
    ways: Mapping[Pair, KnownWay] = field(default_factory=dict)
    first: Mapping[Pair, KnownWay] = field(default_factory=dict)
    built: Mapping[Pair, float] = field(default_factory=dict)
    accepted: frozenset[Pair] = frozenset()
    closed: frozenset[Pair] = frozenset()
    searched: frozenset[Ends] = frozenset()
    trees: Mapping[Ends, tuple[TreePicture, ...]] = field(default_factory=dict)
    num_expanded: int = 0
    num_spare: int = 0

    @classmethod
    def of(cls, cost: FloatArray, solver: Reach, is_reversible: bool, roads: Roads | None = None) -> Ledger:
        """What is known before anything was asked; cost: [A, A] expected steps."""
        none = np.zeros(cost.shape, dtype=np.int64)
        return cls(Bridges.from_roots(cost), solver, is_reversible, none, none, roads)

    @property
    def cost(self) -> FloatArray:
        """[A, A] steps that routes are solved on, ∞ where no way can exist."""
        return self.bridges.cost

    @property
    def grown(self) -> tuple[TreePicture, ...]:
        """All trees that were grown for gaps."""
        return tuple(tree for trees in self.trees.values() for tree in trees)

    def updated(self, found: Found) -> Ledger:
        """The ledger with what a source found."""
        roads, num_spare = found.roads or self.roads, self.num_spare + found.num_spare
        ways = {pair: way for pair, way in self.ways.items() if pair not in found.withdrawn}
        ways.update(found.ways)
        bridges = self.bridges
        if found.evidence is not None:
            bridges = bridges.updated(found.evidence, self.is_reversible)
        if roads is not None:
            steps = {pair: way.steps for pair, way in ways.items()}
            bridges = Bridges.from_roots(roads.expected(steps, num_spare))
        num_tries, num_refuted = self.num_tries.copy(), self.num_refuted.copy()
        for pair in found.tried:
            num_tries[pair.source, pair.target] += 1
        for pair in found.refuted:
            num_tries[pair.source, pair.target] = 0
            num_refuted[pair.source, pair.target] += 1
        return replace(
            self,
            bridges=bridges,
            reach=found.reach or self.reach,
            num_tries=num_tries,
            num_refuted=num_refuted,
            roads=roads,
            ways=ways,
            first={**found.first, **self.first},
            built={**self.built, **found.built},
            closed=self.closed.union(found.closed),
            searched=self.searched.union(found.searched),
            trees={**self.trees, **found.trees},
            num_expanded=self.num_expanded + found.num_expanded,
            num_spare=num_spare,
        )
