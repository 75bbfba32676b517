import json
from dataclasses import replace

import pytest

from benchmarks import flips, registry, throughput, together
from benchmarks.__main__ import main
from benchmarks.worlds import strait
from chronoforest import cli
from chronoforest.bench.run import run_cases
from chronoforest.bench.suite import Request
from chronoforest.cli import run_alone
from chronoforest.data.episodes import write_arrays


def test_a_dry_run_lists_trials_and_time_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "paper"
    few = ["--repeats", "1", "--episodes", "1"]
    assert main(["run", "--dry-run", *few, "--out", str(out), "--data", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for name in registry.SUITES:
        assert f"{name}: " in told
    assert "15 trials, 0 kept; 12.0 s each, 3 min 0 s left" in told
    assert f"left out: no {tmp_path / 'antmaze-giant-stitch-v0.npz'}" in told
    assert "in all, 1 at a time" in told
    assert not out.exists()


def test_some_kinds_and_variants_of_a_suite_can_be_chosen(tmp_path, capsys):
    command = ["run", "--dry-run", "--only", "parts", "--repeats", "1", "--episodes", "2"]
    some = ["--kinds", "pairs", "multi", "--variants", "paper", "verified"]
    assert main([*command, *some, "--out", str(tmp_path)]) == 0
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if " trials, " in line]
    assert [line.split(":")[0] for line in told] == [
        f"pointmaze-giant-stitch-v0, chronoforest, {variant}, distance own"
        for variant in ("verified", "paper")
    ]
    assert all("4 trials" in line for line in told)


def test_another_planner_is_chosen_by_its_name(tmp_path, capsys):
    command = ["run", "--dry-run", "--only", "thin", "--variants", "dataset-graph", "--episodes", "2"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if " trials" in line]
    assert told
    assert all("dataset-graph" in line for line in told)


@pytest.mark.parametrize(
    ("option", "name", "known"),
    [("kinds", "pears", "hamiltonian, multi"), ("variants", "verfied", "verified")],
)
def test_kinds_and_variants_that_no_suite_has_are_refused(tmp_path, capsys, option, name, known):
    command = ["run", "--only", "parts", f"--{option}", name, "--out", str(tmp_path / "out")]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert f"--{option} {name}" in told
    assert known in told
    assert not (tmp_path / "out").exists()


def test_a_suite_runs_reports_and_is_kept(tmp_path, capsys, monkeypatch):
    cheap = registry.SUITES["calibration"]
    point = [case for case in cheap.cases(Request()) if case.preset.startswith("point")]
    monkeypatch.setitem(registry.SUITES, "calibration", replace(cheap, cases=lambda request: point))
    command = ["run", "--only", "calibration", "--out", str(tmp_path)]
    assert main(command) == 0
    assert "1 trials of suite calibration" in capsys.readouterr().out
    assert main([*command, "--dry-run"]) == 0
    assert "1 trials, 1 kept" in capsys.readouterr().out
    line = json.loads((tmp_path / "calibration.jsonl").read_text())
    assert (line["case"]["suite"], line["origin"]["device"]) == ("calibration", "cpu")
    assert json.loads((tmp_path / "config.json").read_text())["commands"][0].startswith(
        "python -m benchmarks "
    )
    for written in (main, cli.main):
        assert written(["report", str(tmp_path)]) == 0
        assert "index.html" in capsys.readouterr().out
        page = (tmp_path / "report" / "index.html").read_text()
        assert "paper 0.00164" in page
        assert f"on cpu, weights {line['origin']['weights']}" in page


def test_records_of_the_protocol_are_not_taken_for_the_paper_s(tmp_path):
    stitch = registry.SUITES["stitch"]
    case = next(case for case in stitch.cases(Request(1, 1)) if "medium" in case.preset)
    refused = replace(stitch, load=lambda choice: None, run=lambda case, _: refuse(case))
    run_cases(refused, [case], tmp_path)
    assert cli.main(["report", str(tmp_path)]) == 0
    assert "# Tables of the benchmark" in (tmp_path / "report" / "report.md").read_text()
    assert cli.main(["report", str(tmp_path), "--suites", "benchmarks.contents"]) == 0
    assert "# The paper's tables" in (tmp_path / "report" / "report.md").read_text()


def refuse(case):
    from chronoforest.bench.trials import Trial

    return Trial(case, plan=None, refusal="not today")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "nothing"], "unknown suite 'nothing'"),
        (["--episodes", "0"], "episodes must be at least 1"),
        (["--preset", "yard"], "another world needs --preset and --only parts"),
        (["--only", "parts", "--weights", "runs/thin"], "another world needs --preset and --only parts"),
        (["--only", "parts", "--preset", "nowhere"], "nowhere"),
    ],
)
def test_bad_requests_are_one_line(options, message, capsys, tmp_path):
    assert main(["run", *options, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--only", "calibration", "--out"],
        ["record", "--world", "strait", "--out"],
        ["expert", "--device", "cpu", "--out"],
        ["report"],
    ],
)
def test_a_file_in_the_place_of_a_folder_is_refused_before_any_work(command, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(strait, "write", lambda path, *_, **__: write_arrays(path, {}))
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert main([*command, str(taken)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(taken) in line
    assert taken.read_text() == "mine"


@pytest.mark.parametrize("module", [flips, throughput, together])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "nowhere"], "unknown preset 'nowhere'"),
        (["--seed", "few"], "--seed"),
        (["nonsense"], "nonsense"),
    ],
)
def test_measurements_explain_what_is_wrong(module, options, message, capsys):
    assert run_alone(f"python -m {module.__name__}", module.main, options) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "option", "message"),
    [
        (throughput, "--count", "count must be at least 1, got 0"),
        (throughput, "--at-once", "at_once must be numbers from 1 on, got (0,)"),
        (together, "--count", "count must be at least 1, got 0"),
        (flips, "--num-draws", "num_draws must be at least 1, got 0"),
    ],
)
def test_measurements_of_nothing_are_refused(module, option, message, capsys):
    assert run_alone(f"python -m {module.__name__}", module.main, [option, "0"]) == 2
    assert message in capsys.readouterr().err


def test_help_lists_both_commands(capsys):
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(text in told for text in ("usage: python -m benchmarks COMMAND", "run", "report"))
