"""Table 1: success on the official tasks of three mazes, ours, one sample per leaf, and the peers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chronoforest.bench.case import Case
from chronoforest.bench.protocol import task_cases, walk_official
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, official_env
from chronoforest.envs.tasks import reset_task
from chronoforest.execution.rollout import MAX_STEPS
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.types import Problem

SPLITS = ("medium", "large", "giant")
REPEATS, EPISODES = 4, 20
"""Evaluations of the whole, and episodes of each task in one of them, as in the paper."""


@dataclass(frozen=True)
class Contender:
    """A row: whose plans are walked."""

    label: str
    planner: str = CHRONOFOREST
    variant: str = "online"

    @property
    def repeats(self) -> int:
        """A peer is evaluated once, and so are the paper's settings, which are slow."""
        return REPEATS if self.planner == CHRONOFOREST and self.variant != "paper" else 1

    def is_of(self, trial: Trial) -> bool:
        """Whether a trial belongs to the row."""
        return (trial.case.choice.planner, trial.case.variant) == (self.planner, self.variant)


CONTENDERS = (
    Contender("ChronoForest"),
    Contender("ChronoForest-single", variant="single"),
    Contender("ChronoForest, paper's settings", variant="paper"),
    Contender("dataset-graph", "dataset-graph"),
    Contender("diffusion-replan", "diffusion-replan"),
    Contender("compositional", "compositional"),
    Contender("tree-single", "tree-single"),
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
    """The repeated evaluations of one contender in one maze."""
    own = Case("stitch", PlannerChoice(preset, planner=contender.planner), variant=contender.variant)
    return [
        case
        for repeat in range(request.repeats or contender.repeats)
        for case in task_cases(replace(own, seed=repeat), request.episodes or EPISODES)
    ]


def task_problem(case: Case) -> Problem:
    """An official task with its jitter, as the environment is reset to it."""
    start = reset_task(official_env(case.preset, MAX_STEPS), case.task, case.seeds[0])
    return Problem([start.observation[:2]], [start.goal])


SUITE = Suite("stitch", "success on the official tasks, with peers", cases, walk_official, seconds=5.0)
