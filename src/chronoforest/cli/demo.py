"""`chronoforest demo`: two ants, five waypoints, the giant maze."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from chronoforest.execution.journey import Journey
    from chronoforest.planning.result import PlanResult

PRESET = "antmaze-giant-stitch-v0"
STARTS = [[0.0, 0.0], [0.0, 36.0]]
GOALS = [[52.0, 36.0], [52.0, 0.0]]
WAYPOINTS = [[16.0, 0.0], [4.0, 24.0], [20.0, 16.0], [32.0, 8.0], [32.0, 24.0]]


def demo(
    out: Path = Path("runs/demo"),
    seed: int = 0,
    mode: Literal["default", "fast"] = "default",
    weights: Path | None = None,
) -> None:
    """Plan for two ants and five waypoints in the giant maze, walk both, and draw what happened.

    Args:
        out: folder for the records, the pictures and the video.
        seed: the same seed gives the same plan.
        mode: default, or fast.
        weights: folder of trained models; those of the package unless told.
    """
    from chronoforest.cli.planning import open_folder
    from chronoforest.modules import require
    from chronoforest.peers.choice import PlannerChoice
    from chronoforest.typed import check_whole

    choice = PlannerChoice(PRESET, mode=mode, weights=weights)
    choice.check()
    check_whole("seed", seed)
    require("sim")
    from rich.console import Console

    from chronoforest.cli.live import rounds_view
    from chronoforest.cli.run import write_journey
    from chronoforest.execution.journey import walk_problem
    from chronoforest.files import locked
    from chronoforest.types import Problem

    console = Console()
    problem = Problem(STARTS, GOALS, WAYPOINTS)
    with locked(open_folder(out)) as folder:
        with console.status(f"loading {PRESET}"):
            planner = choice.load()

        def on_plan(result: PlanResult) -> None:
            result.plot(folder / "plan.png")
            console.print(f"planned: {folder / 'plan.png'}; now both walk", soft_wrap=True)

        with rounds_view(console) as on_round:
            journey = walk_problem(planner, problem, seed=seed, on_round=on_round, on_plan=on_plan)
        console.print(_table(journey))
        for path in write_journey(journey, folder, "two ants, five waypoints"):
            print(f"  {path}")


def _table(journey: Journey) -> object:
    from chronoforest.report.tables import TextTable
    from chronoforest.types import path_length

    rows = [
        (
            f"agent {agent + 1}",
            " → ".join(plan.order),
            f"{plan.length:.1f}",
            f"{path_length(rollout.xy):.1f}",
            str(rollout.steps),
            str(rollout.num_replans),
            "arrived" if rollout.success else rollout.cause,
        )
        for agent, (plan, rollout) in enumerate(zip(journey.result.routes, journey.rollouts, strict=True))
    ]
    result = journey.result
    state = "complete" if result.complete else "incomplete"
    title = f"{state} after {result.num_rounds} rounds, {result.num_expanded} nodes, {result.seconds:.1f} s"
    header = ("", "route", "planned", "walked", "steps", "re-planned", "outcome")
    return TextTable(title, header, tuple(rows)).to_rich()
