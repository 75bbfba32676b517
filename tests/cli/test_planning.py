import importlib.util
import inspect
import json
import os

import pytest
from fake_planner import FakePlanner

from chronoforest.cli import main
from chronoforest.cli.plan import plan
from chronoforest.cli.terminal import open_folder
from chronoforest.execution.rollout import load_rollouts
from chronoforest.exports.saved import load_result
from chronoforest.files import locked
from chronoforest.planning.planner import Planner

MEDIUM = "pointmaze-medium-stitch-v0"


@pytest.fixture(autouse=True)
def planners(monkeypatch):
    """The verbs load the fake; returns how they asked for it."""
    asked = []

    def load_planner(name, device="cpu", weights=None, mode="default", tracker=None, distance="own"):
        asked.append((name, device, weights, mode))
        return FakePlanner(name)

    monkeypatch.setattr("chronoforest.presets.loading.load_planner", load_planner)
    monkeypatch.setattr(
        "chronoforest.report.video.VideoParams.__init__.__defaults__", (160, 64, 4, 30, 10, 2)
    )
    return asked


TWO = ["--preset", MEDIUM, "--starts", "0,0 0,20", "--goals", "20,20 20,0", "--waypoints", "4,4"]
ONE = ["--preset", MEDIUM, "--starts", "0,0", "--goals", "20,20"]


def test_plan_writes_and_prints_its_timetable(tmp_path, capsys):
    assert main(["plan", *TWO, "--out", str(tmp_path)]) == 0
    result = load_result(tmp_path / "plan.json")
    assert result.complete
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert printed.startswith(result.summary())
    assert result.effort not in printed
    assert all(str(tmp_path / name) in printed for name in ("plan.json", "plan.png"))
    assert json.loads((tmp_path / "config.json").read_text())["version"]


def test_verbose_shows_rounds_and_counts_that_agree(tmp_path, capsys):
    assert main(["plan", *TWO, "--out", str(tmp_path), "--verbose"]) == 0
    printed = capsys.readouterr().out
    result = load_result(tmp_path / "plan.json")
    rounds = [line for line in printed.splitlines() if line.startswith("round ")]
    assert len(rounds) == result.num_rounds
    assert f"{result.rounds[-1].num_nodes} nodes, {result.rounds[-1].num_expanded} expansions" in rounds[-1]
    assert f"{result.num_rounds} rounds, {result.rounds[-1].num_nodes} nodes" in printed


def test_an_earlier_plan_is_not_replaced_unless_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert main(["plan", *ONE]) == 0
    assert (tmp_path / "runs" / "plan" / "plan.json").is_file()
    assert (tmp_path / "runs" / "plan-2" / "plan.json").is_file()
    for out in ("runs/plan", "runs/plan/plan.json"):
        assert main(["plan", *ONE, "--out", out]) == 2
        assert "--overwrite" in capsys.readouterr().err
        assert main(["plan", *ONE, "--out", out, "--overwrite"]) == 0


def test_order_snap_and_departure_are_passed_on_under_the_words_of_python(tmp_path, monkeypatch):
    asked = {}

    class Noting(FakePlanner):
        def plan(self, problem, **options):
            asked.update(options)
            return super().plan(problem, **options)

    monkeypatch.setattr("chronoforest.presets.loading.load_planner", lambda name, **_: Noting(name))
    more = ["--order", "S1 → W1 → G1; S2, G2", "--snap", "--depart", "2026-11-16 08:00", "--seconds", "1.5"]
    assert main(["plan", *TWO, *more, "--out", str(tmp_path)]) == 0
    assert asked["order"] == [["S1", "W1", "G1"], ["S2", "G2"]]
    assert (asked["snap"], asked["depart"], asked["seconds"]) == (True, "2026-11-16 08:00", 1.5)
    rules = ["--order", "W1 agent 2 last; my stop first"]
    assert main(["plan", *TWO, *rules, "--overwrite", "--out", str(tmp_path)]) == 0
    assert asked["order"] == rules[1]


def test_the_command_has_few_options_and_python_knows_their_words():
    named = set(inspect.signature(plan).parameters)
    assert len(named) <= 15
    told = set(inspect.signature(Planner.plan).parameters)
    assert named - told == {"preset", "workers", "out", "overwrite", "verbose"}


def test_an_incomplete_plan_is_written_and_ends_with_a_code_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "chronoforest.presets.loading.load_planner", lambda name, **_: FakePlanner(name, is_blind=True)
    )
    command = ["plan", "--preset", MEDIUM, "--starts", "0,0", "--goals", "20,20", "--out", str(tmp_path)]
    assert main(command) == 3
    assert not load_result(tmp_path / "plan.json").complete
    assert (tmp_path / "plan.png").is_file()
    assert "incomplete, unmet: S1→G1" in capsys.readouterr().out


def test_the_points_may_lie_in_csv_files_and_the_problem_in_a_json_file(tmp_path):
    (tmp_path / "stops.csv").write_text("name,x,y\nbakery,4,4\nharbour,8,20\n")
    (tmp_path / "problem.json").write_text(
        '{"starts": [[0, 0]], "goals": [[20, 20]], "waypoints": [[4, 4], [8, 20]]}'
    )
    typed = ["--starts", "0,0", "--goals", "20,20", "--waypoints", str(tmp_path / "stops.csv")]
    written = ["--problem", str(tmp_path / "problem.json")]
    for options in (typed, written):
        out = ["--out", str(tmp_path / "out"), "--overwrite"]
        assert main(["plan", "--preset", "point-medium", *options, *out]) == 0
        result = load_result(tmp_path / "out" / "plan.json")
        assert result.problem.waypoints.tolist() == [[4.0, 4.0], [8.0, 20.0]]
        assert result.preset == MEDIUM


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [
        (["run", "--preset", MEDIUM, "--task", "1"], "mujoco", "sim"),
        (["demo"], "mujoco", "sim"),
        (["view"], "uvicorn", "view"),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_command(
    command, library, extra, tmp_path, monkeypatch, capsys
):
    found = importlib.util.find_spec
    monkeypatch.setattr("chronoforest.names.find_spec", lambda name: None if name == library else found(name))
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    sentence = f"this needs {library}; install it with `pip install 'chronoforest[{extra}]'`"
    assert capsys.readouterr().err == f"chronoforest: {sentence}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_refused_before_any_work(tmp_path, capsys, planners):
    with locked(tmp_path):
        options = ["--preset", MEDIUM, "--starts", "0,0", "--goals", "20,20", "--out", str(tmp_path)]
        assert main(["plan", *options]) == 2
    assert f"{tmp_path} is in use by process {os.getpid()} on " in capsys.readouterr().err
    assert not planners


def test_a_folder_remembers_every_command(tmp_path, monkeypatch):
    for words in (["a"], ["b", "c d"], ["a"]):
        monkeypatch.setattr("sys.argv", ["x", *words])
        open_folder(tmp_path)
    commands = json.loads((tmp_path / "config.json").read_text())["commands"]
    assert commands == ["chronoforest a", "chronoforest b 'c d'"]
    (tmp_path / "config.json").write_text("[")
    open_folder(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["commands"] == ["chronoforest a"]


@pytest.mark.parametrize(
    "points", ["0", "0,0,0", "a,b", "0,0 1", "0;0", "0,0,0 1,1,1", "(0,0,0)", "0,0 north"]
)
def test_malformed_points_are_refused_with_what_was_typed(points, tmp_path, capsys, planners):
    options = ["--preset", MEDIUM, "--starts", points, "--goals", "20,20"]
    assert main(["plan", *options, "--out", str(tmp_path / "new")]) == 2
    assert repr(points) in capsys.readouterr().err
    assert not planners
    assert not (tmp_path / "new").exists()


def test_run_walks_an_official_task_and_draws_it(tmp_path, capsys):
    assert main(["run", "--preset", MEDIUM, "--task", "3", "--seed", "2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "agent 1 arrived after" in printed
    for name in ("plan.json", "rollout.json", "plan.png", "walk.png", "walk.mp4"):
        assert str(tmp_path / name) in printed
        assert (tmp_path / name).stat().st_size > 0
    (rollout,) = load_rollouts(tmp_path / "rollout.json")
    assert rollout.success


def test_a_folder_that_cannot_be_made_is_an_error_before_any_work(tmp_path, capsys, planners):
    (tmp_path / "file").write_text("")
    for verb in (["run", "--preset", MEDIUM, "--task", "1"], ["demo"]):
        assert main([*verb, "--out", str(tmp_path / "file" / "new")]) == 2
        assert "cannot write" in capsys.readouterr().err
    assert not planners


def test_demo_shows_the_timetable_and_what_it_wrote(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "chronoforest.cli.run.PRESET", "pointmaze-giant-stitch-v0"
    )  # the fake cannot walk ants
    assert main(["demo", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("arrived") == 2
    assert str(tmp_path / "walk.mp4") in printed
    assert printed.index("complete") < printed.index("arrived")
    assert len(load_rollouts(tmp_path / "rollout.json")) == 2


def test_a_peer_without_recordings_is_told_where_they_come_from(tmp_path, capsys):
    options = ["--preset", MEDIUM, "--task", "1", "--planner", "dataset-graph", "--data", str(tmp_path)]
    assert main(["run", *options, "--out", str(tmp_path / "out")]) == 2
    assert f"python -m benchmarks generate {MEDIUM}" in capsys.readouterr().err
