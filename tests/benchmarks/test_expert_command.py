import pytest

from benchmarks.__main__ import main
from benchmarks.expert import locomotion
from benchmarks.expert.locomotion import Report, SeedFigures


@pytest.fixture
def calls(monkeypatch):
    """Trainings that were asked for, none of which takes place."""
    seen = []

    def train(params, run):
        seen.append((params, run))
        run.on_report(Report(50, 100, (0.25, 1.5), (0.0, 2.0)))
        return 1, [SeedFigures(0.25, 0.0, 0.125, 0.0), SeedFigures(1.5, 0.5, 1.25, 2.0)]

    monkeypatch.setattr(locomotion, "train_expert", train)
    return seen


def test_expert_passes_its_options_on_and_prints_every_seed(calls, tmp_path, capsys):
    options = ["--seeds", "2", "--steps", "100", "--envs-per-seed", "3", "--seed", "5"]
    where = ["--out", str(tmp_path / "run"), "--device", "cpu", "--workers", "2"]
    assert main(["expert", *options, *where]) == 0
    ((params, run),) = calls
    assert (params.num_seeds, params.num_steps, params.ants_per_seed, params.seed) == (2, 100, 3, 5)
    assert (run.folder, run.device.type, run.num_workers) == (tmp_path / "run", "cpu", 2)
    assert run.command == "python -m benchmarks expert --seeds 2 --steps 100 --envs-per-seed 3 --seed 5"
    printed = capsys.readouterr().out
    assert "step 50 of 100, 0.25 1.50 units/s, 0.0 2.0 falls/1000" in printed
    assert (
        "seed 1: 1.50 units/s, 0.50 falls/1000; with noise 1.25 units/s, 2.00 falls/1000 (chosen)" in printed
    )
    assert "expert.safetensors: written" in printed
