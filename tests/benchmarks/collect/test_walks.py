import numpy as np
import pytest

from benchmarks.collect.walks import Walks, read_goals
from chronoforest.data.episodes import Episodes, load, write_arrays
from chronoforest.errors import BadDataset

GENERATED = {"name": "antmaze-giant-stitch-v0"}


def ant_episodes(xy, last_quaternion=(1.0, 0.0, 0.0, 0.0), last_height=0.6, metadata=GENERATED):
    """Ants at places xy [E, T, 2] that stand until their last step."""
    observations = np.zeros((*np.shape(xy)[:2], 29), dtype=np.float32)
    observations[..., :2], observations[..., 2], observations[..., 3] = xy, 0.6, 1.0
    observations[:, -1, 2], observations[:, -1, 3:7] = last_height, last_quaternion
    return Episodes(observations, np.zeros((*np.shape(xy)[:2], 8), np.float32), metadata)


def lines(*lengths, num_steps=101):
    """Walks along x at constant pace to the given lengths."""
    x = np.linspace(0.0, 1.0, num_steps) * np.array(lengths)[:, None]
    return np.stack([x, np.zeros_like(x)], axis=-1)


def test_arrivals_are_the_first_step_near_the_goal():
    walks = Walks(ant_episodes(lines(10.0, 9.2, 5.0)), np.tile(np.float32([10.0, 0.0]), (3, 1)))
    assert walks.arrival_steps(0.5).tolist() == [95, np.inf, np.inf]
    assert walks.arrival_steps(1.0).tolist() == [90, 98, np.inf]
    text = walks.summary()
    assert "1 of 3 (33.3 %) within 0.5; 2 of 3 (66.7 %) within 1" in text
    assert "after 95 steps (median)" in text
    assert "0 of 3 (0.0 %) at the end" in text


def test_pace_is_measured_until_arrival_and_without_portals():
    xy = lines(10.0)
    xy = np.concatenate([xy, np.repeat(xy[:, -1:], 50, axis=1)], axis=1)
    xy[:, 30:] += [0.0, 20.0]
    walks = Walks(ant_episodes(xy), np.float32([[10.0, 20.0]]))
    assert "1.00 units/s" in walks.summary()


def test_stuck_is_upright_still_and_away_from_the_goal():
    goals = np.tile(np.float32([10.0, 0.0]), (4, 1))
    xy = lines(1.0, 10.0, 9.0, 1.0)
    xy[1, -60:] = xy[1, -1]
    upright, over = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)
    walks = Walks(ant_episodes(xy, [upright, upright, upright, over]), goals)
    assert walks.is_stuck.tolist() == [True, False, False, False]
    assert walks.is_flipped.tolist() == [False, False, False, True]


def test_goals_are_read_and_checked(tmp_path):
    file = tmp_path / "set.npz"
    arrays = {
        "observations": np.zeros((6, 2), np.float32),
        "actions": np.zeros((6, 2), np.float32),
        "terminals": np.array([False, False, True] * 2),
    }
    write_arrays(file, arrays)
    assert read_goals(file, 2) is None
    write_arrays(file, {**arrays, "goals": np.ones((2, 2), np.float32)})
    assert load(file).observations.shape == (2, 3, 2)
    np.testing.assert_array_equal(read_goals(file, 2), np.ones((2, 2)))
    write_arrays(file, {**arrays, "goals": np.ones((3, 2), np.float32)})
    with pytest.raises(BadDataset, match=r"goals have shape \[3, 2\], expected finite \[2, 2\]"):
        read_goals(file, 2)
