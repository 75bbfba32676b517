import json

import numpy as np
import pytest
from fake_planner import FakePlanner, StraightTracker, dense

from chronoforest.envs.tasks import Start, make_env, reset_at
from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.execution.journey import replanner
from chronoforest.execution.rollout import Rollout, load_rollouts, save_rollouts, walk
from chronoforest.execution.route import ExecutionParams, Route, route_of
from chronoforest.planning.variants import Variant
from chronoforest.types import Problem

MEDIUM = "pointmaze-medium-stitch-v0"
NOBODY = np.zeros((0, 2))
L_SHAPE = dense([[0, 0], [4, 0], [4, 4]])


@pytest.fixture(scope="module")
def env():
    return make_env(MEDIUM, max_episode_steps=300, terminate_at_goal=False)


def follow(env, path, tracker=None, replan=None, **params):
    route = Route(path, NOBODY, ())
    start = reset_at(env, path[0], path[-1], seed=0)
    return walk(env, start, route, tracker or StraightTracker(), replan, ExecutionParams(**params))


def across(world, goal=(12, 0), tracker=None, replan=None, **params):
    """A walk from the origin straight to a goal in a world without walls."""
    route = Route(dense([[0, 0], goal]), NOBODY, ())
    return walk(
        world,
        world.start([0, 0], goal),
        route,
        tracker or StraightTracker(),
        replan,
        ExecutionParams(**params),
    )


class Resting:
    """Never moves."""

    def __call__(self, observation, subgoal):
        return np.zeros(2)


class Runaway:
    """Walks along +x whatever the subgoal, for a number of steps, then straight."""

    def __init__(self, num_steps):
        self.num_steps = num_steps

    def __call__(self, observation, subgoal):
        self.num_steps -= 1
        return np.array([1.0, 0.0]) if self.num_steps >= 0 else StraightTracker()(observation, subgoal)


class Corridor:
    """An environment without walls whose agent goes where it is told, and jumps when it is told."""

    def __init__(self, num_steps=400, jumps=None):
        self.num_steps, self.jumps, self.now = num_steps, jumps or {}, 0
        self.action_space = make_env(MEDIUM).action_space

    def start(self, xy, goal):
        self.xy, self.goal = np.array(xy, dtype=float), np.array(goal, dtype=float)
        return Start(self.xy, self.goal)

    def step(self, action):
        self.now += 1
        self.xy = self.jumps.get(self.now, self.xy + 0.2 * action)
        success = float(np.linalg.norm(self.xy - self.goal) <= 1.0)
        return self.xy, 0.0, False, self.now >= self.num_steps, {"success": success}


class Tumbling(Corridor):
    """The same with an ant's observation and eight torques, of which the first two move it; in some of its
    steps it lies on its back and does not move."""

    def __init__(self, down, **options):
        super().__init__(**options)
        self.down = down
        self.action_space = make_env("antmaze-medium-stitch-v0").action_space

    def observed(self):
        observation = np.zeros(29)
        observation[:2] = self.xy
        observation[3:7] = [0, 1, 0, 0] if self.now in self.down else [1, 0, 0, 0]
        return observation

    def start(self, xy, goal):
        begun = super().start(xy, goal)
        return Start(self.observed(), begun.goal)

    def step(self, action):
        _, *outcome = super().step(action[:2] * ((self.now + 1) not in self.down))
        return self.observed(), *outcome


class TwoOfEight(StraightTracker):
    """Walks straight by the first two of eight torques."""

    def __call__(self, observation, subgoal):
        return np.concatenate([super().__call__(observation, subgoal), np.zeros(6)])


def test_an_l_shaped_path_is_walked_to_the_goal(env):
    rollout = follow(env, L_SHAPE)
    assert rollout.success
    assert rollout.cause == "none"
    assert rollout.num_replans == 0
    assert 30 <= rollout.steps <= 45
    assert rollout.success_within(rollout.steps)
    assert not rollout.success_within(rollout.steps - 1)
    np.testing.assert_allclose(rollout.xy[0], [0, 0])
    assert np.linalg.norm(rollout.xy[-1] - [4, 4]) <= 1.0


def test_drift_asks_for_a_new_route_from_the_current_position(env):
    asked = []

    def replan(position, remaining):
        asked.append((position, remaining))
        return Route(dense([position, [4, 4]]), NOBODY, ())

    rollout = follow(env, dense([[0, 0], [0, 4], [4, 4]]), tracker=Runaway(14), replan=replan, drift=1.5)
    (position, remaining), *more = asked
    assert not more
    assert len(remaining) == 0
    assert rollout.success
    assert rollout.num_replans == 1
    np.testing.assert_array_equal(rollout.xy[rollout.replan_steps[0]], position)
    np.testing.assert_array_equal(rollout.paths[1][0], position)


class Sticky:
    """Comes to rest at x = 2 until it is asked to walk back once."""

    def __init__(self):
        self.is_free = False

    def __call__(self, observation, subgoal):
        self.is_free |= subgoal[0] < 0
        rests = observation[0] >= 2 and not self.is_free
        return np.zeros(2) if rests else StraightTracker()(observation, subgoal)


@pytest.mark.parametrize(("idle_steps", "cause"), [(10, "none"), (0, "stuck")])
def test_an_agent_at_rest_walks_back_a_moment_and_gets_away(idle_steps, cause):
    assert across(Corridor(), [6, 0], Sticky(), idle_steps=idle_steps).cause == cause


def test_a_teleport_is_noticed_at_once_and_replanned():
    asked = []

    def replan(position, remaining):
        asked.append(position)
        return Route(dense([position, [12, 0]]), NOBODY, ())

    # The drift threshold is out of reach here, so only the jump can be the reason.
    rollout = across(Corridor(jumps={10: np.array([9.0, 3.0])}), replan=replan, drift=100.0)
    assert rollout.replan_steps == (10,)
    np.testing.assert_array_equal(asked, [[9.0, 3.0]])
    assert rollout.success


def test_waypoints_are_visited_in_order_on_a_route_that_crosses_itself():
    """A figure of eight that passes its own crossing, its second waypoint and its goal too early."""
    corners = [[0, 0], [6, 6], [6, 0], [0, 6], [-3, 3], [3, 3]]
    path = dense(corners)
    waypoints = np.array([[6.0, 0.0], [0.0, 6.0]])
    stops = tuple(int(np.linalg.norm(path - point, axis=1).argmin()) for point in waypoints)
    world = Corridor()
    rollout = walk(world, world.start([0, 0], [3, 3]), Route(path, waypoints, stops), StraightTracker())
    assert rollout.success
    np.testing.assert_array_equal(rollout.visited, waypoints)
    assert list(rollout.visit_steps) == sorted(rollout.visit_steps)
    for step, waypoint in zip(rollout.visit_steps, waypoints, strict=True):
        assert np.linalg.norm(rollout.xy[step] - waypoint) <= 0.5
    assert len(rollout.missed) == 0


def test_replanning_is_told_the_waypoints_that_are_left():
    world = Corridor(jumps={20: np.array([4.0, 4.0])})
    waypoints = np.array([[2.0, 0.0], [6.0, 0.0]])
    path = dense([[0, 0], [9, 0]])
    stops = tuple(int(np.abs(path[:, 0] - x).argmin()) for x in (2, 6))
    told = []

    def replan(position, remaining):
        told.append(remaining)
        way = dense([position, [6, 0], [9, 0]])
        return Route(way, remaining, (int(np.linalg.norm(way - [6, 0], axis=1).argmin()),))

    rollout = walk(
        world, world.start([0, 0], [9, 0]), Route(path, waypoints, stops), StraightTracker(), replan
    )
    np.testing.assert_array_equal(told, [[[6.0, 0.0]]])
    assert rollout.success
    np.testing.assert_array_equal(rollout.visited, waypoints)


def test_without_a_plan_nothing_moves(env):
    start = reset_at(env, [0, 0], [4, 4], seed=0)
    rollout = walk(env, start, None, StraightTracker())
    assert (rollout.cause, rollout.steps, rollout.success) == ("no plan", 0, False)


def test_standing_still_is_stuck(env):
    assert follow(env, L_SHAPE, tracker=Resting(), stuck_steps=20).cause == "stuck"


def test_a_body_that_ends_on_its_back_has_fallen_and_never_asked_for_a_plan():
    world, asked = Tumbling(down=range(20, 999), num_steps=200), []

    def replan(position, remaining):
        asked.append(position)

    rollout = across(world, tracker=TwoOfEight(), replan=replan, stuck_steps=20, replan_every=50)
    assert (rollout.cause, rollout.steps, rollout.num_falls) == ("fallen", 200, 1)
    assert not asked


def test_a_body_that_gets_up_again_goes_on_and_its_falls_are_counted():
    world = Tumbling(down={*range(10, 50), *range(60, 70)})
    rollout = across(world, tracker=TwoOfEight(), stuck_steps=20)
    assert rollout.success
    assert rollout.num_falls == 2


class Rockable(Tumbling):
    """Falls at step 10 and stays down until it was rocked for 30 steps: pushed by torques at their limits."""

    def __init__(self):
        super().__init__(down=range(10, 999), num_steps=200)
        self.num_rocked = 0

    def step(self, action):
        self.num_rocked += self.now in self.down and np.all(np.abs(action) == 1)
        self.down = self.down if self.num_rocked < 30 else ()
        return super().step(action)


def test_an_ant_on_its_back_rocks_and_goes_on_without_a_new_plan():
    world, asked = Rockable(), []

    def replan(position, remaining):
        asked.append(position)

    rollout = across(world, tracker=TwoOfEight(), replan=replan, stuck_steps=20)
    assert (rollout.cause, rollout.num_falls) == ("none", 1)
    assert not asked


def test_an_ant_that_rocks_to_its_side_and_back_has_not_fallen_again():
    half = np.radians([0, 150, 80, 150, 60, 30, 100]) / 2
    poses = np.zeros((len(half), 15))
    poses[:, 3], poses[:, 4] = np.cos(half), np.sin(half)
    assert Rollout(np.zeros((13, 2)), "fallen", poses=poses).num_falls == 2


def test_leaving_the_plan_for_good_is_drift(env):
    path = dense([[0, 0], [0, 4], [4, 4]])
    assert follow(env, path, tracker=Runaway(1000), drift=1.5).cause == "drift"


def test_the_cap_of_the_environment_ends_a_rollout():
    short = make_env(MEDIUM, max_episode_steps=10)
    rollout = follow(short, L_SHAPE)
    assert (rollout.cause, rollout.steps) == ("out of steps", 10)


def test_the_end_of_a_partial_plan_is_where_planning_goes_on(env):
    start = reset_at(env, [0, 0], [4, 4], seed=0)
    partial = Route(dense([[0, 0], [4, 0]]), NOBODY, (), is_complete=False)
    rollout = walk(env, start, partial, StraightTracker())
    assert rollout.cause == "no plan"
    np.testing.assert_allclose(rollout.xy[-1], [4, 0], atol=0.6)
    start = reset_at(env, [0, 0], [4, 4], seed=0)
    rollout = walk(env, start, partial, StraightTracker(), lambda p, _: Route(dense([p, [4, 4]]), NOBODY, ()))
    assert rollout.success


def test_failed_replanning_is_tried_again_and_then_given_up(env):
    attempts = []
    rollout = follow(
        env,
        L_SHAPE,
        tracker=Resting(),
        replan=lambda position, remaining: attempts.append(position),
        stuck_steps=20,
        max_replans=3,
    )
    assert len(attempts) == 3
    assert (rollout.cause, rollout.num_replans, rollout.steps) == ("stuck", 0, 80)


def test_a_planner_replans_with_its_memory_and_fresh_seeds():
    planner, memory, goal = FakePlanner(), object(), np.array([52.0, 36.0])
    replan = replanner(planner, goal, seed=7, memory=memory)
    for _ in range(2):
        route = replan(np.array([0.0, 0.0]), np.array([[20.0, 16.0]]))
    np.testing.assert_array_equal(route.path[-1], goal)
    assert [asked[1] for asked in planner.asked] == [8, 9]
    assert all(asked[4] is memory for asked in planner.asked)


@pytest.mark.parametrize("variant", ["verified", "online", "paper", "roadmap-only"])
def test_a_variant_plans_anew_with_itself(variant):
    planner = FakePlanner()
    replanner(planner, np.array([52.0, 36.0]), variant=variant)(np.zeros(2), NOBODY)
    assert planner.asked[0][2:4] == (variant, None)


def test_a_variant_that_is_given_its_order_keeps_what_is_left_of_it():
    planner = FakePlanner()
    left = np.array([[20.0, 16.0], [4.0, 4.0]])
    replanner(planner, np.array([52.0, 36.0]), variant=Variant("graph-fixed", needs_order=True))(
        np.zeros(2), left
    )
    assert planner.asked[0][3] == [["S1", "W1", "W2", "G1"]]


def test_the_last_stop_of_a_plan_stays_the_last_one_of_a_new_plan():
    planner, first, second, last = FakePlanner(), [4.0, 4.0], [20.0, 16.0], [36.0, 4.0]
    asked = Problem(np.zeros((2, 2)), waypoints=[last, first, second], fix={"W1": "agent 2 last"})
    replan = replanner(planner, np.array([52.0, 36.0]), asked=asked)
    replan(np.zeros(2), asked.waypoints[[2, 0]])
    assert planner.asked[0][0].fix == {"W2": "last"}


def test_a_place_that_cannot_be_planned_from_gives_no_route():
    class Refusing:
        def plan(self, problem, **_):
            raise InvalidProblem("S1 lies outside the data's support")

    assert replanner(Refusing(), np.zeros(2))(np.ones(2), NOBODY) is None


def test_records_load_back(tmp_path):
    result = FakePlanner(MEDIUM).plan(Problem([[0, 0]], [[20, 20]], [[4, 4]]))
    env = make_env(MEDIUM, terminate_at_goal=False)
    rollouts = [walk(env, reset_at(env, [0, 0], [20, 20], seed=0), route_of(result, 0), StraightTracker())]
    save_rollouts(tmp_path / "rollout.json", rollouts)
    (loaded,) = load_rollouts(tmp_path / "rollout.json")
    np.testing.assert_allclose(loaded.xy, rollouts[0].xy, atol=1e-5)
    np.testing.assert_array_equal(loaded.visited, rollouts[0].visited)
    assert (loaded.cause, loaded.visit_steps) == (rollouts[0].cause, rollouts[0].visit_steps)


def test_an_ants_poses_are_kept_and_load_back(tmp_path):
    env = make_env("antmaze-medium-stitch-v0", max_episode_steps=7, terminate_at_goal=False)
    seen = []

    def tracker(observation, subgoal):
        seen.append(observation[:15])
        return np.full(8, 0.3)

    rollout = follow(env, L_SHAPE, tracker=tracker)
    assert rollout.steps == 7
    assert rollout.has_poses
    np.testing.assert_array_equal(rollout.poses, seen[::2])
    save_rollouts(tmp_path / "rollout.json", [rollout])
    (loaded,) = load_rollouts(tmp_path / "rollout.json")
    np.testing.assert_allclose(loaded.poses, rollout.poses, atol=1e-3)
    np.testing.assert_allclose(loaded.pose(5)[2:], rollout.poses[2, 2:], atol=1e-3)
    np.testing.assert_allclose(loaded.pose(5)[:2], rollout.xy[5], atol=1e-5)


def test_records_without_poses_are_of_points(tmp_path, env):
    save_rollouts(tmp_path / "rollout.json", [follow(env, L_SHAPE)])
    values = json.loads((tmp_path / "rollout.json").read_text())
    assert values["agents"][0].pop("poses") == []
    (tmp_path / "older.json").write_text(json.dumps(values))
    for name in ("rollout.json", "older.json"):
        (loaded,) = load_rollouts(tmp_path / name)
        assert not loaded.has_poses


def test_new_plans_are_asked_for_at_intervals_without_trouble(env):
    asked = []

    def replan(position, remaining):
        asked.append(position)
        return Route(dense([position, *L_SHAPE[[16, -1]]]), NOBODY, ()) if len(asked) == 1 else None

    rollout = follow(env, L_SHAPE, replan=replan, replan_every=10, max_replans=0)
    assert rollout.success
    assert rollout.replan_steps == (10,)
    assert len(asked) == (rollout.steps - 1) // 10
    with pytest.raises(InvalidParameter, match="replan_every must be at least 0, got -1"):
        ExecutionParams(replan_every=-1)
