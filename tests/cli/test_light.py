"""A mistake is answered before anything heavy is imported: what is loaded by then, not how long it took."""

import json
import subprocess
import sys

from drives import learned_town

from benchmarks.diffusion_ql import DiffusionQLParams
from chronoforest import names
from chronoforest.models.tracking import TRACKERS, get_tracker
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

RUN = ["run", "--preset", "ant-giant", "--task", "1"]

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
    "a mode": [*RUN, "--mode", "faster"],
    "a planner": [*RUN, "--planner", "data-graph"],
    "a tracker": [*RUN, "--tracker", "arw"],
    "a distance": [*RUN, "--distance", "papr"],
    "a device": [*RUN, "--device", "gpu"],
    "weights": [*RUN, "--weights", "nowhere"],
    "a departure": [*PLAN, "--depart", "tomorrow"],
    "a time": [*PLAN, "--seconds", "-1"],
    "points": [*PLAN, "--waypoints", "1;2"],
    "too few goals": ["plan", "--preset", "ant-giant", "--starts", "0,0 4,0", "--goals", "52,36"],
    "points in no file": [*PLAN, "--waypoints", "nowhere.csv"],
    "no problem": ["plan", "--preset", "ant-giant"],
    "an ending": [*PLAN, "--out", "plan.kml"],
    "a problem in no file": ["plan", "--preset", "ant-giant", "--problem", "nowhere.json"],
    "problems in no file": ["plan", "--preset", "ant-giant", "--problem", "nowhere.jsonl"],
    "problems and a start": [*PLAN, "--problem", "nowhere.jsonl"],
    "a task": ["run", "--preset", "ant-giant", "--task", "6"],
    "the demo's weights": ["demo", "--weights", "nowhere"],
    "a viewer's preset": ["view", "--preset", "moon"],
    "a viewer's port": ["view", "--port", "99999"],
    "a seed": [*PLAN, "--seed", "-1"],
    "the demo's seed": ["demo", "--seed", "-1"],
    "a walk's seed": ["run", "--preset", "ant-giant", "--task", "1", "--seed", "-1"],
    "workers": [*PLAN, "--workers", "0"],
    "workers for one problem": [*PLAN, "--workers", "2"],
    "an engine": [*PLAN, "--workers", "rye"],
    "recordings": ["data", "import", "nowhere.csv", "--out", "yard.npz"],
    "a dataset": ["data", "inspect", "nowhere.npz"],
    "a training's data": ["train", "all", "--preset", "ant-giant", "--data", "nowhere.npz"],
    "a training's steps": ["train", "all", "--preset", "ant-giant", "--steps", "0"],
    "a training's batch": ["train", "all", "--preset", "ant-giant", "--batch", "0"],
    "a learning rate": ["train", "all", "--preset", "ant-giant", "--learning-rate", "0"],
    "a training's device": ["train", "all", "--preset", "ant-giant", "--device", "toaster"],
    "a tracker to train": ["train", "tracker", "--preset", "ant-giant", "--tracker", "sac"],
    "nothing to import": ["data", "import", "--out", "x.npz"],
    "a dataset's ending": ["data", "import", "trips.csv", "--out", "x.csv"],
    "both directions": ["learn", "trips.csv", "--both-ways", "--one-way"],
    "nothing to add": ["learn", "--add"],
    "a training's preset": ["train", "all", "--preset", "moon"],
    "recordings of a preset": ["preset", "new", "yard", "--data", "nowhere.npz"],
    "a list of presets": ["preset", "list"],
}

SENTENCES = {
    "a preset": "unknown preset 'ant-gaint'; did you mean 'ant",
    "a variant": "unknown variant 'onlin'",
    "a planner": "unknown planner 'data-graph'; did you mean",
    "points": "'1;2'",
    "too few goals": "every agent needs one start and one goal",
    "no problem": "there is no start",
    "problems and a start": "--problem nowhere.jsonl says where to go; leave out --starts, --goals",
    "workers for one problem": "--workers is for a file of many",
    "a task": "task must be 1…5, got 6",
    "a viewer's preset": "'moon'",
    "a viewer's port": "cannot listen on port 99999",
    "a training's preset": "unknown preset 'moon'; available: ",
    "a training's steps": "steps must be at least 1, got 0",
    "a training's batch": "batch must be at least 1, got 0",
    "a learning rate": "learning_rate must be above 0, got 0.0",
    "a training's device": "device must be auto, cpu or cuda, got 'toaster'",
    "a tracker to train": "unknown tracker 'sac'; available: awr, bc, diffusion-ql",
    "nothing to import": "no files to import",
    "a dataset's ending": "--out must end in .npz",
    "both directions": "--both-ways and --one-way exclude each other",
    "nothing to add": "--add needs recordings to take in",
}
"""What some of them are answered."""

SCRIPT = """
import contextlib, io, json, os, sys
import numpy, tyro
from chronoforest.cli import main, terminal

def answer(words, folder):
    os.makedirs(folder)
    os.chdir(folder)
    error = io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    return [code, [name for name in heavy if name in sys.modules], error.getvalue(), os.listdir()]

heavy, asked, folder = json.load(sys.stdin)
for number, words in enumerate(asked):
    if os.fork() == 0:
        print(json.dumps(answer(words, os.path.join(folder, str(number)))), flush=True)
        os._exit(0)
    os.wait()
"""


def answers(asked, folder, heavy=HEAVY):
    """Exit code, what was imported of what is heavy, the error, and the files written: for each command, in a
    process of its own that has imported nothing but the command line."""
    given = json.dumps([heavy, asked, str(folder / "commands")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_mistake_is_answered_before_anything_heavy_is_imported(tmp_path):
    found = answers(list(MISTAKES.values()), tmp_path)
    for mistake, (code, loaded, error, files) in zip(MISTAKES, found, strict=True):
        is_fine = mistake in ("no arguments", "a list of presets") or mistake.startswith("help")
        assert (mistake, code, loaded, files) == (mistake, 0 if is_fine else 2, [], []), error
        assert SENTENCES.get(mistake, "") in error, mistake
        assert error.count("\n") == 1 or not error.startswith("chronoforest: "), error


def test_a_preset_that_nobody_has_trained_is_answered_before_anything_heavy_is_imported(tmp_path):
    (tmp_path / "yard.toml").write_text("")
    words = ["plan", "--preset", str(tmp_path / "yard.toml"), "--starts", "0,0", "--goals", "1,1"]
    ((code, loaded, error, _),) = answers([words], tmp_path)
    assert (code, loaded) == (2, [])
    assert "yard" in error


def test_the_names_that_are_checked_early_are_those_that_exist():
    assert set(names.PRESETS.values()) == set(PRESETS)
    assert set(VARIANTS) == set(names.VARIANTS)
    assert (*TRACKERS, DiffusionQLParams.name) == names.TRACKERS
    assert all(get_tracker(name).settings.name == name for name in names.TRACKERS)


def test_a_plan_over_recorded_ways_does_not_wait_for_torch(tmp_path, monkeypatch):
    learned_town(tmp_path, monkeypatch)
    words = ["plan", "--preset", str(tmp_path / "town.toml"), "--starts", "0,0", "--goals", "500,500"]
    ((code, loaded, error, _),) = answers([words], tmp_path, ("torch", "scipy.stats"))
    assert (code, loaded) == (0, []), error
