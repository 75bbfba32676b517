"""`chronoforest run`, an official task planned and walked in MuJoCo; `chronoforest demo`, the first one to
try."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from chronoforest.cli.terminal import Choice, bar, open_folder
from chronoforest.files import locked
from chronoforest.names import DEFAULT_VARIANT, RUNS, check_variant, require
from chronoforest.peers.choice import PlannerChoice

if TYPE_CHECKING:
    from chronoforest.execution.journey import Journey


def run(
    choice: Choice, task: int, variant: str = DEFAULT_VARIANT, seed: int = 0, out: Path | None = None
) -> None:
    """Plan one of the five official tasks, walk it, and draw what happened.

    Args:
        task: 1 to 5.
        variant: verified, online for the paper's method, paper for its settings, or roadmap-only.
        seed: the same seed gives the same plan.
        out: folder for the records, the pictures and the video; runs/PRESET-taskTASK unless given.
    """
    from chronoforest.envs.tasks import check_task, make_env, world
    from chronoforest.typed import check_whole

    choice.check()
    check_variant(variant)
    check_whole("seed", seed)
    world(choice.preset)
    check_task(task)
    require("sim")
    from chronoforest.execution.journey import walk_task
    from chronoforest.execution.rollout import MAX_STEPS

    with locked(open_folder(out or RUNS / f"{choice.preset}-task{task}")) as folder:
        planner, env = choice.load(), make_env(choice.preset, max_episode_steps=MAX_STEPS)
        journey = walk_task(planner, env, task, seed=seed, variant=variant)
        _write(journey, folder, f"{choice.preset}, task {task}")


def _write(journey: Journey, folder: Path, title: str) -> None:
    """The summary on the screen; in the folder records, then the pictures and the video drawn from them."""
    from chronoforest.report.maps import draw_rollouts
    from chronoforest.report.video import draw_video

    print(journey.summary())
    journey.save(folder)
    result = journey.result
    result.plot(folder / "plan.png")
    draw_rollouts(folder / "walk.png", result.support, result.problem, journey.rollouts, title)
    with bar("video", "frames") as on_frame:
        view = draw_video(folder / "walk.mp4", result, journey.rollouts, title, on_frame=on_frame)
    print(f"video: {view}")
    for name in ("plan.json", "rollout.json", "plan.png", "walk.png", "walk.mp4"):
        print(f"  {folder / name}")


PRESET = "antmaze-giant-stitch-v0"
STOPS = {"starts": "0,0 0,36", "goals": "52,36 52,0", "waypoints": "16,0 4,24 20,16 32,8 32,24"}


def demo(
    out: Path = RUNS / "demo",
    seed: int = 0,
    mode: Literal["default", "fast"] = "default",
    weights: Path | None = None,
) -> None:
    """Plan for two ants and five waypoints in the giant maze, walk both, and draw what happened.

    Args:
        out: folder for the records, the pictures and the video.
        seed: the same seed gives the same plan.
        mode: default, or fast.
        weights: folder of trained models; those of the package unless given.
    """
    from chronoforest.typed import check_whole

    choice = PlannerChoice(PRESET, mode=mode, weights=weights)
    choice.check()
    check_whole("seed", seed)
    require("sim")
    from chronoforest.execution.journey import walk_problem
    from chronoforest.types import Problem

    with locked(open_folder(out)) as folder:
        journey = walk_problem(
            choice.load(),
            Problem(**STOPS),
            seed=seed,
            on_plan=lambda result: print(f"{result.headline}; now both walk", flush=True),
        )
        _write(journey, folder, "two ants, five waypoints")
