import numpy as np
import pytest

from chronoforest.execution.rollout import Rollout
from chronoforest.view.bodies import Body

UPRIGHT = [1.0, 0.0, 0.0, 0.0]
ANKLES = [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]


def test_a_point_has_no_limbs():
    assert Body().limbs(Rollout(np.zeros((3, 2)), "none")) is None


def test_an_ant_has_a_torso_and_legs_around_it_at_every_second_step():
    pytest.importorskip("ogbench")
    poses = np.array([[x, 7.0, 0.6, *UPRIGHT, *ANKLES] for x in (5.0, 6.0)])
    limbs = Body().limbs(Rollout(np.zeros((4, 2)), "none", poses=poses))
    assert limbs["stride"] == 2
    assert limbs["ends"][0] == limbs["ends"][1]
    ends = np.array(limbs["ends"][0]).reshape(-1, 2, 2)
    assert len(ends) == len(limbs["radii"])
    torso = int(np.argmax(limbs["radii"]))
    np.testing.assert_allclose(ends[torso], 0.0, atol=1e-6)
    feet = ends[np.linalg.norm(ends, axis=2).max(axis=1) > 0.6]
    directions = {(bool(x > 0), bool(y > 0)) for x, y in feet[:, 1]}
    assert len(directions) == 4
