import numpy as np
import pytest
from fake_planner import FakePlanner

from chronoforest.envs.tasks import make_env
from chronoforest.execution.journey import walk_problem, walk_task
from chronoforest.execution.rollout import MAX_STEPS, load_rollouts
from chronoforest.exports.saved import load_result
from chronoforest.types import Problem

MEDIUM = "pointmaze-medium-stitch-v0"
CROSSING = Problem([[0, 0], [0, 20]], [[20, 20], [20, 0]], [[4, 4], [16, 12]])


@pytest.fixture(scope="module")
def env():
    return make_env(MEDIUM, max_episode_steps=MAX_STEPS)


def test_an_official_task_is_planned_from_its_jittered_start_and_walked(env):
    planner = FakePlanner(MEDIUM)
    journey = walk_task(planner, env, 1, seed=4)
    (rollout,) = journey.rollouts
    np.testing.assert_array_equal(journey.result.problem.starts[0], rollout.xy[0])
    assert np.abs(rollout.xy[0]).max() <= 1
    assert rollout.success_within(1000)
    assert journey.success


def test_the_same_seeds_give_the_same_walk(env):
    walks = [walk_task(FakePlanner(MEDIUM), env, 2, seed=4).rollouts[0].xy for _ in range(2)]
    np.testing.assert_array_equal(*walks)


def test_a_blind_planner_is_a_failure_with_its_cause(env):
    (rollout,) = walk_task(FakePlanner(MEDIUM, is_blind=True), env, 1, seed=4).rollouts
    assert rollout.cause == "no plan"


def test_several_agents_walk_their_parts_and_visit_every_waypoint():
    journey = walk_problem(FakePlanner(MEDIUM), CROSSING)
    assert journey.success
    assert sum(len(rollout.visited) for rollout in journey.rollouts) == 2
    for rollout, start, goal in zip(journey.rollouts, CROSSING.starts, CROSSING.goals, strict=True):
        np.testing.assert_allclose(rollout.xy[0], start)
        assert np.linalg.norm(rollout.xy[-1] - goal) <= 1.0


def test_passing_the_goal_does_not_end_an_agent_that_has_waypoints_left():
    """The goal lies on the way to the waypoint, in the same corridor."""
    journey = walk_problem(FakePlanner(MEDIUM), Problem([[0, 0]], [[8, 8]], [[16, 12]]))
    (rollout,) = journey.rollouts
    nearest = np.linalg.norm(rollout.xy[: rollout.visit_steps[0]] - [8, 8], axis=1).min()
    assert nearest <= 1.0
    assert journey.success


def test_rounds_are_observed_and_the_memory_is_shared_with_replanning():
    rounds, planner = [], FakePlanner(MEDIUM)
    walk_problem(planner, CROSSING, on_round=lambda stats, problem: rounds.append((stats, problem)))
    assert rounds[0][1] is CROSSING
    assert planner.asked[0][4] is not None


def test_a_journey_is_saved_as_plan_and_rollout(tmp_path):
    journey = walk_problem(FakePlanner(MEDIUM), CROSSING)
    journey.save(tmp_path)
    assert load_result(tmp_path / "plan.json").complete
    assert len(load_rollouts(tmp_path / "rollout.json")) == 2
    assert journey.summary().count("arrived") == 2
