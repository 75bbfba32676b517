"""Parameters of the models refuse what cannot be, by name and with the value received."""

import pytest
from tiny import TRAINING

from chronoforest.errors import InvalidParameter
from chronoforest.models.density import DensityParams
from chronoforest.models.params import (
    DenoiserParams,
    DistanceParams,
    GuidanceParams,
    SamplerParams,
    SubgoalParams,
    TrainParams,
    WindowParams,
)

BROKEN = {
    WindowParams: [{"stride": 0}, {"horizon": 0}],
    DenoiserParams: [{"width": 0}, {"width": 24}],
    SamplerParams: [{"num_steps": 0}, {"num_steps": 1001}, {"randomness": 1.5}, {"stabilisation": 1001}],
    GuidanceParams: [{"spread": "wide"}, {"inject": "x"}, {"rdf_radius": 0.0}, {"strength": -1.0}],
    DensityParams: [{"bandwidth": 0.0}, {"bandwidth": -1.0}],
    DistanceParams: [
        {"discount": 1.0},
        {"expectile": 0.4},
        {"expectile": 1.0},
        {"reach": 0.0},
        {"backup": 0},
    ],
    SubgoalParams: [{"radius": 0.0}, {"largest_subgoal": -1.0}],
    TrainParams: [{"num_steps": 0}, {"batch": 0}, {"learning_rate": 0.0}],
}


@pytest.mark.parametrize(("kind", "change"), [(kind, one) for kind, many in BROKEN.items() for one in many])
def test_what_is_out_of_range_is_refused_by_name(kind, change):
    ((name, value),) = change.items()
    sound = vars(TRAINING) if kind is TrainParams else {}
    with pytest.raises(InvalidParameter, match=f"{name} must .* got {value!r}"):
        kind(**{**sound, **change})
