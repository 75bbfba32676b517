"""Searches on fakes, before their first round and when they are done, and what is asked of their plans."""

from fakes import BLOCK, FakeModels, SquareDensity, WindDistance

from benchmarks.ablations import named
from chronoforest.planning.loop import Search
from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem, WorldParams

ROUND_THE_BLOCK = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]], waypoints=[[10.0, 17.0]])
ACROSS = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]])


def begun(planner, problem, variant="online", num_rounds=60, **observers):
    """The search that `Planner.plan` runs, with its first route, before its first round."""
    source = planner._source(problem, named(variant), None, None, 0)
    return Search(source, problem, 0, MaxRounds(num_rounds), **observers)


def searched(planner, problem, variant="online"):
    """The same when it is done."""
    search = begun(planner, problem, variant)
    search.run()
    return search


def windy_planner(block=BLOCK):
    models = FakeModels(distance=WindDistance(), density=SquareDensity(block))
    return Planner(models, PlannerParams(world=WorldParams(is_reversible=False)), "windy")


def evidence(result):
    """What speaks for every leg of a plan."""
    return [leg.evidence for route in result.routes for leg in route.legs]


def forget_probes(planner):
    """The reach of segments is measured once, before the first plan is verified."""
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()
