from collections import Counter

import numpy as np
import pytest
from fake_planner import StraightDistance

from benchmarks import instances, problems
from benchmarks.mazes import maze
from benchmarks.references import bfs_matrix
from chronoforest.errors import BadResult, CannotWrite
from chronoforest.routing.solver import best_two_costs, solve_exact

GIANT = "antmaze-giant-stitch-v0"
SET = instances.instance_set(GIANT, "own")


def test_every_task_and_every_pair_has_two_groups_in_each_bin():
    counts = Counter((one.tasks, one.margin) for one in SET.instances)
    assert set(counts.values()) == {2}
    assert len(counts) == (5 + 10) * 3
    assert SET.seed == 42


def test_gaps_are_those_of_the_grid_and_fall_from_bin_to_bin():
    for one in SET.instances[::7]:
        problem = one.problem(maze("giant"))
        best, second = best_two_costs(bfs_matrix(maze("giant"), problem.anchors), problem)
        assert one.gap == pytest.approx((second - best) / best, abs=1e-6)
    for team in {one.tasks for one in SET.instances}:
        gaps = {
            m: [o.gap for o in SET.instances if (o.tasks, o.margin) == (team, m)] for m in instances.MARGINS
        }
        assert min(gaps["high"]) >= max(gaps["medium"])
        assert min(gaps["medium"]) >= max(gaps["low"])


def test_the_raw_order_is_not_a_best_one(tmp_path, monkeypatch):
    (tmp_path / "weights").write_text("any")
    monkeypatch.setattr(instances, "combinations", lambda numbers, size: [(1, 2)])
    made = instances.build(GIANT, "straight", StraightDistance(), tmp_path / "weights")
    for one in made.instances[::5]:
        problem = one.problem(maze("giant"))
        grid = bfs_matrix(maze("giant"), problem.anchors)
        raw = solve_exact(StraightDistance().pairwise(problem.anchors, problem.anchors), problem)
        assert raw.cost(grid) > solve_exact(grid, problem).cost(grid)
    assert made.instances[-1].tasks == (1, 2)


@pytest.mark.parametrize("num_agents", [1, 2, 3])
def test_joint_costs_find_the_solver_s_optimum(num_agents):
    rng = np.random.default_rng(num_agents)
    matrix = rng.uniform(1, 9, (2 * num_agents + 3, 2 * num_agents + 3))
    problem = instances.Problem(rng.random((num_agents, 2)), rng.random((num_agents, 2)), rng.random((3, 2)))
    costs = problems.joint_costs(matrix, np.array([[0, 1, 2]]), num_agents)
    best, second = best_two_costs(matrix, problem)
    np.testing.assert_allclose(np.sort(costs[0])[:2], [best, second])


def test_sets_load_back(tmp_path):
    instances.save([SET], tmp_path / "sets.json")
    assert instances.load(tmp_path / "sets.json") == (SET,)
    with pytest.raises(CannotWrite):
        instances.save([SET], tmp_path / "sets.json" / "of-a-file.json")


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}'])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "sets.json").write_text(text)
    with pytest.raises(BadResult, match=r"sets\.json"):
        instances.load(tmp_path / "sets.json")
