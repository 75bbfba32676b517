import os
import signal

import numpy as np
import pytest

from benchmarks.collect.expert import ACTION_DIM, OBSERVATION_DIM
from benchmarks.collect.walks import HEALTHY_HEIGHTS
from benchmarks.expert.floor import DirectedAnt, Floor
from chronoforest.errors import WorkerDied


def test_an_ant_is_ogbenchs_directed_ant():
    """The same observations, rewards and ends as OGBench's wrapper, whose directions are set to ours."""
    from ogbench.online_locomotion.ant import AntEnv
    from ogbench.online_locomotion.wrappers import GymXYWrapper

    ours, theirs, rng = DirectedAnt((0,)), GymXYWrapper(AntEnv()), np.random.default_rng(0)
    ours.reset()
    theirs.reset()
    theirs.unwrapped.set_state(ours.env.data.qpos.copy(), ours.env.data.qvel.copy())
    directions = set()
    for _ in range(205):
        theirs.z = ours.direction
        action = rng.uniform(-1, 1, ACTION_DIM).astype(np.float32)
        observation, reward, is_terminal, _, _ = ours.step(action)
        expected, expected_reward, expected_end, _, _ = theirs.step(action)
        np.testing.assert_array_equal(observation[:-2], expected[:-2])
        assert (reward, is_terminal) == (pytest.approx(expected_reward), expected_end)
        directions.add(tuple(observation[-2:]))
    assert len(directions) == 3
    np.testing.assert_allclose(np.linalg.norm(list(directions), axis=1), 1.0)
    assert theirs.unwrapped._healthy_z_range == HEALTHY_HEIGHTS


@pytest.mark.parametrize("ends_when_fallen", [False, True])
def test_a_fall_is_counted_once_and_ends_only_a_measurement(ends_when_fallen):
    ant = DirectedAnt((0,), ends_when_fallen)
    ant.reset()
    over = ant.env.data.qpos.copy()
    over[2], over[3:7] = 0.5, [0, 1, 0, 0]
    ant.env.set_state(over, np.zeros_like(ant.env.data.qvel))
    steps = [ant.step(np.zeros(ACTION_DIM, np.float32)) for _ in range(3)]
    assert [has_fallen for _, _, _, has_fallen, _ in steps] == [True, False, False]
    assert steps[0][-1] == ends_when_fallen
    assert not any(is_terminal for _, _, is_terminal, _, _ in steps)


@pytest.fixture(scope="module")
def walks():
    return [walk(num_workers) for num_workers in (1, 2)]


def walk(num_workers, num_ants=3, num_steps=4):
    rng = np.random.default_rng(0)
    with Floor(num_ants, (5,), num_workers) as floor:
        observations, seen = floor.first_observations(), []
        for _ in range(num_steps):
            floor.send(rng.uniform(-1, 1, (num_ants, ACTION_DIM)).astype(np.float32))
            seen.append(floor.receive())
        processes = [process for worker in floor.workers for process in worker._processes.values()]
    assert not any(process.is_alive() for process in processes)
    return observations, seen


def test_the_number_of_workers_changes_nothing(walks):
    (first, seen), (other_first, other_seen) = walks
    assert first.shape == (3, OBSERVATION_DIM)
    np.testing.assert_array_equal(first, other_first)
    for one, other in zip(seen, other_seen, strict=True):
        for name, array in vars(one).items():
            np.testing.assert_array_equal(array, getattr(other, name))


def test_a_worker_that_dies_is_reported():
    with Floor(2, (0,), num_workers=2) as floor:
        floor.first_observations()
        ((pid, process),) = floor.workers[1]._processes.items()
        os.kill(pid, signal.SIGKILL)
        process.join()
        with pytest.raises(WorkerDied):
            step(floor)


def step(floor):
    floor.send(np.zeros((2, ACTION_DIM), np.float32))
    floor.receive()
