"""Squares in two halves that the roadmap does not connect: by a wall, or by a toll that only trees pay."""

from dataclasses import dataclass

import numpy as np
from fakes import SIDE, SPEED, EuclideanDistance, FakeModels, SquareDensity

from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem

WALL = ((9.0, -1.0), (11.0, SIDE + 1.0))
MIDDLE = 10.0
TOLL = 300.0
"""Steps that the learned distance says it takes to cross the middle: too far for any hop."""

ACROSS = Problem([[3.0, 10.0]], [[17.0, 10.0]])
NEAR = Problem([[3.0, 10.0]], [[3.0, 3.0]])
VISITS_BEYOND = Problem([[3.0, 10.0]], [[3.0, 3.0]], [[6.0, 6.0], [17.0, 10.0], [6.0, 15.0], [16.0, 4.0]])
"""Two of the waypoints lie beyond the middle."""


@dataclass(frozen=True)
class TollDistance(EuclideanDistance):
    """Steps at constant speed, and a toll between the two halves."""

    def between(self, source, target):
        crosses = (source[..., 0] < MIDDLE) != (target[..., 0] < MIDDLE)
        return np.linalg.norm(source - target, axis=-1) / SPEED + TOLL * crosses


def walled_planner(**params):
    """Nothing was recorded in the middle."""
    return Planner(FakeModels(density=SquareDensity(WALL)), PlannerParams(**params), "wall")


def tolled_planner(**params):
    """Everything was recorded, but no hop leads across the middle."""
    return Planner(FakeModels(distance=TollDistance()), PlannerParams(**params), "toll")
