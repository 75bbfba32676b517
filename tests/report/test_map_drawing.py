import numpy as np
import pytest
from fake_ants import STANCE, gliding_ants

from chronoforest.envs.bodies import AntKinematics
from chronoforest.report import drawing
from chronoforest.report.maps import MapPicture, draw_map, paint_limbs, paint_trail

COLOUR = drawing.rgb(drawing.agent_colour(0))


@pytest.fixture
def blank():
    """Ten units across, 40 pixels each, y upward."""
    return MapPicture(np.full((400, 400, 3), 200, dtype=np.uint8), np.array([0.0, 10.0]), 40.0)


def colour_at(picture, place):
    column, row = np.round(picture.pixel(np.asarray(place))).astype(int)
    return picture.canvas[row, column].astype(float)


def is_shade(colour):
    """Whether a pixel is the agent's colour, perhaps darker."""
    share = colour / COLOUR
    return np.ptp(share) < 0.05 and share.max() <= 1.01


@pytest.mark.parametrize("enlarge", [1.0, 1.8])
def test_legs_are_painted_where_the_kinematics_put_them(blank, enlarge):
    pose = STANCE.copy()
    pose[:2] = [4.0, 6.0]
    limbs = AntKinematics()(pose)
    paint_limbs(blank, limbs, agent=0, enlarge=enlarge)
    middle = np.array([4.0, 6.0])
    for place in limbs.ends[..., :2].reshape(-1, 2):
        assert is_shade(colour_at(blank, middle + enlarge * (place - middle)))
    between = middle + enlarge * np.array([0.6, 0.0])  # no leg points along x in this stance
    np.testing.assert_array_equal(colour_at(blank, between), 200)


def test_feet_are_darker_than_the_back(blank):
    pose = STANCE.copy()
    pose[:2] = 5.0
    limbs = AntKinematics()(pose)
    paint_limbs(blank, limbs, agent=0)
    foot = limbs.ends[limbs.ends[..., 2] < 0.2][0, :2]
    assert colour_at(blank, foot).sum() < 0.7 * colour_at(blank, [5.0, 5.0]).sum()


def test_trails_leave_out_teleports_and_mark_visits():
    result, (rollout, _) = gliding_ants()
    picture = draw_map(result, (), "", 480)
    paint_trail(picture, rollout, 0, 0, rollout.steps)
    for place in (rollout.xy[rollout.steps // 3], rollout.visited[0]):
        np.testing.assert_allclose(colour_at(picture, place), COLOUR, atol=2)


def test_colours_are_read_from_their_names():
    np.testing.assert_array_equal(drawing.rgb("#d1495b"), [0xD1, 0x49, 0x5B])
