"""A mistake is answered before anything heavy is imported: what is loaded by then, not how long it took."""

import json
import subprocess
import sys

import pytest

from chronoforest import names
from chronoforest.bench.references import REFERENCES
from chronoforest.models.tracking.kinds import TRACKERS
from chronoforest.planning.variants import VARIANTS
from chronoforest.presets.named import PRESETS

HEAVY = (
    "torch",
    "scipy",
    "matplotlib",
    "gymnasium",
    "mujoco",
    "ogbench",
    "pyvrp",
    "safetensors",
    "joblib",
    "fastapi",
    "ray",
)

PLAN = ["plan", "--preset", "ant-giant", "--starts", "0,0", "--goals", "52,36"]

MISTAKES = {
    "no arguments": [],
    "help": ["--help"],
    "help as a verb": ["help"],
    "help as a verb, of a verb": ["help", "plan"],
    "a verb": ["plna"],
    "an option of no verb": ["--versoin"],
    "help of a verb": ["plan", "--help"],
    "an option": [*PLAN, "--sede", "1"],
    "a preset": ["plan", "--preset", "ant-gaint", "--starts", "0,0", "--goals", "52,36"],
    "a variant": [*PLAN, "--variant", "onlin"],
    "a mode": [*PLAN, "--mode", "faster"],
    "a planner": [*PLAN, "--planner", "data-graph"],
    "a tracker": [*PLAN, "--tracker", "arw"],
    "a distance": [*PLAN, "--distance", "papr"],
    "a device": [*PLAN, "--device", "gpu"],
    "weights": [*PLAN, "--weights", "nowhere"],
    "a time": [*PLAN, "--seconds", "-1"],
    "points": [*PLAN, "--waypoints", "1;2"],
    "too few goals": ["plan", "--preset", "ant-giant", "--starts", "0,0 4,0", "--goals", "52,36"],
    "points in no file": [*PLAN, "--waypoints", "nowhere.csv"],
    "no problem": ["plan", "--preset", "ant-giant"],
    "an ending": [*PLAN, "--out", "plan.kml"],
    "a problem in no file": ["plan", "--preset", "ant-giant", "--problem", "nowhere.json"],
    "problems in no file": ["plan", "--preset", "ant-giant", "--problems", "nowhere.jsonl"],
    "problems and a start": [*PLAN, "--problems", "nowhere.jsonl"],
    "a task": ["run", "--preset", "ant-giant", "--task", "6"],
    "the demo's weights": ["demo", "--weights", "nowhere"],
    "a viewer's preset": ["view", "--preset", "moon"],
    "a viewer's port": ["view", "--port", "99999"],
    "a bench's preset": ["bench", "pairs", "--preset", "moon"],
    "a bench's workers": ["bench", "multi", "--preset", "ant-giant", "--workers", "0"],
    "a bench's engine": ["bench", "pairs", "--preset", "ant-giant", "--engine", "rye"],
    "a share of a GPU": ["bench", "pairs", "--preset", "ant-giant", "--gpus-per-worker", "0.1"],
    "a bench's episodes": ["bench", "pairs", "--preset", "ant-giant", "--episodes", "0"],
    "a bench's seed": ["bench", "pairs", "--preset", "ant-giant", "--seed", "-1"],
    "a tracker's path": ["bench", "track", "--preset", "ant-giant", "--reference", "straight"],
    "a seed": [*PLAN, "--seed", "-1"],
    "the demo's seed": ["demo", "--seed", "-1"],
    "a walk's seed": ["run", "--preset", "ant-giant", "--task", "1", "--seed", "-1"],
    "records": ["report", "nowhere"],
    "a recording's world": ["data", "generate", "moon"],
    "recordings": ["data", "import", "nowhere.csv", "--out", "yard.npz"],
    "a dataset": ["data", "inspect", "nowhere.npz"],
    "a training's data": ["train", "all", "--preset", "ant-giant", "--data", "nowhere.npz"],
    "a training's steps": ["train", "all", "--preset", "ant-giant", "--steps", "0"],
    "a training's preset": ["train", "all", "--preset", "moon"],
    "recordings of a preset": ["preset", "new", "yard", "--data", "nowhere.npz"],
    "a list of presets": ["preset", "list"],
}

SCRIPT = """
import json, sys
from chronoforest.cli import main
code = main(json.loads(sys.argv[1]))
print(json.dumps([code, [name for name in json.loads(sys.argv[2]) if name in sys.modules]]))
"""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_before_anything_heavy_is_imported(mistake, tmp_path):
    command = [sys.executable, "-c", SCRIPT, json.dumps(MISTAKES[mistake]), json.dumps(HEAVY)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    assert loaded == []
    is_fine = mistake in ("no arguments", "a list of presets") or mistake.startswith("help")
    assert code == (0 if is_fine else 2), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_preset_that_nobody_has_trained_is_answered_before_anything_heavy_is_imported(tmp_path):
    (tmp_path / "yard.toml").write_text("")
    words = ["plan", "--preset", "yard", "--starts", "0,0", "--goals", "1,1"]
    command = [sys.executable, "-c", SCRIPT, json.dumps(words), json.dumps(HEAVY)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [2, []]
    assert "yard has not been trained" in done.stderr
    assert "`chronoforest train all --preset yard` makes it" in done.stderr


def test_the_names_that_are_checked_early_are_those_that_exist():
    assert set(names.PRESETS.values()) == set(PRESETS)
    assert set(VARIANTS) == set(names.VARIANTS)
    assert tuple(TRACKERS) == names.TRACKERS
    assert tuple(REFERENCES) == names.REFERENCES
