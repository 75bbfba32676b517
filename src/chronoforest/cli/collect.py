"""`chronoforest collect`: train what walks while datasets are recorded."""

from __future__ import annotations

from pathlib import Path


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

    from chronoforest.cli.progress import expert_bar
    from chronoforest.collect.expert import EXPERT_FILE
    from chronoforest.collect.locomotion import ExpertParams, ExpertRun, train_expert
    from chronoforest.models.train import pick_device

    params = ExpertParams(num_seeds=seeds, num_steps=steps, ants_per_seed=envs_per_seed, seed=seed)
    command = f"chronoforest collect expert --seeds {seeds} --steps {steps} --envs-per-seed {envs_per_seed}"
    num_workers = max(1, cpu_count() - 1) if workers is None else workers
    with expert_bar("expert") as on_report:
        run = ExpertRun(out, pick_device(device), num_workers, resume, f"{command} --seed {seed}", on_report)
        chosen, figures = train_expert(params, run)
    for k, figure in enumerate(figures):
        calm = f"{figure.speed:.2f} units/s, {figure.falls_per_1000:.2f} falls/1000"
        noisy = f"{figure.noisy_speed:.2f} units/s, {figure.noisy_falls_per_1000:.2f} falls/1000"
        print(f"seed {k}: {calm}; with noise {noisy}{' (chosen)' if k == chosen else ''}")
    print(f"{out / EXPERT_FILE}: written")
