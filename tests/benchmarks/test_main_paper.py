import json
from dataclasses import replace

import pytest

from benchmarks import registry
from benchmarks.forecast import Setting, run_suite
from chronoforest.bench.suite import Request
from chronoforest.cli import main


def test_a_dry_run_lists_trials_and_time_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "paper"
    effort = ["--repeats", "1", "--episodes", "1"]
    assert main(["bench", "paper", "--dry-run", *effort, "--out", str(out), "--data", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for name in registry.SUITES:
        assert f"{name}: " in told
    assert "15 trials, 0 kept; 12.0 s each, 3 min 0 s left" in told
    assert f"left out: no {tmp_path / 'antmaze-giant-stitch-v0.npz'}" in told
    assert "in all, 1 at a time" in told
    assert not out.exists()


def test_a_suite_runs_reports_and_is_kept(tmp_path, capsys):
    cheap = registry.SUITES["calibration"]
    point = [case for case in cheap.cases(Request()) if case.preset.startswith("point")]
    run_suite(replace(cheap, cases=lambda effort: point), Request(), tmp_path, Setting())
    command = ["bench", "paper", "--only", "calibration", "--out", str(tmp_path)]
    assert main([*command, "--dry-run"]) == 0
    assert "1 trials, 1 kept" in capsys.readouterr().out
    assert main(["report", str(tmp_path)]) == 0
    assert "index.html" in capsys.readouterr().out
    page = (tmp_path / "report" / "index.html").read_text()
    assert "paper 0.00164" in page
    line = json.loads((tmp_path / "calibration.jsonl").read_text())
    assert line["case"]["suite"] == "calibration"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "nothing"], "unknown suite 'nothing'"),
        (["--episodes", "0"], "episodes must be at least 1"),
    ],
)
def test_bad_requests_are_one_line(options, message, capsys, tmp_path):
    assert main(["bench", "paper", *options, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
