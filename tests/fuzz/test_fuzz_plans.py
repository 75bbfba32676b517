"""A plan.json that was edited, cut or scrambled loads as a plan that can be used, or is refused."""

import json

import numpy as np
from damage import cases, damaged_bytes, ends_well, mutated, places
from fakes import BLOCK, make_planner, scattered_problem
from hypothesis import given
from hypothesis import strategies as st

from chronoforest.exports.saved import load_result
from chronoforest.types import lengths_along

RESULT = make_planner(BLOCK).plan(scattered_problem(2, 1, BLOCK), seed=3)
VALUES = json.loads(RESULT.to_json())
FEW = {**VALUES, "trees": [{**tree, "segments": tree["segments"][:1]} for tree in VALUES["trees"][:2]]}
FEW["rounds"] = FEW["rounds"][-2:]


def thinned(route):
    """A route whose path has no points but its stops."""
    points = {key: [route[key][row] for row in route["stops"]] for key in ("path", "times")}
    return {**route, **points, "stops": list(range(len(route["stops"])))}


FEW["routes"] = [thinned(route) for route in FEW["routes"]]
FEW["length"] = sum(float(lengths_along(np.array(route["path"]))[-1]) for route in FEW["routes"])
PLACES = list(places(FEW))
contents = st.one_of(
    mutated(FEW, PLACES).map(lambda values: json.dumps(values).encode()),
    damaged_bytes(json.dumps(FEW).encode()),
)


def use(path):
    """Load a plan and do with it what a user may."""
    result = load_result(path)
    json.loads(result.to_json())
    assert np.isfinite(result.length)
    assert result.summary()
    json.loads(result.to_geojson())
    assert result.to_csv()
    for route in result.routes:
        assert len(route.path[list(route.stops)]) == len(route.stops)
    return result


def test_the_unharmed_plan_loads(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(FEW))
    assert use(tmp_path / "plan.json").complete


@cases(250)
@given(contents)
def test_a_damaged_plan_is_used_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "plan.json"
    path.write_bytes(content)
    ends_well(use, path)
