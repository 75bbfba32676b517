import pytest

from benchmarks.experiments import sweeps
from benchmarks.overrides import overridden, parse, with_value
from benchmarks.suite import Request
from chronoforest.errors import InvalidParameter
from chronoforest.planning.variants import PlannerParams
from chronoforest.presets.loading import load_planner
from chronoforest.presets.named import get_preset


def test_a_changed_planner_leaves_the_other_as_it_was():
    planner = load_planner("pointmaze-medium-stitch-v0")
    params, alpha = planner.params, planner.models.calibration.alpha
    assert overridden(planner, "sampler.num_steps=10").models.sampler.params.num_steps == 10
    assert overridden(planner, "calibration.alpha=0.005").models.calibration.alpha == 0.005
    assert overridden(planner, "search.uncertainty_weight=3").params.search.uncertainty_weight == 3.0
    assert overridden(planner, "") is planner
    assert (planner.params, planner.models.calibration.alpha) == (params, alpha)


def test_an_unknown_name_tells_the_known_ones():
    with pytest.raises(InvalidParameter, match="SearchParams has no parameter 'nothing'; available: num"):
        with_value(PlannerParams(), "search.nothing", 1.0)
    with pytest.raises(InvalidParameter, match="num_expand must be"):
        with_value(PlannerParams(), "search.num_expand", 0.0)


CASES = sweeps.cases(Request(episodes=1))


def test_every_change_can_be_made():
    preset = get_preset(sweeps.VALIDATION.preset)
    for case in CASES:
        path, value = parse(case.change)
        part, _, rest = path.partition(".")
        if part == "sampler":
            with_value(preset.sampler, rest, value)
        elif part != "calibration":
            with_value(preset.planner, path, value)
