"""Closed loops on fakes, before their first round and when they are done."""

from fakes import BLOCK, FakeModels, SquareDensity, WindDistance

from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem, WorldParams

ROUND_THE_BLOCK = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]], waypoints=[[10.0, 17.0]])


def begun(planner, problem, variant="online"):
    """The loop that `Planner.plan` runs, with its forest and evidence, before its first round."""
    return ClosedLoop(planner.prepared(variant), problem, None, None, seed=0)


def searched(planner, problem, variant="online"):
    """The same when it is done."""
    search = begun(planner, problem, variant)
    search.run(MaxRounds(60))
    return search


def windy_planner(block=BLOCK):
    models = FakeModels(distance=WindDistance(), density=SquareDensity(block))
    return Planner(models, PlannerParams(world=WorldParams(is_reversible=False)), "windy")
