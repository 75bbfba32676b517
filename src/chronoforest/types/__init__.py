"""Values and protocols that the folders share; shapes are in the docstrings."""

from chronoforest.types.evidence import (
    PROPOSED,
    Calibration,
    Certificate,
    Evidence,
    Gap,
    Leg,
    Meeting,
    Plan,
    RoundStats,
    ScalarOrArray,
    Snapshot,
    Support,
    TreePicture,
    Witness,
)
from chronoforest.types.problems import (
    BoolArray,
    FloatArray,
    IntArray,
    JointRoute,
    Pair,
    Problem,
    WorldParams,
    lengths_along,
    path_length,
)
from chronoforest.types.protocols import (
    Density,
    Distance,
    Noise,
    PlanningModels,
    Query,
    RoundObserver,
    RouteSolver,
    Sampler,
    SharedNoise,
    SnapshotObserver,
    StopCriterion,
    Tracker,
)
