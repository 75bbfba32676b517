"""The verbs of `python -m benchmarks`; what takes time is imported when its arguments are right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from chronoforest.cli.data import DATA_FOLDER, Name
from chronoforest.cli.terminal import Choice, Where, bar, open_folder, shown
from chronoforest.engines import EngineChoice
from chronoforest.errors import BadResult, InvalidParameter
from chronoforest.names import DEFAULT_VARIANT, require
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice

if TYPE_CHECKING:
    from benchmarks.expert.locomotion import Report

PROGRAM = "python -m benchmarks"

Folder = Annotated[Positional[Path], arg(metavar="FOLDER")]


@dataclass(frozen=True)
class BenchOptions:
    """Which trials, and where they go.

    Args:
        variant: verified, or online for the paper's method, or one of the ablations.
        seed: of all trials; the same seed gives the same plans.
        out: folder for SUITE.jsonl, one line per trial; a run that was stopped continues from there.
        markdown: print the table for a Markdown file.
    """

    variant: str = DEFAULT_VARIANT
    seed: int = 0
    out: Path = Path("runs/bench")
    markdown: bool = False

    def check(self, episodes: int) -> None:
        """Refuse what cannot be run, before anything is imported that takes time."""
        from benchmarks.ablations import named
        from chronoforest.typed import check_whole

        named(self.variant)
        check_whole("seed", self.seed)
        if episodes < 1:
            raise InvalidParameter(f"episodes must be at least 1, got {episodes}")


Bench = Annotated[BenchOptions, arg(name="")]


def stitch(choice: Choice, where: Where, bench: Bench, episodes: int = 50, replans: bool = True) -> None:
    """The official protocol: five tasks with jitter, success within 1000 and within 2000 steps.

    Args:
        episodes: per task.
        replans: plan anew when something goes wrong on the way; without it the walk ends there.
    """
    require("sim", unneeded=["imageio_ffmpeg"])  # it writes videos, and there are none here
    _bench("stitch", choice, where, bench, episodes, replans=replans)


def pairs(choice: Choice, where: Where, bench: Bench, episodes: int = 500) -> None:
    """Plans between random starts and goals: completeness, walls crossed, lengths.

    Args:
        episodes: pairs in all.
    """
    _bench("pairs", choice, where, bench, episodes)


def multi(
    choice: Choice, where: Where, bench: Bench, episodes: int = 100, agents: int = 2, waypoints: int = 5
) -> None:
    """Plans for several agents with shared random waypoints.

    Args:
        episodes: problems in all.
        agents: M.
        waypoints: K.
    """
    _bench("multi", choice, where, bench, episodes, num_agents=agents, num_waypoints=waypoints)


def order(choice: Choice, where: Where, bench: Bench, episodes: int = 50) -> None:
    """Plans through three waypoints whose best order the raw learned distance gets wrong.

    Args:
        episodes: waypoint triples in all; the five tasks take turns.
    """
    _bench("order", choice, where, bench, episodes)


def track(
    choice: Choice,
    where: Where,
    bench: Bench,
    episodes: int = 12,
    reference: str = "centres",
    look: float | None = None,
) -> None:
    """Fixed paths of the map, followed without planning: what a tracker can do, within 1000 steps.

    Args:
        episodes: per task.
        reference: centres of the cells, or geodesic-1.5, geodesic-1.25 or geodesic-1.0 by its clearance.
        look: units that the subgoal leads the nearest point of the path by; the preset's unless given.
    """
    require("sim", unneeded=["imageio_ffmpeg"])  # it writes videos, and there are none here
    choice.check()
    from chronoforest.presets.named import get_preset

    named = replace(choice, tracker=choice.tracker or get_preset(choice.preset).models.tracker.name)
    _bench("track", named, where, bench, episodes, reference=reference, look_ahead=look)


def _bench(
    name: str, choice: PlannerChoice, where: EngineChoice, bench: BenchOptions, episodes: int, **more: Any
) -> None:
    """Run a suite and print its table; `more`: what else its cases share."""
    choice.check()
    bench.check(episodes)
    where.check(choice.device)
    from rich.console import Console

    from benchmarks.case import Case
    from benchmarks.experiments.protocol import PROTOCOL_SUITES, bench_table, setup_title
    from benchmarks.run import kept_trials, read_records, run_cases
    from benchmarks.suite import Request

    suite = PROTOCOL_SUITES[name]
    template = Case(name, choice, seed=bench.seed, variant=bench.variant, **more)
    cases = suite.cases(Request(episodes=episodes, template=template))
    folder = open_folder(bench.out, PROGRAM)
    path = folder / suite.file
    num_kept = len(kept_trials(cases, read_records(folder, suite)))
    if num_kept:
        print(f"{path}: {num_kept} of {len(cases)} trials were there already, kept")
    with bar(f"{name} {choice.preset}", "trials") as on_progress:
        engine = where.make(tuple({"benchmarks", *choice.modules}))
        trials = run_cases(suite, cases, folder, on_progress=on_progress, engine=engine)
    table = bench_table(name, trials, setup_title(cases[0]))
    print(table.to_pipes()) if bench.markdown else Console().print(table.to_rich())
    print(f"{path}: {len(trials)} trials")


def run(
    where: Where,
    only: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    variants: tuple[str, ...] = (),
    repeats: int | None = None,
    episodes: int | None = None,
    out: Path = Path("runs/paper"),
    device: str = "cpu",
    data: Path = DATA_FOLDER,
    preset: str | None = None,
    weights: Path | None = None,
) -> None:
    """Run the suites of the paper; `report` then writes its tables and figures.

    Args:
        only: names of suites; all of them unless given.
        kinds: of trials, where a suite has several, as pairs, multi, order, hamiltonian, stitch of parts.
        variants: of the planner, or other planners such as dataset-graph; all that the suite compares unless
            told.
        repeats: evaluations of the whole, or of each stored problem; the paper's number unless given.
        episodes: of each task, or stored problems of each; the paper's number unless given.
        out: folder for SUITE.jsonl, one line per trial; a run that was stopped continues from there.
        device: cpu or cuda; use another folder for each.
        data: folder with PRESET.npz, for a planner that needs recorded states.
        preset: suite parts in another world than its own, or city with other models: a named one, or NAME for
            NAME.toml.
        weights: folder of trained models for it; use another `out` for each.
    """
    where.check(device)
    from benchmarks.case import Case
    from benchmarks.registry import chosen_suites
    from benchmarks.run import run_cases, runnable
    from benchmarks.suite import Request

    template = None
    if preset is not None or weights is not None:
        if only not in (("parts",), ("city",)) or preset is None:
            raise InvalidParameter(
                "another world needs --preset and --only parts, whose problems fit any world, or --only city"
            )
        template = Case(only[0], PlannerChoice(preset, weights=weights))
        template.choice.check()
    request = Request(repeats, episodes, template)
    known = {suite: suite.cases(request) for suite in chosen_suites(only)}
    everything = [case for cases in known.values() for case in cases]
    rows = {  # variants of ours, and other planners by their names
        c: c.variant if c.choice.planner == CHRONOFOREST else c.choice.planner for c in everything
    }
    asked = {"kinds": (kinds, {c.suite for c in everything}), "variants": (variants, {*rows.values()})}
    for option, (names, there) in asked.items():
        for name in names:
            if name not in there:
                raise InvalidParameter(
                    f"--{option} {name}: not in these suites; there are {', '.join(sorted(there))}"
                )
    open_folder(out, PROGRAM)
    for suite, cases in known.items():
        wanted = [  # a case that names recordings of its own, such as those of few, keeps them
            case.chosen(device=device, data=data if case.choice.data == DATA_FOLDER else case.choice.data)
            for case in cases
            if (not kinds or case.suite in kinds) and (not variants or rows[case] in variants)
        ]
        ready = runnable(suite, wanted)
        with bar(suite.name, "trials") as on_progress:
            engine = where.make(("benchmarks",))
            trials = run_cases(suite, ready, out, on_progress=on_progress, engine=engine)
        print(f"{out / suite.file}: {len(trials)} trials of suite {suite.name}")


def report(folder: Folder) -> None:
    """Write tables and figures from the records of a folder; runs nothing.

    Args:
        folder: where the records are; the report goes to FOLDER/report. It shows the protocol's or the
            paper's suites, whichever more of the files belong to.
    """
    if not folder.is_dir():
        raise BadResult(f"{folder}: no such folder; `{PROGRAM} SUITE --out FOLDER` makes records in one")
    from benchmarks.registry import contents_of
    from benchmarks.report.page import write_report

    page = write_report(folder, contents_of(folder))
    print(f"{page}: one page that needs nothing else; tables and figures beside it")


def generate(
    name: Name,
    where: Where,
    out_dir: Path = DATA_FOLDER,
    seed: int = 0,
    episodes: int = 5000,
    val_episodes: int = 500,
    expert: Path | None = None,
) -> None:
    """Record the training and the validation file of a dataset by OGBench's protocol.

    The same seed gives the same files whatever the number of workers. Interrupted with ctrl-C, the same
    command continues.

    Args:
        name: dataset, such as pointmaze-giant-stitch-v0.
        out_dir: folder for NAME.npz and NAME-val.npz.
        seed: whole number that determines every episode.
        episodes: training episodes.
        val_episodes: validation episodes.
        expert: the ant's expert from `python -m benchmarks expert`; the one that ships unless given.
    """
    where.check()
    from benchmarks.collect.expert import expert_for
    from benchmarks.collect.stitch import Recipe
    from benchmarks.collect.stitch import generate as write_dataset
    from benchmarks.collect.walks import Walks, read_goals
    from chronoforest.data.episodes import load

    walker = expert_for(name, expert)
    engine = None if where.is_plain else where.make(("benchmarks",))
    training = Recipe(name, "train", episodes, seed, walker)
    validation = Recipe(name, "val", val_episodes, seed, walker)
    for recipe, suffix in ((training, ""), (validation, "-val")):
        out = out_dir / f"{name}{suffix}.npz"
        with bar(out.name, "episodes") as on_progress:
            is_new = write_dataset(recipe, out, on_progress=on_progress, engine=engine)
        print(f"{out}: {'written' if is_new else 'was there already, kept'}")
        found = load(out)
        print(Walks(found, read_goals(out, len(found))).summary())


def record(
    world: Annotated[Literal["strait", "city", "taxi", "trail", "harbour"], Positional],
    source: Path = Path("data/chicago"),
    out: Path = DATA_FOLDER,
) -> None:
    """Write WORLD.npz and WORLD-val.npz: of the strait generated, of the city from its trips, imported as
    `chronoforest data import` does by default; of a world of suite `states` WORLD.csv, for `chronoforest
    learn`.

    Args:
        world: strait, city, or one of suite `states`.
        source: folder with the city's trips.csv.gz and streets.csv.gz.
        out: folder for the datasets.
    """
    from benchmarks.worlds import strait
    from benchmarks.worlds.known import WORLDS
    from benchmarks.worlds.trips import write_trips
    from chronoforest.data.columns import Columns
    from chronoforest.data.imports import ImportParams, import_files, save_episodes

    if world in WORLDS:
        WORLDS[world].recordings(seed=0).to_csv(out / f"{world}.csv", index=False)
        return
    if world == "strait":
        strait.write(out / "strait.npz", strait.Traffic(), seed=0)
        strait.write(out / "strait-val.npz", strait.Traffic(num_recordings=150), seed=1)
        return
    for path in write_trips(source, out):
        found = import_files([path], Columns(), ImportParams())
        save_episodes(path.with_suffix(".npz"), found.episodes)


def expert(
    seeds: int = 4,
    steps: int = 400_000,
    envs_per_seed: int = 4,
    out: Path = Path("runs/expert"),
    device: str = "auto",
    seed: int = 0,
    workers: int | None = None,
) -> None:
    """Train the ant's locomotion expert on a flat floor and keep the steadiest of several seeds.

    Args:
        seeds: experts trained side by side.
        steps: environment steps, and about as many updates, of each.
        envs_per_seed: ants that each of them walks at once.
        out: folder for expert.safetensors and its CARD.md.
        device: cpu, cuda, or auto for the best there is.
        seed: whole number that determines all random draws.
        workers: processes for the physics; all cores but one unless given.
    """
    from joblib import cpu_count

    from benchmarks.collect.expert import EXPERT_FILE
    from benchmarks.expert.locomotion import ExpertParams, ExpertRun, train_expert
    from chronoforest.models.train import pick_device

    params = ExpertParams(num_seeds=seeds, num_steps=steps, ants_per_seed=envs_per_seed, seed=seed)
    command = f"{PROGRAM} expert --seeds {seeds} --steps {steps} --envs-per-seed {envs_per_seed}"
    num_workers = max(1, cpu_count() - 1) if workers is None else workers
    with shown("expert", 0.0) as show:

        def show_report(report: Report) -> None:
            speeds = " ".join(f"{value:.2f}" for value in report.speeds)
            falls = " ".join(f"{value:.1f}" for value in report.falls_per_1000)
            show(report.step, report.num_steps, f"{speeds} units/s, {falls} falls/1000")

        run = ExpertRun(out, pick_device(device), num_workers, f"{command} --seed {seed}", show_report)
        open_folder(out, PROGRAM)
        chosen, figures = train_expert(params, run)
    for k, figure in enumerate(figures):
        calm = f"{figure.speed:.2f} units/s, {figure.falls_per_1000:.2f} falls/1000"
        noisy = f"{figure.noisy_speed:.2f} units/s, {figure.noisy_falls_per_1000:.2f} falls/1000"
        print(f"seed {k}: {calm}; with noise {noisy}{' (chosen)' if k == chosen else ''}")
    print(f"{out / EXPERT_FILE}: written")
