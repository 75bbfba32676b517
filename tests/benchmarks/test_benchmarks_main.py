import json
from dataclasses import replace
from itertools import product

import pytest

from benchmarks import registry
from benchmarks.__main__ import main
from benchmarks.suite import Request
from benchmarks.worlds import strait
from chronoforest.data.episodes import write_arrays


def test_some_kinds_and_variants_of_a_suite_can_be_chosen(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("benchmarks.run.run_cases", lambda suite, cases, *_, **__: asked.extend(cases) or [])
    some = ["--kinds", "pairs", "multi", "--variants", "paper", "verified"]
    command = ["run", "--only", "parts", "--repeats", "1", "--episodes", "2", *some]
    assert main([*command, "--out", str(tmp_path)]) == 0
    assert {(case.suite, case.variant) for case in asked} == set(
        product(("pairs", "multi"), ("paper", "verified"))
    )
    assert len(asked) == 8


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
    line = json.loads((tmp_path / "calibration.jsonl").read_text())
    assert (line["case"]["suite"], line["origin"]["device"]) == ("calibration", "cpu")
    assert json.loads((tmp_path / "config.json").read_text())["commands"][0].startswith(
        "python -m benchmarks "
    )
    assert main(["report", str(tmp_path)]) == 0
    assert "index.html" in capsys.readouterr().out
    page = (tmp_path / "report" / "index.html").read_text()
    assert "paper 0.00164" in page
    assert f"on cpu, weights {line['origin']['weights']}" in page


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
        ["record", "strait", "--out"],
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
