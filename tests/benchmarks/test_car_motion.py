"""Generated motion between states, and the graph that it makes: ends, support, limits, stops."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.experiments.car import NearestStretch, cubic_curves, plan_lines, segment_lines, smoothed
from benchmarks.motion.graph import Ground, Limits, MotionWorld, plan_motion
from benchmarks.motion.model import (
    MotionNet,
    MotionParams,
    MotionSampler,
    load,
    placed_at,
    seen_from,
    train,
    windows,
)
from benchmarks.worlds.car import record, wrapped, yard

OUTLINE = (2.9, 0.7, 0.8)


@pytest.fixture(scope="module")
def drives():
    return record(yard(), 60, seed=5)


@pytest.fixture(scope="module")
def lane():
    """Drives along a straight lane of 40 m, east only: from standing to two metres a second and back."""
    times = np.arange(101) / 10
    speed = np.clip(np.minimum(times, 10.0 - times), 0.0, 2.0)
    along = np.concatenate([[0.0], np.cumsum(0.05 * (speed[1:] + speed[:-1]))])
    path = np.stack([along, np.zeros(101), np.zeros(101), speed], axis=1)
    return path + np.linspace(0.0, 20.0, 81)[:, None, None] * [1.0, 0.0, 0.0, 0.0]


def test_a_state_seen_from_another_is_placed_back():
    rng = np.random.default_rng(0)
    states, origin = rng.uniform(-3, 3, (2, 50, 4))
    np.testing.assert_allclose(placed_at(seen_from(states, origin), origin), states, atol=1e-12)


@pytest.mark.parametrize("maker", ["untrained", "nearest", "cubic"])
def test_segments_have_the_ends_that_were_asked_for(maker, drives):
    rng = np.random.default_rng(1)
    frames, seconds = windows(drives, 10.0, 30, rng)
    torch.manual_seed(0)
    makers = {
        "untrained": MotionSampler(MotionNet(MotionParams(width=16, num_blocks=1))),
        "nearest": NearestStretch(drives, 500),
        "cubic": cubic_curves,
    }
    made = makers[maker](frames[:, 0], frames[:, -1], seconds, rng)
    assert made.shape == frames.shape
    apart = made[:, [0, -1]] - frames[:, [0, -1]]
    apart[..., 2] = wrapped(apart[..., 2])
    np.testing.assert_allclose(apart, 0.0, atol=1e-6)


def test_motion_is_alike_wherever_the_body_is(drives):
    frames, seconds = windows(drives, 10.0, 20, np.random.default_rng(2))
    sampler = MotionSampler(MotionNet(MotionParams(width=16, num_blocks=1)))
    origin = np.array([5.0, -3.0, 1.0, 0.0])
    here = sampler(frames[:, 0], frames[:, -1], seconds, np.random.default_rng(3))
    ends = (placed_at(frames[:, row], origin) for row in (0, -1))
    there = sampler(*ends, seconds, np.random.default_rng(3))
    np.testing.assert_allclose(there, placed_at(here, origin), atol=1e-4)


def test_a_trained_network_is_read_as_it_was_written(drives, tmp_path):
    sampler = train(drives, 10.0, MotionParams(width=16, num_blocks=1, batch=32), 3, 0, tmp_path)
    frames, seconds = windows(drives, 10.0, 5, np.random.default_rng(4))
    again = load(tmp_path / "motion.safetensors")
    first, second = (
        one(frames[:, 0], frames[:, -1], seconds, np.random.default_rng(0)) for one in (sampler, again)
    )
    np.testing.assert_array_equal(first, second)


def test_the_ground_holds_what_was_driven_and_no_one_way_backward(lane):
    ground = Ground.of(lane, OUTLINE, 0.2)
    assert ground.holds(lane[:, 20:80:10]).all()
    beside, backward = lane[0, 50].copy(), lane[0, 50].copy()
    beside[1], backward[3] = 0.5, -1.0
    assert not ground.holds(beside)
    assert not ground.holds(backward)


def test_limits_are_those_of_the_recordings(drives):
    limits, vehicle = Limits.of(drives, 10.0), yard().vehicle
    assert limits.curvature == pytest.approx(1.0 / vehicle.radius, rel=0.05)
    assert limits.acceleration == pytest.approx(vehicle.acceleration, rel=0.05)
    frames, seconds = windows(drives, 10.0, 200, np.random.default_rng(6))
    assert limits.keeps(frames, seconds, 1.1).mean() > 0.95
    bent = frames.copy()
    bent[:, 8, 1] += 0.3
    assert not limits.keeps(bent, seconds, 1.1).any()


def test_a_plan_joins_drives_that_nobody_made_whole(lane):
    world = MotionWorld.of(lane, 10.0, OUTLINE, cubic_curves)
    start, goal, stop = lane[0, 0], lane[-1, -1], np.array([18.0, 0.0, np.nan, np.nan])
    found = plan_motion(world, start[None], goal[None], stop[None])
    assert found is not None
    (path,), (times,) = found.states, found.times
    assert np.ptp(path[:, 0]) > np.ptp(lane[0, :, 0]) + 10.0
    np.testing.assert_allclose(path[[0, -1]], [start, goal], atol=1e-6)
    np.testing.assert_allclose(path[found.stops[0][1], :2], stop[:2], atol=1e-6)
    assert (np.diff(times) > 0).all()
    assert world.ground.holds(path).all()
    assert plan_motion(world, goal[None], start[None], np.zeros((0, 4))) is None


def test_a_smoothed_way_ends_with_the_headings_asked_for():
    way = np.array([[0.0, 0.0], [10.0, 0.0], [20.0, 10.0]])
    first, last = np.zeros(4), np.array([20.0, 10.0, 1.0, 0.0])
    for back in (0.0, 5.0, np.inf):
        path, times = smoothed(way, first, last, back)
        assert path[-1, 2] == pytest.approx(1.0, abs=1e-6)
        assert (np.diff(times) > 0).all()


def test_the_page_has_the_tables_of_the_record():
    root = Path(__file__).parents[2]
    found = json.loads((root / "records" / "car.json").read_text())
    page = (root / "docs" / "beyond-the-plane.md").read_text(encoding="utf-8").splitlines()
    assert set(segment_lines(found) + plan_lines(found)) <= set(page)
