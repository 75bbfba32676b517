from __future__ import annotations

import numpy as np
import pytest

from chronoforest.envs.bodies import is_upside_down, pose_of, tilt
from chronoforest.envs.tasks import make_env, reset_at
from chronoforest.execution.righting import (
    GATHER_STEPS,
    SPREAD_STEPS,
    UPRIGHT_TILT,
    LegNames,
    Rocking,
    names_for,
    rock,
)

ANT = "antmaze-medium-stitch-v0"
NUM_ANTS, NUM_STEPS = 6, 300


@pytest.fixture(scope="module")
def env():
    return make_env(ANT, max_episode_steps=100_000, terminate_at_goal=False)


def laid_on_its_back(env, seed):
    """An ant dropped upside down, turned anyhow, with any joints, that has come to rest."""
    rng = np.random.default_rng(seed)
    reset_at(env, [0, 0], [4, 4], seed=seed)
    state, turn = env.unwrapped.data.qpos.copy(), rng.uniform(0, np.pi)
    state[2:7] = [0.4, 0, np.cos(turn), np.sin(turn), 0]
    state[7:] += rng.uniform(-0.3, 0.3, 8)
    env.unwrapped.set_state(state, np.zeros(14))
    return after(env, lambda pose: np.zeros(8), num_steps=15)


def after(env, act, num_steps):
    for _ in range(num_steps):
        observation, *_ = env.step(act(pose_of(env.unwrapped.get_ob())))
    return pose_of(observation)


def gets_up(env, pose):
    """Whether it stands for ten steps in a row; on its feet it does nothing, and may fall back."""
    rocking, num_upright = None, 0
    for _ in range(NUM_STEPS):
        rocking = rock(pose, rocking)
        observation, *_ = env.step(np.zeros(8) if rocking is None else rocking.action)
        pose = pose_of(observation)
        num_upright = num_upright + 1 if tilt(pose) < UPRIGHT_TILT else 0
        if num_upright == 10:
            return True
    return False


def pose_tilted(degrees):
    half = np.radians(degrees) / 2
    return np.array([0, 0, 0.5, np.cos(half), np.sin(half), 0, 0, *np.zeros(8)])


def test_an_ant_that_lies_on_its_back_rocks_until_it_is_on_its_feet(env):
    num_up = 0
    for seed in range(NUM_ANTS):
        pose = laid_on_its_back(env, seed)
        assert is_upside_down(pose)
        num_up += gets_up(env, pose)
    assert num_up >= NUM_ANTS - 1


def test_without_rocking_it_stays_down(env):
    laid_on_its_back(env, 0)
    assert is_upside_down(after(env, lambda pose: np.zeros(8), num_steps=NUM_STEPS))


def test_it_begins_upside_down_and_ends_nearly_upright():
    assert rock(pose_tilted(80), None) is None
    begun = rock(pose_tilted(100), None)
    assert begun is not None
    assert rock(pose_tilted(80), begun) is not None
    assert rock(pose_tilted(40), begun) is None


def test_a_rock_gathers_the_legs_then_spreads_them_and_begins_anew():
    rocking, actions = None, []
    for _ in range(GATHER_STEPS + SPREAD_STEPS + 1):
        rocking = rock(pose_tilted(150), rocking)
        actions.append(rocking.action)
    gather = actions[0]
    expected = [*[gather] * GATHER_STEPS, *[-gather] * SPREAD_STEPS, gather]
    np.testing.assert_array_equal(actions, expected)


@pytest.mark.parametrize("quarter", range(4))
def test_the_two_legs_it_leans_on_are_drawn_together(quarter):
    half, yaw = np.radians(75), quarter * np.pi / 2
    pose = pose_tilted(0)
    pose[3:7] = [np.cos(half), np.sin(half) * np.cos(yaw), np.sin(half) * np.sin(yaw), 0]
    hips = rock(pose, None).action[[2, 4, 6, 0]]
    legs = np.exp(1j * np.radians([45, 135, 225, 315]))  # where those hips' legs point, seen from above
    low = np.argsort((legs * np.conj(lean(pose))).real)[-2:]
    turned = legs * np.exp(0.1j * hips)
    assert abs(np.diff(turned[low]))[0] < abs(np.diff(legs[low]))[0]


def lean(pose):
    """Where the world's down points in the torso's own plane, as a complex number."""
    w, x, y, z = pose[3:7]
    return -2 * complex(x * z - w * y, y * z + w * x)


def test_a_point_never_rocks():
    assert rock(np.zeros(0), None) is None


def test_it_goes_on_where_it_was():
    assert rock(pose_tilted(150), Rocking(np.ones(8), 3)).step == 4


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
