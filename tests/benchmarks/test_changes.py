import pytest

from benchmarks.changes import changed, parse, with_value
from chronoforest.errors import InvalidParameter
from chronoforest.planning.variants import PlannerParams
from chronoforest.presets.loading import load_planner


def test_a_nested_number_is_replaced_and_keeps_its_kind():
    params = with_value(PlannerParams(), "search.junction.num_samples", 6.0)
    assert params.search.junction.num_samples == 6
    assert isinstance(params.search.junction.num_samples, int)
    assert with_value(PlannerParams(), "search.uncertainty_weight", 2).search.uncertainty_weight == 2.0


def test_a_changed_planner_leaves_the_other_as_it_was():
    planner = load_planner("pointmaze-medium-stitch-v0")
    params, alpha = planner.params, planner.models.calibration.alpha
    assert changed(planner, "sampler.num_steps=10").models.sampler.params.num_steps == 10
    assert changed(planner, "calibration.alpha=0.005").models.calibration.alpha == 0.005
    assert changed(planner, "search.uncertainty_weight=3").params.search.uncertainty_weight == 3.0
    assert changed(planner, "") is planner
    assert (planner.params, planner.models.calibration.alpha) == (params, alpha)


@pytest.mark.parametrize("change", ["", "search", "=3", "search.num_expand=two"])
def test_a_change_must_be_a_name_and_a_number(change):
    with pytest.raises(InvalidParameter):
        parse(change)


def test_a_recorded_name_still_means_its_parameter():
    path, value = parse("max_challenges=2")
    assert with_value(PlannerParams(), path, value).challenge.max_challenges == 2


def test_an_unknown_name_tells_the_known_ones():
    with pytest.raises(InvalidParameter, match="SearchParams has no parameter 'nothing'; available: num"):
        with_value(PlannerParams(), "search.nothing", 1.0)
    with pytest.raises(InvalidParameter, match="num_expand must be"):
        with_value(PlannerParams(), "search.num_expand", 0.0)
