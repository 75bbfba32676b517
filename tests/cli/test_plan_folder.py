import json

import pytest
from fakes import SIDE, make_planner, scattered_problem

from chronoforest.cli.plans import PLANS, PlanFolder
from chronoforest.errors import InvalidProblem
from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import MaxRounds
from chronoforest.types import Problem
from chronoforest.types.problem_files import NamedProblem

WALL = ((9.0, -1.0), (11.0, SIDE + 1.0))
HOW = {"preset": "square", "variant": "verified"}


def named(count=3):
    return [NamedProblem(f"p{k}", scattered_problem(1, 1, seed=k), None) for k in range(count)]


def filled(folder, problems):
    plans = PlanFolder(folder, 0, HOW)
    left = plans.open(problems)
    for one in left:
        plans.keep(one, make_planner().plan(one.problem))
    return plans, left


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_was_planned_is_not_planned_again(tmp_path):
    problems = named()
    plans, left = filled(tmp_path, problems[:2])
    assert (plans.counts["complete"], plans.all_complete, plans.summary()) == (2, True, "2 complete")
    again, left = filled(tmp_path, problems)
    assert [one.name for one in left] == ["p2"]
    assert again.counts["complete"] == 3
    assert [line["name"] for line in lines(tmp_path / PLANS)] == ["p0", "p1", "p2"]
    assert load_result(tmp_path / "p2.json").problem.starts.tolist() == problems[2].problem.starts.tolist()


@pytest.mark.parametrize(
    "change", ["seed", "own seed", "how", "problem", "file gone", "no plan", "other plan", "torn line"]
)
def test_what_is_asked_otherwise_is_planned_again(change, tmp_path):
    problems = named(2)
    filled(tmp_path, problems)
    seed, how = int(change == "seed"), {**HOW, "variant": "online"} if change == "how" else HOW
    if change == "own seed":
        problems[0] = NamedProblem("p0", problems[0].problem, 5)
    if change == "problem":
        problems[0] = NamedProblem("p0", scattered_problem(1, 1, seed=9))
    if change == "file gone":
        (tmp_path / "p0.json").unlink()
    if change == "no plan":
        (tmp_path / "p0.json").write_text("{}")
    if change == "other plan":
        (tmp_path / "p0.json").write_bytes((tmp_path / "p1.json").read_bytes())
    if change == "torn line":
        text = (tmp_path / PLANS).read_text()
        (tmp_path / PLANS).write_text("\n".join([text.splitlines()[1], text.splitlines()[0][:40]]))
    left = PlanFolder(tmp_path, seed, how).open(problems)
    assert [one.name for one in left] == (["p0", "p1"] if change in ("seed", "how") else ["p0"])


def test_failures_are_told_with_their_reason_and_tried_again(tmp_path):
    problems = named(2)
    plans = PlanFolder(tmp_path, 0, HOW)
    plans.open(problems)
    plans.keep(problems[0], InvalidProblem("G1 lies outside"))
    assert [(line["name"], line["reason"]) for line in lines(tmp_path / PLANS)] == [("p0", "G1 lies outside")]
    assert not plans.all_complete
    assert plans.summary() == "0 complete, 1 without a plan"
    assert len(PlanFolder(tmp_path, 0, HOW).open(problems)) == 2


def test_an_incomplete_plan_is_kept_and_stays_among_the_failures(tmp_path):
    one = NamedProblem("p0", Problem([[3.0, 10.0]], [[17.0, 10.0]]))
    result = make_planner(WALL).plan(one.problem, stop=MaxRounds(2))
    assert not result.complete
    plans = PlanFolder(tmp_path, 0, HOW)
    plans.keep(one, result)
    assert plans.summary() == "0 complete, 1 incomplete"
    again = PlanFolder(tmp_path, 0, HOW)
    assert again.open([one]) == []
    assert (again.counts["incomplete"], again.all_complete) == (1, False)
    (line,) = lines(tmp_path / PLANS)
    assert result.shortfalls[0] in line["reason"]
