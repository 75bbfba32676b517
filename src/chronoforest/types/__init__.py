"""Values and protocols that the folders share; shapes are in the docstrings."""

from chronoforest.types.evidence import (
    Calibration,
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
    Query,
    RouteSolver,
    Sampler,
    StopCriterion,
    Tracker,
)

__all__ = [
    "BoolArray",
    "Calibration",
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
    "Problem",
    "Query",
    "RoundStats",
    "RouteSolver",
    "Sampler",
    "ScalarOrArray",
    "Snapshot",
    "StopCriterion",
    "Support",
    "Tracker",
    "TreePicture",
    "Witness",
    "path_length",
]
