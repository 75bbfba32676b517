"""The suite of parts on a planner that knows the map, and what is said of made-up plans."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fake_planner import FakePlanner
from fakes import FakeModels, make_planner

from benchmarks.ablations import CHOICES
from benchmarks.case import Case
from benchmarks.experiments import parts
from benchmarks.experiments.ablation import Ablation, gains
from benchmarks.experiments.parts import FOREST, LENGTH, ORDER, PARTS, ROOM, part_tables
from benchmarks.problems import supported_problem
from benchmarks.suite import Request
from benchmarks.trials import Trial
from chronoforest.data.frames import Frame
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.planning.planner import Planner

GIANT = "pointmaze-giant-stitch-v0"
CASES = parts.cases(Request(repeats=1, episodes=1))
LABELS = {part.label: part for part in PARTS}


class AnyVariant(FakePlanner):
    """Plans every variant the same, whatever it is called; a peer is not prepared."""

    def plan(self, problem, *, variant="online", **options):
        return super().plan(problem, **options)

    def prepared(self, variant):
        assert variant in CHOICES.values()
        return SimpleNamespace(variant=variant, roadmap=None, checker=None)


@pytest.fixture(scope="module")
def pairs():
    """Five random pairs in all rows."""
    planner = AnyVariant(GIANT)
    cases = parts.cases(Request(repeats=1, episodes=5))
    return [parts.run_part(case, planner) for case in cases if case.suite == "pairs"]


def with_plan(trial, **changes):
    return replace(trial, plan=replace(trial.plan, **changes))


def changed(trials, label, **changes):
    return [with_plan(t, **changes) if LABELS[label].is_of(t) else t for t in trials]


def of(trials, label):
    return [trial for trial in trials if LABELS[label].is_of(trial)]


def test_rows_share_problems_and_seeds():
    for part in PARTS:
        own = [c for c in CASES if (c.choice.planner, c.variant) == (part.planner, part.variant)]
        wanted = [
            c for c in CASES if c.variant == "verified" and (c.num_waypoints or not part.is_about_order)
        ]
        assert [replace(c.chosen(planner=CHRONOFOREST), variant="verified") for c in own] == wanted


@pytest.mark.parametrize(("preset", "suites"), [("antmaze-large-stitch-v0", 4), ("yard", 1)])
def test_another_world_has_the_problems_that_fit_it(preset, suites, tmp_path):
    template = Case("parts", PlannerChoice(preset, weights=tmp_path))
    cases = parts.cases(Request(1, 1, template))
    assert {case.choice.weights for case in cases} == {tmp_path}
    assert {case.preset for case in cases} == {preset}
    assert len({case.suite for case in cases}) == suites
    assert {case.num_agents for case in cases} == {1, 2}


@pytest.mark.parametrize("suite", ["pairs", "multi", "order", "stitch"])
def test_every_kind_of_problem_runs_and_loads_back(suite):
    template = Case("parts", PlannerChoice(GIANT))
    case = next(c for c in parts.cases(Request(1, 1, template)) if c.suite == suite)
    trial = parts.run_part(case, AnyVariant(GIANT))
    assert trial.plan.is_complete
    assert (trial.walk is not None) == (suite == "stitch")
    assert Trial.from_json(trial.to_json(), parts.SUITE.figures) == trial


def test_a_world_without_a_map_is_planned_in_and_shown():
    """Its anchors lie inside the support, and the shortest plan of any row is the reference."""
    cases = [
        case
        for case in parts.cases(Request(1, 1, Case("parts", PlannerChoice("square"))))
        if case.num_agents == 1 and case.choice.planner == CHRONOFOREST and case.variant != "paper"
    ]
    planner = make_planner()
    trials = [parts.run_part(case, planner) for case in cases]
    assert all(trial.plan.is_complete and trial.plan.geodesic == 0 for trial in trials)
    summary, table = part_tables(trials)
    ratios = [row.entries[LENGTH].ours.value for row in table.rows]
    assert min(ratios) == 1.0
    assert not {ORDER, ROOM} & set(table.columns)
    assert table.columns[-2:] == ("outside the support, %", "against recorded motion, %")
    assert summary.columns == ("square: random problems, M = 1, K = 0",)
    short = replace(trials[-1].plan, length=0.5 * trials[-1].plan.length)
    stray = replace(trials[-1], plan=short, figures=replace(trials[-1].figures, against=0.3))
    _, told = part_tables([*trials[:-1], stray])
    assert [row.entries[LENGTH].ours.value for row in told.rows[:-1]] == ratios[:-1]


def test_a_world_with_an_origin_is_planned_in_by_its_own_coordinates():
    planner = make_planner()
    far = Planner(planner.models, planner.params, "far", Frame(origin=(1000.0, 2000.0)))
    case = Case("places", PlannerChoice("far"), variant="roadmap-only")
    near, moved = (parts.run_part(case, one) for one in (planner, far))
    assert moved.plan.is_complete
    assert moved.figures == near.figures
    assert moved.plan.length == pytest.approx(near.plan.length)


def test_supported_anchors_keep_room_and_follow_the_seed():
    models = FakeModels()
    case = Case("places", PlannerChoice("square"), num_agents=2, num_waypoints=5)
    problem = supported_problem(case, models, room=1.0)
    assert problem.anchors.shape == (9, 2)
    assert models.density.margin(problem.anchors).min() >= 1.0
    again, other = (supported_problem(replace(case, seed=seed), models, 1.0) for seed in (0, 1))
    np.testing.assert_array_equal(problem.anchors, again.anchors)
    assert not np.array_equal(problem.anchors, other.anchors)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"is_complete": False}, "more complete, 5 against 0"),
        ({"crosses_wall": True}, "more complete, 5 against 0"),
        ({"clearance": 0.5}, "more room to walls, 1.00 against 0.50"),
        ({"num_expanded": 6}, "fewer expansions, 2 times as much without it"),
        ({"seconds": 0.03}, "less time, 3 times as much without it"),
    ],
)
def test_what_is_worse_without_a_part_is_what_it_adds(pairs, changes, told):
    trials = changed(pairs, "forest, start tree only", **changes)
    worth = Ablation.of(of(trials, FOREST), of(trials, "forest, start tree only"))
    assert gains(worth) == [told]
    notes = " ".join(part_tables(trials)[1].notes)
    assert f"the target's tree, 5 problems: {told}." in notes
