"""What each part is worth: plans without it beside plans with it, on the same problems and seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.ablations import named
from benchmarks.case import Case
from benchmarks.experiments.ablation import STRAYS, Ablation, Strays, has_best_order, problem_of, verdict
from benchmarks.experiments.hamiltonian import instance_cases
from benchmarks.experiments.protocol import order_cases, plan_order, plan_random, task_cases, walk_official
from benchmarks.instances import find, stored_sets
from benchmarks.metrics import CAPS, is_sound, is_within, median
from benchmarks.problems import supported_problem
from benchmarks.report.tables import Entry, Row, Sheet, by
from benchmarks.suite import Contender, Exhibit, Request, Suite
from benchmarks.trials import PlanFigures, Trial, figures_of, measure_plan, measure_unmapped, plan_problem
from chronoforest.envs.tasks import WORLDS
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import FloatArray, PlanningModels

GIANT = "pointmaze-giant-stitch-v0"
TELEPORT = ("antmaze-teleport-stitch-v0", "pointmaze-teleport-stitch-v0")
REPEATS = 3  # seeds, from 0

NUM_PAIRS, NUM_MULTI, NUM_TRIPLES, NUM_WALKS = 20, 7, 15, 2
"""Problems of a seed: pairs, several agents, easily misjudged triples, and walks of every official task."""


@dataclass(frozen=True)
class Part(Contender):
    """A row. lacks: the part that it does without, and whole: the row that has it; is_about_order: it differs
    only where there are stops to put in order."""

    lacks: str = ""
    whole: str = ""
    is_about_order: bool = False


BOTH, FOREST = "roadmap and forest", "forest only"

PARTS = (
    Part(BOTH, "verified"),
    Part("roadmap only", "roadmap-only", lacks="verification", whole=BOTH),
    Part(FOREST, "online", lacks="the roadmap", whole=BOTH),
    Part("both, without guidance", "verified-no-guidance", lacks="guidance of pieces", whole=BOTH),
    Part("both, without shortening", "verified-no-shortening", lacks="shortening of ways", whole=BOTH),
    Part("both, full network", "verified-no-student", lacks="distillation for pieces", whole=BOTH),
    Part("both, one sample", "verified-single", lacks="several samples of a piece", whole=BOTH),
    Part("both, order fixed", "roadmap-fixed", "chronoforest", "solving the order again", BOTH, True),
    Part("forest, without guidance", "no-guidance", lacks="guidance of lookaheads", whole=FOREST),
    Part("forest, without shortening", "no-shortening", lacks="shortening of bridges", whole=FOREST),
    Part("forest, without challenges", "no-challenges", lacks="challenges", whole=FOREST),
    Part("forest, distance as learned", "learned-distance", lacks="far distances over hops", whole=FOREST),
    Part("forest, full network", "no-student", lacks="distillation", whole=FOREST),
    Part("forest, one sample", "single", lacks="several samples of a leaf", whole=FOREST),
    Part("forest, start tree only", "start-tree-only", lacks="the target's tree", whole=FOREST),
    Part("forest, order fixed", "temporal-fixed", "chronoforest", "re-solving the order", FOREST, True),
    Part("paper", "paper"),
    Part("dataset-graph", planner="dataset-graph"),
)


def cases(request: Request) -> list[Case]:
    """Every row on every problem; a template names another world than those that ship."""
    own, world = request.template, Case("", PlannerChoice(GIANT))
    if own is None:  # stored problems are planned once unless more is asked for
        once = replace(request, repeats=request.repeats or 1)
        stored = [case for one in stored_sets().values() for case in instance_cases(one, ("",), once, (1, 2))]
        walked = [case for name in TELEPORT for case in _walks(world.chosen(preset=name), request)]
        problems = [*_planned(world, request), *stored, *walked]
    elif own.preset in WORLDS:
        problems = [*_planned(own, request), *_walks(own, request)]
    else:
        problems = _random(own, ("places", "places"), request)
    return [case for problem in problems for case in rows_of(problem)]


def rows_of(problem: Case) -> list[Case]:
    """A problem for every row that it can tell something about."""
    return [
        replace(problem.chosen(planner=part.planner), variant=part.variant)
        for part in PARTS
        if problem.num_waypoints or not part.is_about_order
    ]


def _planned(template: Case, request: Request) -> list[Case]:
    order = partial(order_cases, num_episodes=request.episodes or NUM_TRIPLES)
    return [
        *_random(template, ("pairs", "multi"), request),
        *_seeded(replace(template, suite="order"), order, request),
    ]


def _random(template: Case, suites: tuple[str, str], request: Request) -> list[Case]:
    """Pairs, and problems of several agents."""
    pairs = replace(template, suite=suites[0])
    several = replace(template, suite=suites[1], num_agents=2, num_waypoints=5)
    return [
        case
        for own, count in ((pairs, NUM_PAIRS), (several, NUM_MULTI))
        for one in _seeded(own, lambda case: [case], request)
        for case in (replace(one, episode=k) for k in range(request.episodes or count))
    ]


def _walks(template: Case, request: Request) -> list[Case]:
    walked = partial(task_cases, num_episodes=request.episodes or NUM_WALKS)
    return _seeded(replace(template, suite="stitch"), walked, request)


def _seeded(template: Case, spread: Callable[[Case], list[Case]], request: Request) -> list[Case]:
    seeds = range(request.repeats or REPEATS)
    return [case for seed in seeds for case in spread(replace(template, seed=seed))]


def run_part(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, and walk where there is a body; what all plans of a variant share is made before, as a peer's
    graph is when it is loaded."""
    prepared = planner.prepared(named(case.variant)) if case.choice.planner == CHRONOFOREST else None
    if prepared is not None and prepared.variant.uses_roadmap:
        _ = prepared.checker if prepared.variant.verifies else prepared.roadmap
    return _KINDS[case.suite](case, planner)


def _plan_stored(case: Case, planner: PresetPlanner) -> Trial:
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    return Trial(case, measure_plan(plan_problem(case, planner, problem), case.maze))


def _plan_places(case: Case, planner: PresetPlanner) -> Trial:
    problem = supported_problem(case, planner.models, planner.params.assembly.edge)
    result = plan_problem(case, planner, problem.moved(planner.frame.to_user))
    paths = [planner.frame.to_local(route.path) for route in result.routes]
    return Trial(case, measure_unmapped(result), figures=strays(paths, planner.models))


def strays(paths: Sequence[FloatArray], models: PlanningModels) -> Strays:
    """Measure paths [t, 2]."""
    hops = np.concatenate([np.stack([path[:-1], path[1:]]) for path in paths], axis=1)
    moves = hops[1] - hops[0]
    length = np.linalg.norm(moves, axis=-1)
    whole = max(float(length.sum()), 1e-9)
    middles = hops[0] + 0.5 * moves
    # The points of a way lie so near to each other that only a whole step has a direction.
    steps = models.step_length * moves / np.maximum(length, 1e-9)[:, None]
    return Strays(
        outside=float(length[models.density.margin(middles) < 0].sum()) / whole,
        against=float(length[~models.density.follows(middles, steps)].sum()) / whole,
    )


_KINDS = {
    "pairs": plan_random,
    "multi": plan_random,
    "order": plan_order,
    "hamiltonian": _plan_stored,
    "stitch": walk_official,
    "places": _plan_places,
}


COMPLETE, LENGTH, FIRST, FINAL = "complete, %", "÷ reference", "first plan s", "final plan s"
NODES, EXPANSIONS, ROOM = "nodes", "expansions", "clearance"
ORDER, ARRIVED = "best order, %", "arrived, %"

MOST_STRAYS = 0.02
"""Share of a way outside the support or against recorded motion; a plan that strays more is no reference."""

NOTES = (
    "Sound plans only, but for the shares: complete and through no wall. Seconds are medians.",
    "The reference is the shortest way at any angle with clearance 1.0, in the best order; where there is no "
    "map, the shortest plan of any row that keeps to what was recorded.",
    "Nodes are those of the trees, or pieces realised; expansions are leaves promoted, or pieces asked. "
    "Clearance is the median of the least distance to a wall.",
    "A part adds something if plans without it are less often complete, in the best order or walked to the "
    "end, longer, nearer to walls, farther outside the support or against recorded motion, or take more "
    "expansions or time; lengths, expansions and times by more than chance explains.",
)


@dataclass(frozen=True)
class _Set:
    """The trials of one set of problems by row, and the reference length of each problem."""

    title: str
    rows: Mapping[str, Sequence[Trial]]
    references: Mapping[Case, float]

    @classmethod
    def of(cls, title: str, trials: Sequence[Trial]) -> _Set:
        """Rows in the order of PARTS; those without a trial are left out."""
        rows = {part.label: [trial for trial in trials if part.is_of(trial)] for part in PARTS}
        return cls(title, {label: own for label, own in rows.items() if own}, _references(trials))

    def worth(self, part: Part) -> Ablation:
        """Of what a row lacks."""
        return Ablation.of(self.rows.get(part.whole, ()), self.rows.get(part.label, ()))


def part_tables(trials: Sequence[Trial], name: str = "parts") -> list[Exhibit]:
    """In short first, then a table per set of problems; name: of the first, with numbers of the others."""
    sets = [_Set.of(title, some) for title, some in by(trials, lambda trial: _title(trial.case)).items()]
    tables = [_table(f"{name}-{number}", one) for number, one in enumerate(sets, start=1)]
    return [_summary(name, sets), *tables] if sets else []


def _title(case: Case) -> str:
    """What a set of problems is called."""
    names = {
        "pairs": "random pairs",
        "order": "misjudged orders",
        "hamiltonian": f"stored instances with the distance {case.choice.distance}, M = {case.num_agents}",
        "stitch": "official tasks, walked",
    }
    several = f"random problems, M = {case.num_agents}, K = {case.num_waypoints}"
    learned = f", {case.change}" if case.change else ""
    return f"{case.preset}: {names.get(case.suite, several)}{learned}"


def _summary(name: str, sets: Sequence[_Set]) -> Sheet:
    """How much longer ways get without each part, and where a part adds nothing at all."""
    lacking = [part for part in PARTS if part.lacks]
    rows = []
    for part in lacking:
        worth = {one.title: one.worth(part) for one in sets}
        rows.append(Row(part.lacks, {t: Entry(w.length, len(w.pairs), digits=3) for t, w in worth.items()}))
    notes = [_idle(part, sets) for part in lacking]
    return Sheet(
        name,
        "Length without a part ÷ length with it",
        "",
        tuple(one.title for one in sets),
        tuple(rows),
        ("Plans that both rows found, problem by problem.", *filter(None, notes)),
    )


def _idle(part: Part, sets: Sequence[_Set]) -> str:
    """The sets on which a part adds nothing, "" where it always adds something or was not run."""
    known = {one.title: one.worth(part) for one in sets}
    run = {title: worth for title, worth in known.items() if worth.pairs}
    idle = [title for title, worth in run.items() if worth.is_idle]
    if not idle:
        return ""
    where = "anywhere" if len(idle) == len(run) else f"on {'; '.join(idle)}"
    count = sum(len(run[title].pairs) for title in idle)
    return f"Adds nothing {where}, {count} problems: {part.lacks} ({part.whole})."


def _table(name: str, one: _Set) -> Sheet:
    rows = tuple(Row(label, _entries(own, one.references)) for label, own in one.rows.items())
    columns = tuple(dict.fromkeys(column for row in rows for column in row.entries))
    lacking = [part for part in PARTS if part.lacks and part.label in one.rows]
    told = [verdict(part.lacks, one.worth(part)) for part in lacking]
    return Sheet(name, one.title, "", columns, rows, (*NOTES, *told))


def _entries(trials: Sequence[Trial], references: Mapping[Case, float]) -> dict[str, Entry]:
    sound = [(trial, trial.plan) for trial in trials if trial.plan is not None and is_sound(trial.plan)]
    plans = [plan for _, plan in sound]
    entries = {
        COMPLETE: Entry.of_share(trial.plan is not None and is_sound(trial.plan) for trial in trials),
        LENGTH: Entry.of_mean((p.length / references[problem_of(t)] for t, p in sound), digits=3),
        FIRST: _median_entry(plans, lambda plan: plan.first_seconds),
        FINAL: _median_entry(plans, lambda plan: plan.seconds),
        NODES: _mean_entry(plans, lambda plan: plan.num_nodes),
        EXPANSIONS: _mean_entry(plans, lambda plan: plan.num_expanded),
    }
    if any(plan.geodesic > 0 for plan in plans):
        entries[ROOM] = _median_entry(plans, lambda plan: plan.clearance)
    if any(trial.case.num_waypoints for trial in trials) and any(plan.geodesic > 0 for plan in plans):
        entries[ORDER] = Entry.of_share(map(has_best_order, trials))
    for name, where in STRAYS.items():
        known = [100 * getattr(found, name) for found in figures_of((t for t, _ in sound), Strays)]
        if known:
            entries[f"{where}, %"] = Entry.of_mean(known)
    if any(trial.walk is not None for trial in trials):
        entries[ARRIVED] = Entry.of_share(is_within(trial, CAPS[0]) for trial in trials)
    return entries


def _median_entry(plans: Sequence[PlanFigures], value: Callable[[PlanFigures], float | None]) -> Entry:
    known = [found for found in map(value, plans) if found is not None]
    return Entry.of_value(median(known), len(known), digits=2) if known else Entry(None)


def _mean_entry(plans: Sequence[PlanFigures], value: Callable[[PlanFigures], float | None]) -> Entry:
    return Entry.of_mean(found for found in map(value, plans) if found is not None)


def _references(trials: Sequence[Trial]) -> dict[Case, float]:
    """The length that every plan of a problem is compared with."""
    plans: dict[Case, list[tuple[PlanFigures, float]]] = {}
    for trial in trials:
        if trial.plan is not None and is_sound(trial.plan):
            found = trial.figures
            strays = found.outside + found.against if isinstance(found, Strays) else 0.0
            plans.setdefault(problem_of(trial), []).append((trial.plan, strays))
    return {
        problem: found[0][0].geodesic
        or min([p.length for p, strays in found if strays <= MOST_STRAYS] or [p.length for p, _ in found])
        for problem, found in plans.items()
    }


SUITE = Suite("parts", "what each part is worth", cases, run_part, part_tables, figures=(Strays,))
