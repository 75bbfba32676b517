from dataclasses import replace

import numpy as np
import pytest
from fake_planner import FakePlanner
from gap_worlds import VISITS_BEYOND, tolled_planner
from protocol_runs import run_case

from benchmarks.case import Case
from benchmarks.mazes import maze
from benchmarks.references import REFERENCES, task_points
from benchmarks.trials import Trial, measure_plan, measure_unmapped
from chronoforest.errors import InvalidProblem
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import Problem, path_length

GIANT = "pointmaze-giant-stitch-v0"


@pytest.fixture(scope="module")
def planner():
    return FakePlanner(GIANT)


def test_a_stitch_trial_walks_and_measures(planner):
    trial = run_case(Case("stitch", PlannerChoice(GIANT), task=5, episode=0), planner)
    assert trial.walk.success_within(1000)
    assert trial.walk.num_replans == 0
    assert trial.plan.length == pytest.approx(trial.plan.geodesic)
    assert trial.plan.geodesic < trial.plan.bfs + 4
    assert trial.plan.clearance >= 0.99
    assert not trial.plan.crosses_wall
    assert trial.plan.order == (("S1", "G1"),)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_path_is_followed_to_its_end_without_a_plan(planner, reference):
    num_asked = len(planner.asked)
    trial = run_case(Case("track", PlannerChoice(GIANT), 5, 0, reference=reference), planner)
    assert len(planner.asked) == num_asked
    assert trial.plan is None
    assert trial.walk.success_within(1000)
    assert trial.walk.num_falls == 0
    length = path_length(REFERENCES[reference](maze("giant"), *task_points(maze("giant"))[4]))
    assert abs(trial.walk.units - length) < 5
    assert Trial.from_json(trial.to_json()) == trial


def test_the_order_suite_tells_right_from_wrong_orders(planner):
    """The fake knows the map online, and only straight lines when its order is fixed on raw distance."""
    case = Case("order", PlannerChoice(GIANT), task=1, episode=0, num_waypoints=3)
    online = run_case(case, planner).plan
    fixed = run_case(replace(case, variant="temporal-fixed"), planner).plan
    assert online.has_best_order()
    assert not fixed.has_best_order()
    assert fixed.order_length > online.order_length == pytest.approx(online.geodesic)
    assert online.runner_up > online.geodesic


def test_the_privileged_variant_gets_its_order_from_the_map(planner):
    case = Case("multi", PlannerChoice(GIANT), variant="graph-fixed", num_agents=2, num_waypoints=2)
    run_case(case, planner)
    problem, _, _, order, _ = planner.asked[-1]
    assert sorted(name for names in order for name in names) == sorted(problem.names)
    run_case(replace(case, variant="online"), planner)
    assert planner.asked[-1][3] is None


def test_a_refused_problem_is_a_failed_trial(planner, monkeypatch):
    def refuse(*args, **options):
        raise InvalidProblem("S1 lies outside the data's support")

    monkeypatch.setattr(planner, "plan", refuse)
    trial = run_case(Case("pairs", PlannerChoice(GIANT)), planner)
    assert trial.plan is None
    assert "outside" in trial.refusal
    assert Trial.from_json(trial.to_json()) == trial


def test_a_plan_through_a_wall_is_flagged(planner):
    result = planner.plan(Problem([[0, 0]], [[8, 0]]))
    through = replace(result.routes[0], path=np.array([[0.0, 0.0], [8.0, 0.0]]))
    figures = measure_plan(replace(result, routes=(through,)), maze("giant"))
    assert figures.crosses_wall
    assert figures.clearance == 0.0
    assert not measure_plan(result, maze("giant")).crosses_wall


def timed(planner, *rounds):
    """A plan of one leg whose rounds took so long, each with whether the leg was there."""
    result = planner.plan(Problem([[0.0, 0.0]], [[8.0, 0.0]]))
    (stats,) = result.rounds
    told = tuple(replace(stats, seconds=s, accepted=stats.accepted if met else ()) for s, met in rounds)
    return replace(result, rounds=told, seconds=9.0)


def test_the_first_plan_is_there_when_a_round_has_all_legs_of_its_route(planner):
    assert measure_unmapped(timed(planner, (1.0, False), (2.0, True), (3.0, True))).first_seconds == 2.0
    assert measure_unmapped(timed(planner, (1.0, True), (2.0, True))).first_seconds == 1.0


def test_a_round_that_left_a_waypoint_out_had_no_whole_plan():
    result = tolled_planner().plan(VISITS_BEYOND)
    whole = [stats.seconds for stats in result.rounds if len(stats.route.legs) == 5]
    assert len(whole) < len(result.rounds)
    assert measure_unmapped(result).first_seconds == whole[0]
