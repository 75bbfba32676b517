"""Few recordings: plans between random places on models learned from 40, 100, 300 and 1000 of 5000, which
`python -m benchmarks thin` trains; suite `thin-parts` has the rows of `parts` on them, but for students."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import chronoforest
from benchmarks.case import Case
from benchmarks.experiments.parts import part_tables, rows_of, run_part
from benchmarks.experiments.protocol import random_cases
from benchmarks.metrics import complete_plans, median
from benchmarks.problems import random_problem
from benchmarks.report.tables import Entry, Row, Sheet
from benchmarks.suite import CONTENDERS, Contender, Request, Suite
from benchmarks.trials import Trial, figures_of, measure_plan, plan_problem
from chronoforest.data.episodes import Episodes, flat_arrays, load, write_arrays
from chronoforest.errors import BadDataset
from chronoforest.models.fit import FITS
from chronoforest.models.params import ModelParams
from chronoforest.models.runs import Recordings, TrainingRun
from chronoforest.models.train import Progress, pick_device
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.presets.named import get_preset
from chronoforest.presets.quality import assess

PRESET = "pointmaze-giant-stitch-v0"
COUNTS = (40, 100, 300, 1000)  # how many of the 5000 recordings are learned from, the first ones

FOLDER = Path("runs/thin")
STEPS = {"density": 0, "distance": 40_000, "denoiser": 12_000}  # how long each model is trained at most

SHIPPED = Path(chronoforest.__file__).parent / "weights" / PRESET

EPISODES = 60
LEFT_OUT = ("no-student", "verified-no-student")  # variants that suite `thin-parts` has no models for


def thin(
    counts: tuple[int, ...] = COUNTS,
    data: Path = Path("data"),
    out: Path = FOLDER,
    device: str = "auto",
    resume: bool = False,
) -> None:
    """Train on the first few recordings; `run --only thin` then plans on what was learned.

    Args:
        counts: how many recordings, one training for each.
        data: folder with the recordings, of which `python -m benchmarks generate` makes 5000.
        out: folder for a folder of each count, with its recordings and models.
        device: cpu, cuda, or auto for the best there is.
        resume: continue saved runs in the same folder as if they had never stopped.
    """
    for count in counts:
        train_on(keep_first(count, data, out), device, resume)


def keep_first(count: int, data: Path, out: Path = FOLDER) -> Path:
    """A folder with the first recordings and nothing else of them."""
    source = load(data / f"{PRESET}.npz")
    if not 1 <= count <= len(source):
        raise BadDataset(f"{data / PRESET}.npz has {len(source)} recordings, asked for the first {count}")
    few = Episodes(source.observations[:count], source.actions[:count])
    folder = out / str(count)
    write_arrays(folder / f"{PRESET}.npz", flat_arrays(few))
    return folder


def train_on(folder: Path, device: str = "auto", resume: bool = False) -> None:
    """Learn from the recordings in a folder, into it, and assess what was learned as `train all` does; plans
    are not walked, so any tracker will do."""
    recordings, params = Recordings.read(folder / f"{PRESET}.npz"), ModelParams()
    shorter = replace(
        params,
        distance_training=replace(params.distance_training, num_steps=STEPS["distance"]),
        denoiser_training=replace(params.denoiser_training, num_steps=STEPS["denoiser"]),
    )
    shutil.copy(SHIPPED / "tracker.safetensors", folder)
    for kind in STEPS:
        progress = partial(_report, f"{folder.name} {kind}")
        command = f"python -m benchmarks thin --counts {folder.name}"
        run = TrainingRun(folder, PRESET, pick_device(device), resume, None, command, progress)
        figures = FITS[kind](recordings, shorter, run)
        shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{folder.name} {kind}: {shown}", flush=True)
    for found in assess(get_preset(PRESET), folder, recordings.held_out.xy.astype(float)):
        print(f"{folder.name} {found}", flush=True)


def _report(name: str, now: Progress) -> None:
    """A line now and then, and at the end."""
    if now.step % 2000 < now.rate or now.step == now.num_steps:
        held_out = "" if now.held_out is None else f", held out {now.held_out:.4g}"
        print(f"{name}: step {now.step}, loss {now.loss:.4g}{held_out}, {now.rate:.0f} steps/s", flush=True)


@dataclass(frozen=True)
class ThinFigures:
    """Seconds until every leg of the route was there, None where they never were, and each leg's evidence."""

    first_seconds: float | None
    evidence: tuple[str, ...]


def cases(request: Request) -> list[Case]:
    """Every contender on every count, the same problems for all; repeats differ in the seed."""
    return [
        case
        for count in COUNTS
        for contender in CONTENDERS
        for repeat in range(request.repeats or 1)
        for case in random_cases(_template("thin", count, contender, repeat), request.episodes or EPISODES)
    ]


def _template(suite: str, count: int, contender: Contender, seed: int) -> Case:
    folder = FOLDER / str(count)
    choice = PlannerChoice(PRESET, planner=contender.planner, weights=folder, data=folder)
    return Case(suite, choice, seed=seed, variant=contender.variant, change=f"recordings={count}")


def plan_thin(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, and tell when the first complete plan was there and how many legs are verified."""
    result = plan_problem(case, planner, random_problem(case))
    legs = [leg.evidence for route in result.routes for leg in route.legs]
    whole = (stats.seconds for stats in result.rounds if set(stats.route.legs) <= set(stats.accepted))
    return Trial(case, measure_plan(result, case.maze), figures=ThinFigures(next(whole, None), tuple(legs)))


def thin_table(trials: Sequence[Trial]) -> list[Sheet]:
    """A row for every count and contender."""
    rows = tuple(row for count in COUNTS for row in _rows(count, trials))
    notes = (
        "Models are learned from the first recordings of 5000; a tenth of them is held out.",
        "An anchor without recordings lies outside the data's support, and every planner refuses it.",
        "Seconds are medians; the first plan of all also builds the roadmap.",
        "In records of 0.2 a leg was verified when its ends were met, whatever lay between.",
    )
    return [Sheet("thin", "Plans on what few recordings teach", "", tuple(rows[0].entries), rows, notes)]


def _rows(count: int, trials: Sequence[Trial]) -> Iterator[Row]:
    own = [trial for trial in trials if trial.case.change == f"recordings={count}"]
    rows = {one.label: [trial for trial in own if one.is_of(trial)] for one in CONTENDERS}
    solved = ({trial.case.seeds for trial in _complete(some)} for some in rows.values() if some)
    by_all = set.intersection(*solved) if own else set()
    for label, some in rows.items():
        yield Row(f"{count}: {label}", _entries(some, by_all))


def _entries(trials: Sequence[Trial], by_all: set[tuple[int, int]]) -> dict[str, Entry]:
    """By column; by_all: seeds of the problems that all contenders solve."""
    whole, refused = _complete(trials), sum(bool(trial.refusal) for trial in trials)
    plans, found = complete_plans(whole), figures_of(whole, ThinFigures)
    shared = complete_plans([trial for trial in whole if trial.case.seeds in by_all])
    legs = [name for one in found for name in one.evidence]
    firsts = [one.first_seconds for one in found if one.first_seconds is not None]
    return {
        "complete": Entry.of_value(len(whole), len(trials), digits=0),
        "anchor without recordings": Entry.of_value(refused, len(trials), digits=0),
        "not connected": Entry.of_value(len(trials) - refused - len(whole), len(trials), digits=0),
        "÷ geodesic": Entry.of_mean((plan.length / plan.geodesic for plan in plans), digits=3),
        "÷ geodesic, where all are complete": Entry.of_mean(
            (p.length / p.geodesic for p in shared), digits=3
        ),
        "through walls": Entry.of_value(sum(plan.crosses_wall for plan in plans), len(plans), digits=0),
        "legs verified, %": Entry.of_share(name == "verified" for name in legs),
        "legs recorded, %": Entry.of_share(name == "recorded" for name in legs),
        "first plan, s": _median(firsts),
        "final plan, s": _median([plan.seconds for plan in plans]),
    }


def _complete(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.plan is not None and trial.plan.is_complete]


def _median(values: Sequence[float]) -> Entry:
    return Entry.of_value(median(values), len(values)) if values else Entry(None)


def part_cases(request: Request) -> list[Case]:
    """Every row of suite `parts` on every count, the same pairs for all: the first of suite `thin`."""
    return [
        case
        for count in COUNTS
        for seed in range(request.repeats or 1)
        for episode in range(request.episodes or 12)
        for case in rows_of(replace(_template("pairs", count, CONTENDERS[0], seed), episode=episode))
        if case.variant not in LEFT_OUT
    ]


SUITE = Suite(
    "thin", "plans on what few recordings teach", cases, plan_thin, thin_table, figures=(ThinFigures,)
)

PARTS = Suite(
    "thin-parts",
    "what each part is worth where recordings are few",
    part_cases,
    run_part,
    partial(part_tables, name="thin-parts"),
)
