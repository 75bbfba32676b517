"""The whole way with the weights that ship: from the command line to a goal reached in MuJoCo."""

import pytest

from chronoforest.cli import main
from chronoforest.execution.rollout import load_rollouts
from chronoforest.exports.saved import load_result

pytestmark = pytest.mark.slow


def test_the_first_task_of_the_giant_maze_is_planned_and_walked(tmp_path, capsys):
    assert main(["run", "--preset", "pointmaze-giant-stitch-v0", "--task", "1", "--out", str(tmp_path)]) == 0
    assert load_result(tmp_path / "plan.json").complete
    (rollout,) = load_rollouts(tmp_path / "rollout.json")
    assert rollout.success_within(1000), rollout.summary()
    assert (tmp_path / "walk.mp4").stat().st_size > 0
    assert "arrived" in capsys.readouterr().out
