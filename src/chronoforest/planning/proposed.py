"""Ways as the roadmap proposes them, what the denoiser said of them so far, and routes over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.planning.assembly import Bridge, make_plan
from chronoforest.roadmap.verify import Verdict
from chronoforest.routing.certificates import width
from chronoforest.routing.solver import best_two_costs
from chronoforest.types import (
    Calibration,
    Certificate,
    FloatArray,
    JointRoute,
    Leg,
    LegEvidence,
    Pair,
    Plan,
    Problem,
    TreePicture,
)


@dataclass(frozen=True, eq=False)
class ProposedWay:
    """A leg's way: bridge: shortened; steps: expected along it; pieces: what is left to verify of it; told:
    steps that the roadmap gave for it; segments: what was realised; doubtful: the part of each piece that is
    left to which nobody keeps, where the denoiser told."""

    bridge: Bridge
    steps: float
    pieces: tuple[FloatArray, ...]
    told: float
    segments: tuple[FloatArray, ...] = ()
    doubtful: tuple[FloatArray, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether somebody moves like that all along."""
        return not self.pieces

    @property
    def doubts(self) -> tuple[FloatArray, ...]:
        """What speaks against the way: the doubtful parts of its pieces, or these as a whole."""
        return self.doubtful or self.pieces

    def back(self, told: float) -> ProposedWay:
        """The way back over a new one, which takes as long; told: steps that the roadmap gave for it."""
        pieces = tuple(piece[::-1] for piece in self.pieces)
        return ProposedWay(self.bridge.reversed, self.steps, pieces, told)

    def judged(self, verdicts: Sequence[Verdict]) -> ProposedWay:
        """The way after a verdict on every piece that was left."""
        left = [
            (piece, verdict)
            for piece, verdict in zip(self.pieces, verdicts, strict=True)
            if not verdict.is_verified
        ]
        segments = [verdict.segment for verdict in verdicts if verdict.segment is not None]
        return replace(
            self,
            pieces=tuple(piece for piece, _ in left),
            segments=(*self.segments, *segments),
            doubtful=tuple(
                piece if verdict.doubtful is None else verdict.doubtful for piece, verdict in left
            ),
        )


@dataclass(frozen=True, eq=False)
class ProposedRoute:
    """A route over the ways that were found; verifies: whether somebody asks the denoiser about them."""

    problem: Problem
    route: JointRoute
    found: Mapping[Pair, ProposedWay]
    calibration: Calibration
    verifies: bool

    @property
    def met(self) -> tuple[Pair, ...]:
        """Its legs that there is a way for."""
        return tuple(leg for leg in self.route.legs if leg in self.found)

    @property
    def unmet(self) -> tuple[tuple[str, str], ...]:
        """The names of the ends of the others."""
        return tuple(leg.named(self.problem) for leg in self.route.legs if leg not in self.found)

    @property
    def proposed(self) -> frozenset[Pair]:
        """Legs whose way nobody has verified."""
        return frozenset(leg for leg in self.met if self.leg(leg).evidence == "proposed")

    @property
    def paths(self) -> dict[Pair, FloatArray]:
        """[t, d] for each leg that is met."""
        return {leg: self.found[leg].bridge.path for leg in self.met}

    def cost(self, matrix: FloatArray) -> float:
        """Sum of an [A, A] cost matrix over the legs that are met."""
        return float(sum(matrix[leg.source, leg.target] for leg in self.met))

    def certificate(self, cost: FloatArray) -> Certificate:
        """Lengths [A, A] over a roadmap bound nothing, but tell how close the second-best order is."""
        best, second = best_two_costs(cost, self.problem)
        return Certificate(float("inf"), second - best, premises_hold=False, is_exact=False)

    def plans(self) -> tuple[Plan, ...]:
        """Every agent's part; where there is no way, nobody sets out."""
        return tuple(make_plan(order, self.problem, self.leg, self._bridge) for order in self.route.orders)

    def leg(self, leg: Pair) -> Leg:
        """A leg with what speaks for it."""
        names = leg.named(self.problem)
        if leg not in self.found:
            return Leg(*names, False, np.inf, np.inf, np.inf, names, "proposed")
        way = self.found[leg]
        evidence: LegEvidence = "verified" if self.verifies and way.is_verified else "proposed"
        return Leg(*names, True, way.steps, 0.0, width(0.0, self.calibration), names, evidence)

    def pictures(self) -> tuple[TreePicture, ...]:
        """The realised segments of every leg, each with as many points as the longest."""
        realised = ((leg, self.found[leg].segments) for leg in self.met)
        return tuple(
            TreePicture(self.problem.names[leg.source], padded(segments))
            for leg, segments in realised
            if segments
        )

    def _bridge(self, leg: Pair) -> Bridge:
        if leg in self.found:
            return self.found[leg].bridge
        return Bridge(self.problem.anchors[[leg.source]], 0.0)


def padded(segments: Sequence[FloatArray]) -> FloatArray:
    """[n, t, d] segments of different lengths; the shorter ones stay at their end."""
    longest = max(len(segment) for segment in segments)
    return np.stack([np.pad(s, ((0, longest - len(s)), (0, 0)), mode="edge") for s in segments])
