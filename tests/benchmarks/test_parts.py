"""The suite of parts on a planner that knows the map, and what is said of made-up plans."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fake_planner import FakePlanner
from fakes import FakeModels, SquareDensity, make_planner

from benchmarks.report.parts import COMPLETE, FINAL, FIRST, LENGTH, ORDER, ROOM, part_tables
from benchmarks.suites import parts
from benchmarks.suites.parts import BOTH, FOREST, PARTS
from benchmarks.worth import Worth, gains, verdict
from chronoforest.bench.case import Case
from chronoforest.bench.problems import supported_problem
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial
from chronoforest.data.frames import Frame
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import VARIANTS
from chronoforest.types import Problem

GIANT = "pointmaze-giant-stitch-v0"
CASES = parts.cases(Request(repeats=1, episodes=1))
LABELS = {part.label: part for part in PARTS}


class AnyVariant(FakePlanner):
    """Plans every variant the same, whatever it is called; a peer is not prepared."""

    def plan(self, problem, *, variant="online", **options):
        return super().plan(problem, **options)

    def prepared(self, variant):
        assert variant in VARIANTS
        return SimpleNamespace(variant=VARIANTS[variant], roadmap=None, checker=None)


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


def test_every_row_is_a_variant_and_what_it_lacks_another_row_has():
    for part in PARTS:
        assert part.variant in VARIANTS
        assert bool(part.lacks) == bool(part.whole)
        assert part.whole in ("", BOTH, FOREST)
    assert len(LABELS) == len(PARTS)
    assert {"paper", "dataset-graph"} <= set(LABELS)


def test_rows_share_problems_and_seeds():
    for part in PARTS:
        own = [c for c in CASES if (c.choice.planner, c.variant) == (part.planner, part.variant)]
        wanted = [
            c for c in CASES if c.variant == "verified" and (c.num_waypoints or not part.is_about_order)
        ]
        assert [replace(c.chosen(planner=CHRONOFOREST), variant="verified") for c in own] == wanted


def test_all_sets_of_problems_are_there():
    assert {case.suite for case in CASES} == {"pairs", "multi", "order", "hamiltonian", "stitch"}
    stored = {(c.choice.distance, c.num_agents) for c in CASES if c.suite == "hamiltonian"}
    assert stored == {(distance, agents) for distance in ("own", "paper") for agents in (1, 2)}
    assert {case.preset for case in CASES if case.suite == "stitch"} == set(parts.TELEPORT)
    num_pairs = sum(c.suite == "pairs" and c.variant == "paper" for c in parts.cases(Request()))
    assert num_pairs == 60


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
    assert Trial.from_json(trial.to_json()) == trial


def test_stored_instances_are_planned():
    case = next(case for case in CASES if case.suite == "hamiltonian" and case.num_agents == 2)
    trial = parts.run_part(case, AnyVariant(case.preset))
    assert len(trial.plan.order) == 2


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
    stray = replace(trials[-1], plan=short, measures={**trials[-1].measures, "against": 0.3})
    _, told = part_tables([*trials[:-1], stray])
    assert [row.entries[LENGTH].ours.value for row in told.rows[:-1]] == ratios[:-1]


def test_a_world_with_an_origin_is_planned_in_by_its_own_coordinates():
    planner = make_planner()
    far = Planner(planner.models, planner.params, "far", Frame(origin=(1000.0, 2000.0)))
    case = Case("places", PlannerChoice("far"), variant="roadmap-only")
    near, moved = (parts.run_part(case, one) for one in (planner, far))
    assert moved.plan.is_complete
    assert moved.measures == near.measures
    assert moved.plan.length == pytest.approx(near.plan.length)


def test_ways_outside_the_support_and_against_the_traffic_are_measured():
    class Eastward(SquareDensity):
        def follows(self, points, moves):
            return moves[..., 0] > 0

    result = make_planner().plan(Problem([[2.0, 5.0]], [[18.0, 5.0]]), variant="roadmap-only")
    models = FakeModels(density=Eastward(((6.0, 0.0), (10.0, 20.0))))
    (route,) = result.routes
    measured = parts.strays([route.path], models)
    assert measured["outside"] == pytest.approx(0.25, abs=0.02)
    assert measured["against"] == 0.0
    assert parts.strays([route.path[::-1]], models)["against"] == pytest.approx(1.0)


def test_ways_that_stray_without_a_part_are_what_it_adds(pairs):
    label = "roadmap only"
    trials = [replace(t, measures={"outside": 0.1 * LABELS[label].is_of(t), "against": 0.0}) for t in pairs]
    worth = Worth.of(of(trials, BOTH), of(trials, label))
    assert gains(worth) == ["10.0 % of the way lie outside the support without it, 0.0 with it"]


def test_supported_anchors_keep_room_and_follow_the_seed():
    models = FakeModels()
    case = Case("places", PlannerChoice("square"), num_agents=2, num_waypoints=5)
    problem = supported_problem(case, models, room=1.0)
    assert problem.anchors.shape == (9, 2)
    assert models.density.margin(problem.anchors).min() >= 1.0
    again, other = (supported_problem(replace(case, seed=seed), models, 1.0) for seed in (0, 1))
    np.testing.assert_array_equal(problem.anchors, again.anchors)
    assert not np.array_equal(problem.anchors, other.anchors)


def test_a_table_shows_every_row_of_the_same_problems(pairs):
    summary, table = part_tables(pairs)
    rows = {row.label: row.entries for row in table.rows}
    assert list(rows) == [part.label for part in PARTS if not part.is_about_order]
    for entries in rows.values():
        assert entries[COMPLETE].num_trials == 5
        assert entries[LENGTH].ours.value == pytest.approx(1.0, abs=0.01)
        assert entries[FIRST].ours.value == entries[FINAL].ours.value == 0.01
    assert summary.rows[0].label == "verification"


def test_a_part_that_changes_nothing_is_said_to_add_nothing(pairs):
    notes = " ".join(part_tables(pairs)[0].notes)
    for part in PARTS:
        if part.lacks and not part.is_about_order:
            assert f"Adds nothing anywhere, 5 problems: {part.lacks} ({part.whole})." in notes
    assert "not run" not in notes


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"is_complete": False}, "5 of 5 complete, 0 without it"),
        ({"crosses_wall": True}, "5 of 5 complete, 0 without it"),
        ({"clearance": 0.5}, "plans keep 0.50 units from walls without it, 1.00 with it"),
        ({"num_expanded": 6}, "it takes 2.0 times the expansions without it"),
        ({"seconds": 0.03}, "plans take 3.0 times as long without it"),
    ],
)
def test_what_is_worse_without_a_part_is_what_it_adds(pairs, changes, told):
    trials = changed(pairs, "forest, start tree only", **changes)
    worth = Worth.of(of(trials, FOREST), of(trials, "forest, start tree only"))
    assert gains(worth) == [told]
    notes = " ".join(part_tables(trials)[1].notes)
    assert f"the target's tree: {told}." in notes


def test_longer_ways_without_a_part_count_when_the_interval_says_so(pairs):
    label = "forest, without shortening"
    longer = [with_plan(t, length=1.05 * t.plan.length) if LABELS[label].is_of(t) else t for t in pairs]
    worth = Worth.of(of(longer, FOREST), of(longer, label))
    assert worth.length.value == pytest.approx(1.05)
    assert gains(worth) == ["ways are 5.0 % longer without it [5.0, 5.0]"]
    first = next(t for t in pairs if LABELS[label].is_of(t))
    once = [with_plan(t, length=1.05 * t.plan.length) if t is first else t for t in pairs]
    assert gains(Worth.of(of(once, FOREST), of(once, label))) == []


def test_what_is_better_without_a_part_is_told_too(pairs):
    trials = changed(pairs, "roadmap only", seconds=0.001, length=1.0)
    told = verdict("verification", Worth.of(of(trials, BOTH), of(trials, "roadmap only")))
    assert told.startswith("verification: adds nothing on these 5 problems; but ways are ")
    assert told.endswith("% shorter without it; without it plans take 0.10 of the time.")


def test_leaves_and_pieces_are_not_compared(pairs):
    trials = changed(pairs, FOREST, num_expanded=300)
    assert Worth.of(of(trials, BOTH), of(trials, FOREST)).expansions is None


def test_only_problems_of_both_rows_are_compared(pairs):
    whole, part = of(pairs, BOTH), of(pairs, FOREST)
    assert len(Worth.of(whole, part[:1]).pairs) == 1
    assert verdict("the roadmap", Worth.of(whole[:1], part)) == "the roadmap: 1 are too few to tell."
    assert not Worth.of(whole[:1], part).is_idle
