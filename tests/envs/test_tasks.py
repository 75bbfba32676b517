import subprocess
import sys

import numpy as np
import pytest

from chronoforest.envs.tasks import make_env, reset_at, reset_task, world
from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownEnvironment


@pytest.fixture(scope="module")
def teleport():
    return make_env("pointmaze-teleport-stitch-v0")


def walk(env, reset, num_steps=60):
    """Everything a run shows: start, goal and observations under random but fixed actions."""
    start = reset()
    actions = np.random.default_rng(5).uniform(-1, 1, (num_steps, *env.action_space.shape))
    rows = [env.step(action)[0] for action in actions]
    return np.concatenate([start.goal, start.observation, *rows])


@pytest.mark.parametrize("name", ["pointmaze-giant-stitch-v0", "antmaze-medium-stitch-v0"])
def test_two_runs_with_one_seed_are_identical(name):
    env = make_env(name)
    first = walk(env, lambda: reset_task(env, 2, seed=7))
    np.random.rand(13)
    env.action_space.sample()
    np.testing.assert_array_equal(first, walk(env, lambda: reset_task(env, 2, seed=7)))
    np.testing.assert_array_equal(first, walk(other := make_env(name), lambda: reset_task(other, 2, seed=7)))
    assert (first != walk(env, lambda: reset_task(env, 2, seed=8))).any()


def test_a_seed_also_decides_the_exits_of_portals(teleport):
    """Walking up from (5, 6) enters the portal at (4, 6); its exit is drawn from the global generator."""

    def exits(seed):
        reset_at(teleport, [20.0, 16.0], [0.0, 0.0], seed)
        return np.array([teleport.step(np.array([0.0, -1.0]))[0] for _ in range(60)])

    runs = [exits(seed) for seed in range(6)]
    assert np.abs(np.diff(runs[0], axis=0)).max() > 1.5
    assert len({run[-1].tobytes() for run in runs}) > 1
    np.testing.assert_array_equal(runs[3], exits(3))


def test_start_and_goal_of_a_task_are_jittered_by_at_most_one(teleport):
    start = reset_task(teleport, 1, seed=0)
    centre_start, centre_goal = np.array([36.0, 0.0]), np.array([0.0, 24.0])
    assert 0 < np.abs(start.observation - centre_start).max() <= 1
    assert 0 < np.abs(start.goal - centre_goal).max() <= 1


@pytest.mark.parametrize("name", ["pointmaze-giant-stitch-v0", "antmaze-giant-stitch-v0"])
def test_reset_at_places_agent_and_goal_exactly(name):
    env = make_env(name)
    start = reset_at(env, [51.5, 35.5], [16.3, 20.2], seed=3)
    np.testing.assert_allclose(start.observation[:2], [51.5, 35.5])
    np.testing.assert_allclose(start.goal, [16.3, 20.2])
    np.testing.assert_array_equal(env.unwrapped.cur_goal_xy, start.goal)
    _, _, is_done, _, info = env.step(np.zeros(env.action_space.shape))
    assert info["success"] == 0.0
    assert not is_done


def test_success_is_reported_at_an_arbitrary_goal():
    env = make_env("pointmaze-giant-stitch-v0")
    reset_at(env, [0.0, 0.0], [0.0, 1.05], seed=0)
    _, _, is_done, _, info = env.step(np.array([0.0, 1.0]))
    assert is_done
    assert info["success"] == 1.0


def test_bad_requests_say_what_would_work(teleport):
    with pytest.raises(UnknownEnvironment, match=r"'pointmaze-tiny.*pointmaze-giant-stitch-v0"):
        world("pointmaze-tiny-stitch-v0")
    with pytest.raises(InvalidParameter, match=r"1…5, got 6"):
        reset_task(teleport, 6, seed=0)
    with pytest.raises(InvalidProblem, match=r"goal \(16, 16\) lies in a wall"):
        reset_at(teleport, [0, 0], [16, 16], seed=0)
    with pytest.raises(InvalidProblem, match="start must be a finite point"):
        reset_at(teleport, [0, np.nan], [0, 0], seed=0)


def test_importing_the_package_does_not_load_the_simulator():
    code = (
        "import sys, chronoforest.envs.tasks; sys.exit('mujoco' in sys.modules or 'ogbench' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
