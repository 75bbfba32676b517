"""`chronoforest plan --problem` with a file of many, on the fake square."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import FakeModels, make_planner

from chronoforest.cli import main, plans
from chronoforest.engines import Answer, EngineChoice, unmoved
from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import Planner

MEDIUM = "pointmaze-medium-stitch-v0"
PROBLEMS = "name,start_x,start_y,goal_x,goal_y\na,3,3,15,15\nb,3,4,99,15\nc,4,3,14,15\n"


@pytest.fixture(autouse=True)
def loaded(monkeypatch):
    """The verb loads the fake; returns those that were loaded."""
    planners = []
    plans._loaded.cache_clear()

    def load_planner(name, **_):
        planners.append(make_planner())
        return planners[-1]

    monkeypatch.setattr("chronoforest.presets.loading.load_planner", load_planner)
    return planners


@pytest.fixture
def command(tmp_path):
    file = tmp_path / "problems.csv"
    file.write_text(PROBLEMS)
    return ["plan", "--preset", MEDIUM, "--problem", str(file), "--out", str(tmp_path / "plans")]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_problem_gets_a_plan_or_a_reason(command, tmp_path, capsys):
    assert main(command) == 3
    out = tmp_path / "plans"
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == [
        "a.json",
        "c.json",
        "config.json",
        "plans.jsonl",
    ]
    assert load_result(out / "c.json").problem.goals.tolist() == [[14.0, 15.0]]
    failure = next(line for line in lines(out / "plans.jsonl") if line["name"] == "b")
    assert failure["length"] is None
    assert "(99, 15)" in failure["reason"]
    printed = capsys.readouterr().out
    assert "2 complete, 1 without a plan" in printed


def test_the_same_command_plans_only_what_is_missing(command, tmp_path, capsys, loaded, monkeypatch):
    def killed(self, *arguments, **options):
        for count, finished in enumerate(planned(self, *arguments, **options)):
            if count == 2:
                raise KeyboardInterrupt
            yield finished

    planned = Planner.plan_each
    monkeypatch.setattr(Planner, "plan_each", killed)
    assert main(command) == 130
    monkeypatch.setattr(Planner, "plan_each", planned)
    kept = lines(tmp_path / "plans" / "plans.jsonl")
    assert [line["name"] for line in kept if not line["reason"]] == ["a"]
    assert main(command) == 3
    assert "1 of 3 plans exist already" in capsys.readouterr().out
    names = [line["name"] for line in lines(tmp_path / "plans" / "plans.jsonl")]
    assert names[: len(kept)] == [line["name"] for line in kept]
    assert set(names) == {"a", "b", "c"}
    assert len(loaded) == 2


def test_when_everything_is_there_no_planner_is_loaded(command, tmp_path, capsys, loaded):
    (tmp_path / "problems.csv").write_text(PROBLEMS.replace("b,3,4,99,15\n", ""))
    assert main(command) == 0
    assert main(command) == 0
    assert len(loaded) == 1
    assert "2 of 2 plans exist already\n2 complete\n" in capsys.readouterr().out


def test_a_point_where_nothing_was_recorded_is_moved_if_asked(command, tmp_path):
    assert main([*command, "--snap"]) == 0
    goal = load_result(tmp_path / "plans" / "b.json").problem.goals[0]
    assert FakeModels().density.margin(goal) >= 0


def test_seeds_and_seconds_are_passed_on(command, tmp_path):
    (tmp_path / "problems.csv").write_text("start_x,start_y,goal_x,goal_y,seed\n3,3,15,15,\n3,3,15,14,9\n")
    assert main([*command, "--seed", "4", "--seconds", "0"]) == 0
    plans = [load_result(tmp_path / "plans" / f"00000{number}.json") for number in (1, 2)]
    assert [plan.seed for plan in plans] == [4, 9]
    assert [plan.num_rounds for plan in plans] == [1, 1]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--starts", "0,0"], "says where to go; leave out --starts"),
        (["--order", "S1 G1"], "--order is for one problem"),
        (["--out", "plans.geojson"], "--out must be a folder, got plans.geojson"),
    ],
)
def test_what_does_not_go_together_is_refused(command, more, sentence, capsys, loaded):
    assert main([*command, *more]) == 2
    assert sentence in capsys.readouterr().err
    assert not loaded


class Crew:
    """An engine whose second item ends every worker."""

    def answers(self, work, items, files=()):
        for index, item in reversed(list(enumerate(items))):
            yield (
                Answer(index, failure="it ended its worker")
                if index == 1
                else Answer(index, work(item, unmoved))
            )


def test_workers_get_some_problems_at_a_time(command, tmp_path, monkeypatch):
    monkeypatch.setattr(plans, "AT_ONCE", 1)
    monkeypatch.setattr(EngineChoice, "make", lambda self, modules: Crew())
    (tmp_path / "problems.csv").write_text(PROBLEMS.replace("99", "17") + "d,3,3,99,15\n")
    assert main([*command, "--workers", "2"]) == 3
    failures = {line["name"]: line["reason"] for line in lines(tmp_path / "plans" / "plans.jsonl")}
    assert failures["b"] == "it ended its worker"
    assert "G1 at (99, 15) lies outside" in failures["d"]
    assert load_result(tmp_path / "plans" / "c.json").problem.goals.tolist() == [[14.0, 15.0]]


class Poisoned:
    """An engine where whoever gets problem b ends, with all that it has."""

    def __init__(self):
        self.sizes = []

    def answers(self, work, items, files=()):
        for index, item in enumerate(items):
            self.sizes.append(len(item))
            is_poison = any(one.name == "b" for one in item)
            yield Answer(index, failure="it ended") if is_poison else Answer(index, work(item, unmoved))


def test_a_problem_that_ends_its_workers_fails_alone(command, tmp_path, monkeypatch):
    engine = Poisoned()
    monkeypatch.setattr(plans, "AT_ONCE", 2)
    monkeypatch.setattr(EngineChoice, "make", lambda self, modules: engine)
    (tmp_path / "problems.csv").write_text(PROBLEMS.replace("99", "17") + "d,3,3,14,14\n")
    assert main([*command, "--workers", "2"]) == 3
    reasons = {line["name"]: line["reason"] for line in lines(tmp_path / "plans" / "plans.jsonl")}
    assert reasons == {"a": "", "b": "it ended", "c": "", "d": ""}
    assert load_result(tmp_path / "plans" / "a.json").problem.goals.tolist() == [[15.0, 15.0]]
    assert engine.sizes == [2, 2, 1, 1]


@pytest.mark.slow
def test_processes_plan_what_this_one_would(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(plans, "AT_ONCE", 1)
    file = tmp_path / "problems.csv"
    file.write_text("start_x,start_y,goal_x,goal_y\n0,0,20,20\n0,20,20,0\n")
    command = ["plan", "--preset", MEDIUM, "--problem", str(file), "--out"]
    assert main([*command, str(tmp_path / "one")]) == 0
    assert main([*command, str(tmp_path / "two"), "--workers", "2"]) == 0
    for number in (1, 2):
        one, two = (load_result(tmp_path / folder / f"{number:06d}.json") for folder in ("one", "two"))
        assert one.routes[0].path.tolist() == two.routes[0].path.tolist()


SCRIPT = """
import os, signal, sys
sys.path[:0] = [{tests!r}]
from fakes import make_planner
from chronoforest.cli import main
from chronoforest.cli import plans
import chronoforest.presets.loading as loading

loading.load_planner = lambda name, **_: make_planner()
keep = plans.PlanFolder.keep

def keep_then_die(self, one, outcome):
    keep(self, one, outcome)
    if self.counts["complete"] == {most}:
        os.kill(os.getpid(), signal.SIGKILL)

plans.PlanFolder.keep = keep_then_die
sys.exit(main({command!r}))
"""


def test_a_killed_process_leaves_whole_plans_and_the_next_continues(command, tmp_path):
    script = SCRIPT.format(tests=str(Path(__file__).parents[1]), most=1, command=command)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    died = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    first = (tmp_path / "plans" / "a.json").read_bytes()
    assert main(command) == 3
    assert (tmp_path / "plans" / "a.json").read_bytes() == first
    assert load_result(tmp_path / "plans" / "c.json").complete
