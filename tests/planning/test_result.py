import json
from functools import cache

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.errors import BadResult, CannotWrite
from chronoforest.planning.planner import MaxRounds
from chronoforest.planning.result import load_result


@cache
def made(is_complete):
    """A plan for two agents, or the same stopped after one round."""
    stop = None if is_complete else MaxRounds(1)
    return make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=3, stop=stop)


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


@either
def test_saving_a_loaded_plan_writes_the_same_file_but_for_rounding(is_complete, path, tmp_path):
    made(is_complete).save(path)
    load_result(path).save(tmp_path / "again.json")
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("plan.json", "again.json"))
    for values in (first, second):
        values.pop("length")
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
    make_planner().plan(scattered_problem(1, 0), stop=MaxRounds(0)).save(path)
    load_result(path).plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 0


@either
def test_the_summary_tells_what_is_missing_and_every_order(is_complete):
    result = made(is_complete)
    summary = result.summary()
    assert summary.startswith("complete;" if is_complete else "incomplete, unmet: ")
    assert all(" → ".join(route.order) in summary for route in result.routes)
    assert all(f"{source}→{target}" in summary for source, target in result.unmet)
