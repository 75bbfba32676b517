import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.errors import BadResult, CannotWrite, InvalidParameter
from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import MaxRounds


@cache
def made(is_complete):
    """A plan for two agents that is found with trees, or the same stopped after one round."""
    stop = None if is_complete else MaxRounds(1)
    return make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=3, stop=stop, variant="online")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plan.json"


either = pytest.mark.parametrize("is_complete", [True, False])


def test_the_examples_are_one_complete_and_one_incomplete_plan():
    assert [made(is_complete).complete for is_complete in (True, False)] == [True, False]


@either
def test_a_saved_plan_loads_back(is_complete, path):
    result = made(is_complete)
    result.save(path)
    again = load_result(path)
    for name in ("unmet", "rounds", "num_expanded", "seconds", "seed", "variant", "preset", "certificate"):
        assert getattr(again, name) == getattr(result, name), name
    assert again.complete == is_complete
    np.testing.assert_array_equal(again.problem.anchors, result.problem.anchors)
    for one, other in zip(again.routes, result.routes, strict=True):
        assert (one.order, one.legs, one.stops) == (other.order, other.legs, other.stops)
        np.testing.assert_allclose(one.path, other.path, atol=1e-5)
    np.testing.assert_array_equal(again.meetings, result.meetings)
    np.testing.assert_array_equal(again.support.mask, result.support.mask)
    assert again.support.extent == result.support.extent
    assert [tree.anchor for tree in again.trees] == [tree.anchor for tree in result.trees]


@pytest.mark.parametrize(("stop", "evidence"), [(None, "verified"), (MaxRounds(1), "inferred")])
def test_a_plan_over_the_roadmap_loads_back_with_what_speaks_for_its_legs(stop, evidence, path):
    result = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=3, stop=stop)
    result.save(path)
    again = load_result(path)
    assert {leg.evidence for route in again.routes for leg in route.legs} == {evidence}
    assert [route.legs for route in again.routes] == [route.legs for route in result.routes]
    assert [tree.segments.shape for tree in again.trees] == [tree.segments.shape for tree in result.trees]
    assert (again.variant, again.summary()) == (result.variant, result.summary())


@either
def test_saving_a_loaded_plan_writes_the_same_file_but_for_rounding(is_complete, path, tmp_path):
    made(is_complete).save(path)
    load_result(path).save(tmp_path / "again.json")
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("plan.json", "again.json"))
    for values in (first, second):
        values.pop("length")
        values.pop("shortfalls")
    assert first == second


def test_saving_leaves_only_the_file_and_replaces_an_older_one(path):
    path.write_text("older")
    made(True).save(path)
    assert load_result(path).complete
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_save_says_so_and_leaves_the_older_file(path, monkeypatch):
    made(True).save(path)
    before = path.read_text()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(CannotWrite, match="No space left"):
        made(False).save(path)
    assert path.read_text() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_made_and_one_that_cannot_be_is_one_clear_error(tmp_path):
    made(True).save(tmp_path / "new" / "plan.json")
    with pytest.raises(CannotWrite, match="cannot write"):
        made(True).save(tmp_path / "new" / "plan.json" / "plan.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"format": "chronoforest-plan/0"}', "\x00\x01"])
def test_what_is_not_a_saved_plan_is_refused(text, path):
    path.write_text(text)
    with pytest.raises(BadResult, match=r"plan\.json"):
        load_result(path)


def test_a_missing_file_is_refused(path):
    with pytest.raises(BadResult, match=r"plan\.json"):
        load_result(path)


def saved_values(path):
    made(True).save(path)
    return json.loads(path.read_text())


KEYS = (
    "problem",
    "routes",
    "unmet",
    "rounds",
    "num_expanded",
    "seconds",
    "seed",
    "variant",
    "preset",
    "certificate",
    "trees",
    "meetings",
    "support",
)


@pytest.mark.parametrize("key", KEYS)
def test_a_plan_without_one_of_its_parts_is_damaged(key, path):
    values = saved_values(path)
    del values[key]
    path.write_text(json.dumps(values))
    with pytest.raises(BadResult, match="damaged"):
        load_result(path)


@pytest.mark.parametrize(
    "damage",
    [
        {"problem": {"starts": [[0, float("nan")]], "goals": [[1, 1]], "waypoints": []}},
        {"problem": []},
        {"routes": [5]},
        {"routes": 5},
        {"routes": ["S1"]},
        {"rounds": [[]]},
        {"unmet": [["S1"]]},
        {"meetings": [[1.0, 2.0, 3.0]]},
        {"certificate": {}},
        {"trees": [7]},
        {"support": {"origin": [0, 0], "cell": 1.0, "shape": [], "bits": ""}},
        {"support": {"origin": [0, 0], "cell": 1.0, "shape": [9, 9], "bits": "AA=="}},
        {"support": {"origin": [0, 0], "cell": 1.0, "shape": [2, 2], "bits": "?"}},
        {"support": None},
    ],
)
def test_a_plan_with_a_broken_part_is_damaged(damage, path):
    path.write_text(json.dumps(saved_values(path) | damage))
    with pytest.raises(BadResult, match="damaged"):
        load_result(path)


def test_a_truncated_file_is_refused_wherever_it_ends(path):
    made(True).save(path)
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(BadResult):
            load_result(path)


@either
def test_a_plan_is_drawn_as_a_png(is_complete, tmp_path):
    made(is_complete).plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_a_loaded_plan_can_be_drawn_too(path, tmp_path):
    make_planner().plan(scattered_problem(1, 0), stop=MaxRounds(0), variant="online").save(path)
    load_result(path).plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 0


@either
def test_the_summary_tells_what_is_missing_and_every_order(is_complete):
    result = made(is_complete)
    summary = result.summary()
    assert summary.startswith("complete; " if is_complete else "incomplete, unmet: ")
    assert str(result.timetable) in summary
    assert all(f"{source}→{target}" in summary for source, target in result.unmet)
    assert len(result.shortfalls) == len(result.unmet)
    assert all(sentence in summary for sentence in result.shortfalls)


def change(values, where, new):
    """The values with one of them replaced; where: the keys that lead to it."""
    *keys, last = where
    inner = values
    for key in keys:
        inner = inner[key]
    inner[last] = new
    return values


ODD = {
    "a route too few": (("routes",), lambda v: v["routes"][:1], "it has 1 routes for 2 agents"),
    "an unknown name in an order": (("routes", 1, "order", 0), lambda v: "S9", r"it names \['S9'\]"),
    "an unknown end of a leg": (("routes", 0, "legs", 0, "target"), lambda v: "W9", r"it names \['W9'\]"),
    "an unknown link of a chain": (("routes", 0, "legs", 0, "chain"), lambda v: ["S1", "X", "G1"], "'X'"),
    "an unknown unmet leg": (("unmet",), lambda v: [["S1", "G7"]], r"it names \['G7'\]"),
    "an anchor beyond the last": (("rounds", 0, "pairs", 0, "target"), lambda v: 7, "beyond the 7 there are"),
    "an anchor before the first": (
        ("rounds", 0, "accepted"),
        lambda v: [{"source": -1, "target": 0}],
        "beyond",
    ),
    "an order of others": (("rounds", 0, "route", "orders", 0), lambda v: [0, 99, 5], "beyond the 7"),
    "one tree of points in space": (
        ("trees", 1, "segments"),
        lambda v: [[[0.0, 1.0, 2.0]]],
        r"segments \[frames",
    ),
    "a stop behind the path": (
        ("routes", 1, "stops", -1),
        lambda v: len(v["routes"][1]["path"]),
        "stops do not",
    ),
    "a stop before the path": (("routes", 0, "stops", 0), lambda v: -1, "stops do not lie"),
    "stops out of order": (
        ("routes", 0, "stops"),
        lambda v: v["routes"][0]["stops"][::-1],
        "stops do not lie",
    ),
    "more stops than names": (("routes", 0, "stops"), lambda v: [0] * 9, "stops do not lie"),
    "a path in space": (
        ("routes", 0, "path"),
        lambda v: [[0.0, 1.0, 2.0]],
        r"shape \[1, 3\], expected points",
    ),
    "a path of numbers": (("routes", 0, "path"), lambda v: [0.0, 1.0, 2.0, 3.0], r"shape \[4\]"),
    "a meeting in space": (("meetings",), lambda v: [[0.0, 1.0, 2.0]], r"shape \[1, 3\]"),
    "a length beyond numbers": (
        ("routes", 0, "path"),
        lambda v: [[(-1.0) ** k * 1e308, 0.0] for k in range(len(v["routes"][0]["path"]))],
        "not finite",
    ),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_plan_whose_parts_do_not_fit_together_is_refused(odd, path):
    where, new, message = ODD[odd]
    values = json.loads(made(True).to_json())
    path.write_text(json.dumps(change(values, where, new(values))))
    with pytest.raises(BadResult, match=message):
        load_result(path)


def test_a_plan_without_any_meeting_loads_with_an_empty_table_of_points(path):
    values = json.loads(made(False).to_json())
    path.write_text(json.dumps(change(values, ("meetings",), [])))
    assert load_result(path).meetings.shape == (0, 2)


def moved(values, row, by=4.0):
    """The points of the first path with one of them moved sideways."""
    points = values["routes"][0]["path"]
    return [[x, y + by * (k == row)] for k, (x, y) in enumerate(points)]


UNLIKE = {
    "a path that jumps": (("routes", 0, "path"), lambda v: moved(v, 5)),
    "a path that misses its start": (("routes", 0, "path"), lambda v: moved(v, 0)),
    "a path that ends early": (("routes", 0, "path"), lambda v: v["routes"][0]["path"][:3]),
    "a stop elsewhere on the path": (("routes", 0, "stops", 0), lambda v: 1),
    "a stop too few": (("routes", 0, "stops"), lambda v: v["routes"][0]["stops"][:-1]),
    "an order that visits one twice": (("routes", 0, "order"), lambda v: v["routes"][0]["order"][:2] * 2),
    "a leg that is unmet and not listed": (("routes", 0, "legs", 0, "is_met"), lambda v: False),
    "an unmet leg that is met": (("unmet",), lambda v: [[v["routes"][0]["legs"][0][e] for e in ENDS]]),
    "a waypoint that is visited and left out": (("left_out",), lambda v: ["W1"]),
    "no word on completeness": (("complete",), lambda v: False),
    "another length": (("length",), lambda v: 1.1 * v["length"]),
    "another length before": (("raw_length",), lambda v: 0.9 * v["raw_length"]),
    "times that end early": (("routes", 0, "times"), lambda v: v["routes"][0]["times"][:-1]),
}
ENDS = ("source", "target")


@pytest.mark.parametrize("unlike", UNLIKE)
def test_a_plan_that_contradicts_itself_is_refused(unlike, path):
    where, new = UNLIKE[unlike]
    values = json.loads(made(True).to_json())
    path.write_text(json.dumps(change(values, where, new(values))))
    with pytest.raises(BadResult):
        load_result(path)


def test_a_leg_without_evidence_is_not_taken_for_verified(path):
    values = json.loads(made(True).to_json())
    del values["routes"][0]["legs"][0]["evidence"]
    path.write_text(json.dumps(values))
    with pytest.raises(BadResult, match="evidence"):
        load_result(path)


def test_paths_are_written_to_the_hundred_thousandth_of_a_unit_and_trees_to_the_hundredth():
    values = json.loads(made(True).to_json())
    for route, written in zip(made(True).routes, values["routes"], strict=True):
        assert written["path"] == np.round(route.path, 5).tolist()
    for tree, written in zip(made(True).trees, values["trees"], strict=True):
        assert written["segments"] == np.round(tree.segments, 2).tolist()


def test_the_summary_has_a_line_for_every_stop_and_total():
    result = made(True)
    lines = result.summary().splitlines()
    assert len(lines) == 2 + len(result.timetable) + len(result.routes) + 1
    assert lines[0] == result.headline
    assert lines[-1].split() == ["all", "total", f"{result.length:.1f}", lines[-1].split()[-1]]
    assert f"{result.num_rounds} rounds" in result.effort
    assert str(result) == result.summary()


def test_another_format_is_refused_although_all_its_parts_are_there(path):
    path.write_text(json.dumps({**json.loads(made(True).to_json()), "format": "chronoforest-plan/9"}))
    with pytest.raises(BadResult, match="it has format 'chronoforest-plan/9'"):
        load_result(path)


def test_a_plan_that_json_cannot_hold_is_not_written():
    with pytest.raises(ValueError, match="JSON"):
        replace(made(True), seconds=float("nan")).to_json()


@pytest.mark.parametrize("name", ["plan.kml", "plan.xlsx"])
def test_a_plan_is_not_written_under_an_ending_that_means_something_else(name, tmp_path):
    with pytest.raises(InvalidParameter, match=rf"\.geojson, \.gpx, \.csv, \.json, got '{name}'"):
        made(True).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["plan", "plan.doc"])
def test_a_picture_under_an_ending_that_is_none_is_refused(name, tmp_path):
    with pytest.raises(InvalidParameter, match=rf"\.png, \.svg, \.pdf or \.jpg, got '{name}'"):
        made(True).plot(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
