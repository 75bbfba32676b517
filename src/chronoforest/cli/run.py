"""`chronoforest run`: plan an official task and walk it in MuJoCo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chronoforest.cli.planning import Choice, open_folder
from chronoforest.files import locked
from chronoforest.modules import require
from chronoforest.names import DEFAULT_VARIANT, check_variant

if TYPE_CHECKING:
    from chronoforest.execution.journey import Journey


def run(
    choice: Choice, task: int, variant: str = DEFAULT_VARIANT, seed: int = 0, out: Path | None = None
) -> None:
    """Plan one of the five official tasks, walk it, and draw what happened.

    Args:
        task: 1 to 5.
        variant: verified, or online for the paper's method, or one of the ablations.
        seed: the same seed gives the same plan.
        out: folder for the records, the pictures and the video; runs/PRESET-taskTASK unless told.
    """
    from chronoforest.envs.tasks import make_env, world
    from chronoforest.errors import InvalidParameter
    from chronoforest.typed import check_whole

    choice.check()
    check_variant(variant)
    check_whole("seed", seed)
    num_tasks = len(world(choice.preset).maze.tasks)
    if not 1 <= task <= num_tasks:
        raise InvalidParameter(f"--task must be 1…{num_tasks}, got {task}")
    require("sim")
    from chronoforest.execution.journey import walk_task
    from chronoforest.execution.rollout import MAX_STEPS

    with locked(open_folder(out or Path("runs") / f"{choice.preset}-task{task}")) as folder:
        planner, env = choice.load(), make_env(choice.preset, max_episode_steps=MAX_STEPS)
        journey = walk_task(planner, env, task, seed=seed, variant=variant)
        print(journey.summary())
        for path in write_journey(journey, folder, f"{choice.preset}, task {task}"):
            print(f"  {path}")


def write_journey(journey: Journey, folder: Path, title: str) -> list[Path]:
    """Records, then the pictures and the video drawn from them; returns what was written."""
    from chronoforest.cli.progress import bar
    from chronoforest.report.plots import draw_rollouts
    from chronoforest.report.video import draw_video

    journey.save(folder)
    result = journey.result
    result.plot(folder / "plan.png")
    draw_rollouts(folder / "walk.png", result.support, result.problem, journey.rollouts, title)
    with bar("video", "frames") as on_frame:
        view = draw_video(folder / "walk.mp4", result, journey.rollouts, title, on_frame=on_frame)
    print(f"video: {view}")
    return [folder / name for name in ("plan.json", "rollout.json", "plan.png", "walk.png", "walk.mp4")]
