"""Values and protocols that the folders share; shapes are in the docstrings."""

from chronoforest.types.evidence import (
    Calibration,
    Certificate,
    Evidence,
    Leg,
    Meeting,
    Plan,
    RoundStats,
    ScalarOrArray,
    Witness,
)
from chronoforest.types.pictures import Snapshot, Support, TreePicture
from chronoforest.types.problems import (
    BoolArray,
    FloatArray,
    IntArray,
    JointRoute,
    Pair,
    Problem,
    path_length,
)
from chronoforest.types.protocols import (
    Density,
    Distance,
    PlanningModels,
    Query,
    RoundObserver,
    RouteSolver,
    Sampler,
    SnapshotObserver,
    StopCriterion,
    Tracker,
)
from chronoforest.types.world import WorldParams

__all__ = [
    "BoolArray",
    "Calibration",
    "Certificate",
    "Density",
    "Distance",
    "Evidence",
    "FloatArray",
    "IntArray",
    "JointRoute",
    "Leg",
    "Meeting",
    "Pair",
    "Plan",
    "PlanningModels",
    "Problem",
    "Query",
    "RoundObserver",
    "RoundStats",
    "RouteSolver",
    "Sampler",
    "ScalarOrArray",
    "Snapshot",
    "SnapshotObserver",
    "StopCriterion",
    "Support",
    "Tracker",
    "TreePicture",
    "Witness",
    "WorldParams",
    "path_length",
]
