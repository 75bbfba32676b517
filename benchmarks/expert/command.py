"""`python -m benchmarks expert`: train what walks the ant while datasets are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chronoforest.cli.planning import open_folder
from chronoforest.cli.progress import shown

if TYPE_CHECKING:
    from benchmarks.expert.reports import Report


def expert(
    seeds: int = 4,
    steps: int = 400_000,
    envs_per_seed: int = 4,
    out: Path = Path("runs/expert"),
    device: str = "auto",
    resume: bool = False,
    seed: int = 0,
    workers: int | None = None,
) -> None:
    """Train the ant's locomotion expert on a flat floor and keep the steadiest of several seeds.

    Saves every minute and when stopped; the expert so far is usable at any time.

    Args:
        seeds: experts trained side by side.
        steps: environment steps, and about as many updates, of each.
        envs_per_seed: ants that each of them walks at once.
        out: folder for expert.safetensors, its CARD.md and what --resume needs.
        device: cpu, cuda, or auto for the best there is.
        resume: continue the run saved in the same folder.
        seed: whole number that determines all random draws.
        workers: processes for the physics; all cores but one unless told.
    """
    from joblib import cpu_count

    from benchmarks.expert.locomotion import ExpertRun, train_expert
    from benchmarks.expert.params import ExpertParams
    from chronoforest.collect.expert import EXPERT_FILE
    from chronoforest.models.train import pick_device

    params = ExpertParams(num_seeds=seeds, num_steps=steps, ants_per_seed=envs_per_seed, seed=seed)
    command = f"python -m benchmarks expert --seeds {seeds} --steps {steps} --envs-per-seed {envs_per_seed}"
    num_workers = max(1, cpu_count() - 1) if workers is None else workers
    with _expert_bar("expert") as on_report:
        run = ExpertRun(out, pick_device(device), num_workers, resume, f"{command} --seed {seed}", on_report)
        open_folder(out, "python -m benchmarks")
        chosen, figures = train_expert(params, run)
    for k, figure in enumerate(figures):
        calm = f"{figure.speed:.2f} units/s, {figure.falls_per_1000:.2f} falls/1000"
        noisy = f"{figure.noisy_speed:.2f} units/s, {figure.noisy_falls_per_1000:.2f} falls/1000"
        print(f"seed {k}: {calm}; with noise {noisy}{' (chosen)' if k == chosen else ''}")
    print(f"{out / EXPERT_FILE}: written")


@contextmanager
def _expert_bar(title: str) -> Iterator[Callable[[Report], None]]:
    """Show steps, speeds and falls; without a terminal, a line for every report."""
    with shown(title, 0.0) as show:

        def tell(report: Report) -> None:
            speeds = " ".join(f"{value:.2f}" for value in report.speeds)
            falls = " ".join(f"{value:.1f}" for value in report.falls_per_1000)
            text = f"{speeds} units/s, {falls} falls/1000, {report.rate:.0f} steps/s"
            show(report.step, report.num_steps, text)

        yield tell
