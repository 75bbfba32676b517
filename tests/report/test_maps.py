import numpy as np
import pytest
from fake_ants import STANCE, gliding_ants

from chronoforest.envs.bodies import AntKinematics
from chronoforest.report import drawing
from chronoforest.report.maps import WHITE, MapPicture, draw_map, paint_limbs, paint_trail, rgb

COLOUR = rgb(drawing.agent_colour(0))


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


def test_a_window_shows_its_centre_and_stays_inside(blank):
    middle = blank.window(np.array([5.0, 5.0]), 80, 120)
    assert middle.canvas.shape == (80, 120, 3)
    np.testing.assert_allclose(middle.pixel(np.array([5.0, 5.0])), [59.5, 39.5], atol=1.0)
    corner = blank.window(np.array([0.0, 0.0]), 80, 120)
    np.testing.assert_allclose(corner.corner, [0.0, 2.0])
    middle.canvas[:] = 7
    assert (blank.canvas == 7).any()
    blank.copy().canvas[:] = 9
    assert not (blank.canvas == 9).any()


def test_trails_leave_out_teleports_and_mark_visits():
    result, (rollout, _) = gliding_ants()
    picture = draw_map(result, (), "", 480)
    paint_trail(picture, rollout, 0, 0, rollout.steps)
    for place in (rollout.xy[rollout.steps // 3], rollout.visited[0]):
        np.testing.assert_allclose(colour_at(picture, place), COLOUR, atol=2)


@pytest.fixture
def black():
    """A unit is a pixel, and y goes upward from the lower edge."""
    return MapPicture(np.zeros((40, 40, 3), dtype=np.uint8), np.array([-0.5, 39.5]), 1.0)


def test_a_disc_is_round_and_may_hang_over_the_edge(black):
    black.paint_disc(np.array([20.0, 20.0]), 5.0, WHITE)
    assert black.canvas[..., 0].sum() / 255 == pytest.approx(np.pi * 25, rel=0.05)
    for centre in ([-2.0, 20.0], [39.0, 41.0], [100.0, 0.0]):
        black.paint_disc(np.array(centre), 5.0, WHITE)
    assert black.canvas[19, 0, 0] == 255


def test_a_line_has_round_ends(black):
    black.paint_line(np.array([8.0, 10.0]), np.array([28.0, 25.0]), 3.0, WHITE)
    assert black.canvas[..., 0].sum() / 255 == pytest.approx(2 * 3.0 * 25 + np.pi * 9, rel=0.05)
    assert colour_at(black, [8.0, 10.0])[0] == colour_at(black, [28.0, 25.0])[0] == 255
    assert colour_at(black, [8.0, 25.0])[0] == 0


def test_colours_are_read_from_their_names():
    np.testing.assert_array_equal(rgb("#d1495b"), [0xD1, 0x49, 0x5B])
