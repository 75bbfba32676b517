from itertools import pairwise

import numpy as np
from fake_ants import STANCE

from chronoforest.envs.bodies import AntKinematics, is_upside_down, pose_of
from chronoforest.envs.tasks import make_env, reset_at


def test_limbs_are_where_the_simulator_has_them():
    env = make_env("antmaze-medium-stitch-v0")
    start = reset_at(env, [4.0, 4.0], [20.0, 20.0], seed=3)
    limbs = AntKinematics()(pose_of(start.observation))
    data, model = env.unwrapped.data, env.unwrapped.model
    centres = data.geom_xpos[model.geom_bodyid > 0]
    np.testing.assert_allclose(limbs.ends.mean(axis=1), centres, atol=1e-6)
    assert len(limbs.radii) == 13


def test_limbs_hang_together():
    """A torso and four legs of three parts; every part but the torso touches another one."""
    limbs = AntKinematics()(STANCE)
    np.testing.assert_array_equal(limbs.ends[0, 0], limbs.ends[0, 1])
    np.testing.assert_allclose(limbs.ends[0, 0], STANCE[:3])
    for leg in limbs.ends[1:].reshape(4, 3, 2, 3):
        for upper, lower in pairwise(leg):
            gaps = np.linalg.norm(upper[:, None] - lower[None], axis=-1)
            assert gaps.min() < 1e-9
    assert limbs.ends[..., 2].min() > 0.0


def test_a_pose_is_read_from_an_ant_and_not_from_a_point():
    np.testing.assert_array_equal(pose_of(np.arange(29.0)), np.arange(15.0))
    assert pose_of(np.zeros(2)).shape == (0,)


def test_a_torso_is_upside_down_when_its_upper_side_points_down():
    import mujoco

    quaternions = np.random.default_rng(0).normal(size=(50, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    poses, upward = np.zeros((50, 15)), np.zeros((50, 9))
    poses[:, 3:7] = quaternions
    for quaternion, matrix in zip(quaternions, upward, strict=True):
        mujoco.mju_quat2Mat(matrix, quaternion)
    np.testing.assert_array_equal(is_upside_down(poses), upward[:, 8] < 0)
    assert is_upside_down(poses[0]) == is_upside_down(poses)[0]
    assert not is_upside_down(np.zeros((7, 0))).any()  # a point is never
