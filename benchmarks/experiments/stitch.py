"""Table 1: success on the official tasks of three mazes, ours, one sample per leaf, and the peers; Table 4:
our plan lengths on the same walks against the shortest ways over cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from benchmarks.case import Case
from benchmarks.experiments.protocol import task_cases, walk_official
from benchmarks.metrics import CAPS, complete_plans, is_within
from benchmarks.report.tables import Entry, Row, Sheet
from benchmarks.suite import Contender, Request, Suite
from benchmarks.trials import PlanFigures, Trial, WalkFigures, official_env
from chronoforest.envs.tasks import reset_task
from chronoforest.execution.rollout import MAX_STEPS
from chronoforest.peers.choice import CHRONOFOREST
from chronoforest.types import Problem

SPLITS = ("medium", "large", "giant")
REPEATS, EPISODES = 4, 20
"""Evaluations of the whole, and episodes of each task in one of them, as in the paper."""


CONTENDERS = (
    Contender("ChronoForest"),
    Contender("ChronoForest-single", "single"),
    Contender("ChronoForest, paper's settings", "paper"),
    Contender("the same, single", "paper-single"),
    Contender("dataset-graph", planner="dataset-graph"),
    Contender("diffusion-replan", planner="diffusion-replan"),
    Contender("compositional", planner="compositional"),
    Contender("tree-single", planner="tree-single"),
)


def preset(split: str) -> str:
    """The preset of a split."""
    return f"antmaze-{split}-stitch-v0"


def cases(request: Request) -> list[Case]:
    """Every contender on every split; repeats differ in the seed."""
    return [
        case
        for contender in CONTENDERS
        for split in SPLITS
        for case in walks(preset(split), contender, request)
    ]


def walks(preset: str, contender: Contender, request: Request) -> list[Case]:
    """The repeated evaluations of one contender in one maze; peers are evaluated once, and the paper's slow
    settings."""
    own, is_slow = contender.case("stitch", preset), contender.variant.startswith("paper")
    repeats = 1 if is_slow or contender.planner != CHRONOFOREST else REPEATS
    return repeated(own, request.repeats or repeats, request)


def repeated(case: Case, repeats: int, request: Request) -> list[Case]:
    """So many evaluations of all tasks, each with a seed of its own."""
    return [
        one
        for repeat in range(repeats)
        for one in task_cases(replace(case, seed=repeat), request.episodes or EPISODES)
    ]


def task_problem(case: Case) -> Problem:
    """An official task with its jitter, as the environment is reset to it."""
    start = reset_task(official_env(case.preset, MAX_STEPS), case.task, case.seeds[0])
    return Problem([start.observation[:2]], [start.goal])


PUBLISHED = {
    "ChronoForest": ("99.8 ± 0.4", "99.3 ± 1.3", "99.5 ± 0.5"),
    "ChronoForest-single": ("94 ± 1", "72 ± 4", "18 ± 3"),
    "diffusion-replan": (
        "46 ± 18 (Diffuser-Replan), 60 ± 13 (Diffusion Forcing)",
        "12 ± 10 (Diffuser-Replan), 26 ± 9 (Diffusion Forcing)",
        "0 ± 0 (Diffuser-Replan), 0 ± 0 (Diffusion Forcing)",
    ),
    "compositional": (
        "97 ± 2 (GSC), 96 ± 2 (CompDiffuser)",
        "66 ± 2 (GSC), 86 ± 2 (CompDiffuser)",
        "20 ± 1 (GSC), 65 ± 3 (CompDiffuser), 84 ± 3 (CDGS)",
    ),
    "tree-single": ("94 ± 9 (C-MCTD-Preplan)", "94 ± 9 (C-MCTD-Preplan)", "75 ± 18 (C-MCTD-Preplan)"),
}
"""What the paper prints for the splits, by contender."""


def success_tables(trials: Sequence[Trial]) -> list[Sheet]:
    """Success at either cap, and what the plans cost."""
    own = {contender.label: [t for t in trials if contender.is_of(t)] for contender in CONTENDERS}
    plans = Sheet.of("stitch-plans", "The plans behind these walks", "", own, _PLANS)
    others = {column: column == "complete plans" for column in _PLANS}
    return [*(_success(own, cap) for cap in CAPS), replace(plans, notes=(verdict(plans.rows, others),))]


def _success(own: Mapping[str, Sequence[Trial]], cap: int) -> Sheet:
    rows = []
    for label, trials in own.items():
        published = zip(SPLITS, PUBLISHED.get(label, ("", "", "")), strict=True)
        entries = {
            split: Entry.of_share(
                (is_within(t, cap) for t in trials if t.case.preset == preset(split)), paper
            )
            for split, paper in published
        }
        rows.append(Row(label, entries))
    notes = (
        "The official cap is 1000 steps; the paper does not say which cap it used.",
        "The peers stand beside the published planners they are closest to; the peers' page says what "
        "they lack against them.",
        verdict(rows, dict.fromkeys(SPLITS, True)),
    )
    title = f"Success within {cap} steps, AntMaze-Stitch, %"
    return Sheet(f"stitch-{cap}", title, "Table 1", SPLITS, tuple(rows), notes)


def _walks(trials: Sequence[Trial]) -> list[WalkFigures]:
    return [trial.walk for trial in trials if trial.walk is not None]


_PLANS: dict[str, Callable[[Sequence[Trial]], Entry]] = {
    "complete plans": lambda some: Entry.of_share(t.plan is not None and t.plan.is_complete for t in some),
    "÷ geodesic": lambda some: Entry.of_mean((p.length / p.geodesic for p in complete_plans(some)), digits=3),
    "steps to the goal": lambda some: Entry.of_mean(
        (walk.steps for walk in _walks(some) if walk.cause == "none"), digits=0
    ),
    "new plans per walk": lambda some: Entry.of_mean((w.num_replans for w in _walks(some)), digits=2),
    "planning s": lambda some: Entry.of_mean((plan.seconds for plan in complete_plans(some)), digits=2),
}
"""What a plan is like, over all splits together."""


def verdict(rows: Sequence[Row], is_more_better: Mapping[str, bool]) -> str:
    """Where another row beats the first one; the intervals must lie apart."""
    ours, *others = rows
    wins = []
    for column, more in is_more_better.items():
        for other in others:
            own, his = ours.entries[column].ours, other.entries[column].ours
            if own and his and (his.low > own.high if more else his.high < own.low):
                wins.append(f"{other.label} in {column}")
    return f"Better than {ours.label}, with intervals apart: {', '.join(wins) or 'none'}."


TASKS = tuple(f"task {task}" for task in range(1, 6))
LIMIT = 1.1

PLAN_LENGTHS = {
    "medium": ("37.0", "35.5", "21.6", "35.5", "29.1"),
    "large": ("56.9", "71.7", "48.1", "53.4", "57.5"),
    "giant": ("117.5", "99.8", "109.5", "96.8", "62.6"),
}
WITHIN = {
    "medium": ("100.0",) * 5,
    "large": ("100.0", "97.5", "100.0", "100.0", "100.0"),
    "giant": ("100.0",) * 5,
}
BFS = {"medium": (40, 40, 24, 40, 32), "large": (60, 76, 48, 56, 60), "giant": (120, 104, 120, 104, 68)}


def task_lengths(trials: Sequence[Trial]) -> list[Sheet]:
    """Lengths, the share within 1.1 × BFS, and the ratio to the geodesic."""
    rows = tuple(row for split in SPLITS for row in _rows(split, trials))
    notes = (
        "Lengths are those of the complete plans, in world units, after post-processing.",
        "The geodesic keeps a clearance of 1.0 from the walls; the paper does not report it.",
    )
    return [Sheet("lengths", "Plan length against BFS, AntMaze-Stitch", "Table 4", TASKS, rows, notes)]


def _rows(split: str, trials: Sequence[Trial]) -> Iterator[Row]:
    own = [t for t in trials if CONTENDERS[0].is_of(t) and t.case.preset == preset(split)]
    plans = [complete_plans([t for t in own if t.case.task == task]) for task in range(1, 6)]
    published = (Entry(None, 0, str(length)) for length in BFS[split])
    yield Row(f"{split}: BFS", dict(zip(TASKS, published, strict=True)))
    yield Row(f"{split}: plan mean", _means(plans, lambda plan: plan.length, PLAN_LENGTHS[split], 1))
    shares = zip(TASKS, plans, WITHIN[split], strict=True)
    yield Row(
        f"{split}: within {LIMIT} × BFS, %",
        {
            task: Entry.of_share((plan.length <= LIMIT * plan.bfs for plan in some), printed)
            for task, some, printed in shares
        },
    )
    yield Row(f"{split}: ÷ geodesic", _means(plans, lambda plan: plan.length / plan.geodesic, ("",) * 5, 3))


def _means(
    plans: Sequence[Sequence[PlanFigures]],
    value: Callable[[PlanFigures], float],
    published: Sequence[str],
    digits: int,
) -> dict[str, Entry]:
    columns = zip(TASKS, plans, published, strict=True)
    return {task: Entry.of_mean(map(value, some), printed, digits) for task, some, printed in columns}


SUITE = Suite("stitch", "success on the official tasks, with peers", cases, walk_official, success_tables)

LENGTHS = Suite(
    "lengths",
    "plan length against BFS and the geodesic",
    lambda request: [case for split in SPLITS for case in walks(preset(split), CONTENDERS[0], request)],
    walk_official,
    task_lengths,
    records="stitch",
)
