import numpy as np
import pytest

from chronoforest.envs.tasks import make_env, reset_at
from chronoforest.execution.righting import LegNames, names_for


@pytest.fixture(scope="module")
def env():
    return make_env("antmaze-medium-stitch-v0", max_episode_steps=100_000, terminate_at_goal=False)


def moved(env, observation, action):
    env.unwrapped.set_state(observation[:15].copy(), observation[15:].copy())
    return env.step(action)[0]


@pytest.mark.parametrize("names", [LegNames(turns, sign) for turns in range(4) for sign in (1.0, -1.0)])
def test_by_other_names_it_is_the_same_ant(env, names):
    """An action by these names and one step lead to the same as the step and then the names."""
    rng = np.random.default_rng(0)
    observation = reset_at(env, [0, 0], [4, 4], seed=0).observation
    for action in rng.uniform(-1, 1, (10, 8)):
        following = moved(env, observation, names.torques(action))
        by_names = moved(env, names.observed(observation), action)
        np.testing.assert_allclose(by_names, names.observed(following), atol=1e-6)
        observation = following


def test_no_turn_changes_nothing():
    observation, action = np.random.default_rng(1).normal(size=29), np.arange(8.0)
    np.testing.assert_array_equal(LegNames(0, 1.0).observed(observation), observation)
    np.testing.assert_array_equal(LegNames(0, 1.0).torques(action), action)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("degrees", [-170, -100, -50, -40, 0, 40, 50, 130, 180])
def test_names_are_chosen_so_that_it_faces_as_ants_start(degrees, sign):
    half = np.radians(degrees) / 2
    observation = np.zeros(29)
    observation[3:7] = sign * np.array([np.cos(half), 0, 0, np.sin(half)])
    w, x, y, z = names_for(observation[:15]).observed(observation)[3:7]
    assert (x, y) == (0, 0)
    assert 2 * np.degrees(np.arctan2(abs(z), w)) <= 45 + 1e-9
