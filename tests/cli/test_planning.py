import importlib.util
import json
import os

import pytest
from fake_planner import FakePlanner

from chronoforest.bench.run import read_trials
from chronoforest.cli import main
from chronoforest.cli.planning import open_folder
from chronoforest.execution.rollout import load_rollouts
from chronoforest.files import locked
from chronoforest.planning.result import load_result

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


def test_plan_writes_and_prints(tmp_path, capsys):
    options = ["--preset", MEDIUM, "--starts", "0,0 0,20", "--goals", "20,20 20,0", "--waypoints", "4,4"]
    assert main(["plan", *options, "--out", str(tmp_path)]) == 0
    assert load_result(tmp_path / "plan.json").complete
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    rounds, summary = printed.split("complete;")
    assert rounds.splitlines()[-1].split("  ")[:3] == ["0", "S1 → W1 → G1 | S2 → G2", "3/3"]
    assert all(str(tmp_path / name) in summary for name in ("plan.json", "plan.png"))
    assert json.loads((tmp_path / "config.json").read_text())["version"]


def test_an_incomplete_plan_is_written_and_ends_with_a_code_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "chronoforest.presets.loading.load_planner", lambda name, **_: FakePlanner(name, is_blind=True)
    )
    command = ["plan", "--preset", MEDIUM, "--starts", "0,0", "--goals", "20,20", "--out", str(tmp_path)]
    assert main(command) == 3
    assert not load_result(tmp_path / "plan.json").complete
    assert (tmp_path / "plan.png").is_file()
    assert "\nincomplete, unmet: S1→G1" in capsys.readouterr().out


def test_the_points_may_lie_in_csv_files_and_the_problem_in_a_json_file(tmp_path):
    (tmp_path / "stops.csv").write_text("name,x,y\nbakery,4,4\nharbour,8,20\n")
    (tmp_path / "problem.json").write_text(
        '{"starts": [[0, 0]], "goals": [[20, 20]], "waypoints": [[4, 4], [8, 20]]}'
    )
    typed = ["--starts", "0,0", "--goals", "20,20", "--waypoints", str(tmp_path / "stops.csv")]
    written = ["--problem", str(tmp_path / "problem.json")]
    for options in (typed, written):
        assert main(["plan", "--preset", "point-medium", *options, "--out", str(tmp_path / "out")]) == 0
        result = load_result(tmp_path / "out" / "plan.json")
        assert result.problem.waypoints.tolist() == [[4.0, 4.0], [8.0, 20.0]]
        assert result.preset == MEDIUM


def test_a_problem_is_told_once(tmp_path, capsys, planners):
    command = ["plan", "--preset", MEDIUM, "--problem", "p.json", "--goals", "1,1", "--out", str(tmp_path)]
    assert main(command) == 2
    assert "--problem p.json says where to go; leave out --goals" in capsys.readouterr().err
    assert main(["plan", "--preset", MEDIUM]) == 2
    assert 'nobody said where to go; use --starts "0,0"' in capsys.readouterr().err
    assert not planners


def test_seconds_are_passed_on_as_the_stop(tmp_path, monkeypatch):
    stops = []

    class Noting(FakePlanner):
        def plan(self, problem, *, stop=None, **options):
            stops.append(stop)
            return super().plan(problem, **options)

    monkeypatch.setattr("chronoforest.presets.loading.load_planner", lambda name, **_: Noting(name))
    command = ["plan", "--preset", MEDIUM, "--starts", "0,0", "--goals", "20,20", "--out", str(tmp_path)]
    assert main(command) == 0
    assert main([*command, "--seconds", "1.5"]) == 0
    assert stops == [None, 1.5]


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [
        (["run", "--preset", MEDIUM, "--task", "1"], "mujoco", "sim"),
        (["demo"], "mujoco", "sim"),
        (["bench", "stitch", "--preset", MEDIUM], "mujoco", "sim"),
        (["view"], "uvicorn", "view"),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_command(
    command, library, extra, tmp_path, monkeypatch, capsys
):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "chronoforest.modules.find_spec", lambda name: None if name == library else found(name)
    )
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


def test_plan_passes_mode_and_weights_on(tmp_path, planners):
    options = ["--preset", MEDIUM, "--starts", "0,0", "--goals", "20,20", "--mode", "fast"]
    assert main(["plan", *options, "--weights", str(tmp_path), "--out", str(tmp_path)]) == 0
    ((name, device, weights, mode),) = planners
    assert (name, device, weights, mode) == (MEDIUM, "cpu", tmp_path, "fast")


@pytest.mark.parametrize("points", ["0", "0,0,0", "a,b", "0,0 1", "0;0"])
def test_malformed_points_show_how_they_are_typed(points, tmp_path, capsys, planners):
    options = ["--preset", MEDIUM, "--starts", points, "--goals", "20,20"]
    assert main(["plan", *options, "--out", str(tmp_path / "new")]) == 2
    assert (
        f'--starts must be points such as "0,0 52,36" or a CSV file, got {points!r}'
        in capsys.readouterr().err
    )
    assert not planners
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"--preset": "pointmaze-tiny"}, "unknown preset 'pointmaze-tiny'; did you mean 'point"),
        ({"--goals": "20,20 0,0"}, "every agent needs one start and one goal"),
        ({"--goals": "0,0"}, "S1 and G1 are both at"),
        ({"--waypoints": "nan,0"}, "waypoints[0] is (nan, 0)"),
        ({"--variant": "sideways"}, "unknown variant 'sideways'"),
    ],
)
def test_plan_refuses_bad_input_in_one_line(changes, sentence, tmp_path, capsys):
    options = {"--preset": MEDIUM, "--starts": "0,0", "--goals": "20,20", "--out": str(tmp_path)} | changes
    assert main(["plan", *(word for option in options.items() for word in option)]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_run_walks_an_official_task_and_draws_it(tmp_path, capsys):
    assert main(["run", "--preset", MEDIUM, "--task", "3", "--seed", "2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "agent 1 arrived after" in printed
    for name in ("plan.json", "rollout.json", "plan.png", "walk.png", "walk.mp4"):
        assert str(tmp_path / name) in printed
        assert (tmp_path / name).stat().st_size > 0
    (rollout,) = load_rollouts(tmp_path / "rollout.json")
    assert rollout.success


def test_run_checks_the_task_before_it_loads_anything(tmp_path, capsys, planners):
    assert main(["run", "--preset", MEDIUM, "--task", "6", "--out", str(tmp_path / "new")]) == 2
    assert "--task must be 1…5, got 6" in capsys.readouterr().err
    assert not planners


def test_a_folder_that_cannot_be_made_is_an_error_before_any_work(tmp_path, capsys, planners):
    (tmp_path / "file").write_text("")
    for verb in (
        ["run", "--preset", MEDIUM, "--task", "1"],
        ["demo"],
        ["bench", "pairs", "--preset", MEDIUM],
    ):
        assert main([*verb, "--out", str(tmp_path / "file" / "new")]) == 2
        assert "cannot write" in capsys.readouterr().err
    assert not planners


@pytest.mark.parametrize("suite", ["stitch", "pairs", "multi", "order"])
def test_bench_runs_prints_and_resumes(suite, tmp_path, capsys):
    command = ["bench", suite, "--preset", MEDIUM, "--episodes", "2", "--out", str(tmp_path), "--markdown"]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "| all (" in first
    trials = read_trials(tmp_path / f"{suite}.jsonl")
    assert len(trials) == (10 if suite == "stitch" else 2)
    assert main(command) == 0
    again = capsys.readouterr().out
    assert (
        again
        == f"{tmp_path / suite}.jsonl: {len(trials)} of {len(trials)} trials were there already, kept\n"
        + first
    )


def test_bench_refuses_bad_counts(tmp_path, capsys, planners):
    for options, sentence in (
        (["stitch", "--episodes", "0"], "episodes must be at least 1, got 0"),
        (["pairs", "--workers", "0"], "workers must be at least 1, got 0"),
        (["multi", "--agents", "0"], "got 0 agents"),
        (["stitch", "--preset", "nowhere"], "unknown preset 'nowhere'"),
    ):
        words = options if "--preset" in options else [*options, "--preset", MEDIUM]
        assert main(["bench", *words, "--out", str(tmp_path)]) == 2
        assert sentence in capsys.readouterr().err
    assert not planners


def test_demo_shows_rounds_a_table_and_what_it_wrote(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "chronoforest.cli.demo.PRESET", "pointmaze-giant-stitch-v0"
    )  # the fake cannot walk ants
    assert main(["demo", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "7/7" in printed
    assert printed.count("arrived") == 2
    assert str(tmp_path / "walk.mp4") in printed
    assert printed.index("planned: ") < printed.index("arrived")
    assert len(load_rollouts(tmp_path / "rollout.json")) == 2


def test_a_peer_is_planned_with_by_name(tmp_path, monkeypatch, capsys):
    asked = []

    def load(choice):
        asked.append((choice.planner, choice.preset, str(choice.data)))
        return FakePlanner(choice.preset)

    monkeypatch.setattr("chronoforest.peers.registry.load", load)
    peer = ["--preset", MEDIUM, "--planner", "dataset-graph", "--data", "recordings"]
    assert main(["plan", *peer, "--starts", "0,0", "--goals", "20,20", "--out", str(tmp_path)]) == 0
    assert main(["bench", "pairs", *peer, "--episodes", "1", "--out", str(tmp_path)]) == 0
    assert asked == [("dataset-graph", MEDIUM, "recordings")] * 2
    assert read_trials(tmp_path / "pairs.jsonl")[0].case.choice.planner == "dataset-graph"


def test_a_peer_without_recordings_is_told_where_they_come_from(tmp_path, capsys):
    options = ["--preset", MEDIUM, "--task", "1", "--planner", "dataset-graph", "--data", str(tmp_path)]
    assert main(["run", *options, "--out", str(tmp_path / "out")]) == 2
    assert f"chronoforest data generate {MEDIUM}" in capsys.readouterr().err


def test_an_unknown_planner_is_refused_before_anything_is_loaded(tmp_path, capsys, planners):
    options = ["--preset", MEDIUM, "--planner", "rrt", "--out", str(tmp_path / "new")]
    assert main(["bench", "stitch", *options]) == 2
    assert "unknown planner 'rrt'; available: chronoforest, dataset-graph" in capsys.readouterr().err
    assert not planners
    assert not (tmp_path / "new").exists()
