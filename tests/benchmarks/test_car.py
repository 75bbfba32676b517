"""The car's world: what its driver records is driven without fault, and the judge finds planted faults."""

import numpy as np
import pytest

from benchmarks.worlds.car import (
    HEADING,
    SPEED,
    drivable,
    followed,
    free_states,
    record,
    yard,
)

YARD = yard()
TIMES = np.arange(101) / 10


@pytest.fixture(scope="module")
def drives():
    return record(YARD, 40, seed=3)


def test_recordings_touch_nothing_and_keep_the_limits(drives):
    assert drives.shape == (40, 101, 4)
    assert not YARD.touches(drives.reshape(-1, 4)).any()
    assert drivable(YARD.vehicle, drives, TIMES).all()
    assert all(YARD.judged(drive, TIMES).is_sound for drive in drives[:10])


def test_recordings_are_the_same_for_the_same_seed(drives):
    np.testing.assert_array_equal(record(YARD, 40, seed=3), drives)


def test_the_driver_also_drives_backward_but_not_down_the_ramp(drives):
    assert (drives[..., SPEED] < -0.5).any()
    assert not YARD.against(drives.reshape(-1, 4)).any()


def straight(heading: float = 0.0, speed: float = 2.0):
    """Four seconds along the middle aisle."""
    times = np.arange(41) / 10
    path = np.zeros((41, 4))
    path[:, 0], path[:, 1], path[:, SPEED] = 30.0 + speed * times, 26.0, speed
    return path, times


def test_a_straight_drive_is_sound():
    assert YARD.judged(*straight()).is_sound


def sideways(path):
    path[20:, 1] += 0.4


def through_a_wall(path):
    path[:, 1] -= 6.0


def wrong_heading(path):
    path[:, HEADING] = 0.5


def sudden_speed(path):
    path[20:, SPEED] += 2.0


def reversed_without_moving_back(path):
    path[:, SPEED] = -1.0


@pytest.mark.parametrize(
    ("plant", "fault"),
    [
        (sideways, "moves sideways"),
        (through_a_wall, "touches a wall"),
        (wrong_heading, "moves sideways"),
        (sudden_speed, "accelerates too hard"),
        (reversed_without_moving_back, "speed is not the motion's"),
    ],
)
def test_the_judge_finds_a_planted_fault(plant, fault):
    path, times = straight()
    plant(path)
    assert fault in YARD.judged(path, times).faults


def circle(radius: float):
    """A quarter of a circle in the middle aisle's western end."""
    times = np.linspace(0.0, 0.5 * np.pi * radius, 60)
    turn = times / radius
    x, y = 4.0 + radius * np.sin(turn), 20.0 + radius * (1.0 - np.cos(turn))
    return np.stack([x, y, turn, np.ones(60)], axis=1), times


def test_the_judge_finds_a_turn_that_is_too_tight():
    assert "turns too tightly" not in YARD.judged(*circle(4.0)).faults
    assert "turns too tightly" in YARD.judged(*circle(3.0)).faults


def test_the_judge_finds_who_drives_down_the_ramp():
    times = np.arange(41) / 10
    path = np.stack([np.full(41, 42.0), 38.0 - times, np.full(41, -np.pi / 2), np.ones(41)], axis=1)
    assert YARD.judged(path, times).faults == ("against the ramp",)
    path[:, HEADING], path[:, SPEED] = np.pi / 2, -1.0  # backward is against it, too
    assert YARD.judged(path, times).faults == ("against the ramp",)


def test_the_tracker_arrives_where_a_recorded_drive_ends(drives):
    stopped = [drive for drive in record(YARD, 60, seed=4) if abs(drive[-1, SPEED]) < 0.05]
    driven = [followed(YARD, drive, TIMES) for drive in stopped[:6]]
    assert np.mean([drive.has_arrived for drive in driven]) >= 0.8


def test_the_tracker_does_not_arrive_where_no_car_could():
    path, times = straight()
    path[:, SPEED] = np.minimum(2.0, 2.0 * (times[-1] - times))
    path[:, 0] = 30.0 + np.concatenate([[0.0], np.cumsum(0.05 * (path[1:, SPEED] + path[:-1, SPEED]))])
    assert followed(YARD, path, times).has_arrived
    sideways(path)
    path[30:, 1] += 3.0
    assert not followed(YARD, path, times).has_arrived


def test_cars_stand_free_where_they_are_drawn():
    assert not YARD.touches(free_states(YARD, 200, np.random.default_rng(0))).any()
    assert not YARD.touches(np.concatenate([YARD.bays, YARD.tight])).any()
