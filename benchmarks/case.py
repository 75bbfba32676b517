"""One trial to run, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mazes import Maze, maze_of
from chronoforest.peers.choice import PlannerChoice


@dataclass(frozen=True)
class Case:
    """One trial to run.

    task: 1…5, or 0 where no official task is involved; episode: which of the cases of that task;
    seed: of the whole suite; num_agents, num_waypoints: M and K; reference, look_ahead: the path of suite
    `track` and how far ahead on it the subgoal is, as the preset has it unless given; replans: whether a walk
    in trouble plans anew; instance: name of a stored problem; change: one parameter set otherwise, as in
    "search.num_expand=2".
    """

    suite: str
    choice: PlannerChoice
    task: int = 0
    episode: int = 0
    seed: int = 0
    variant: str = "online"
    num_agents: int = 1
    num_waypoints: int = 0
    reference: str = ""
    look_ahead: float | None = None
    replans: bool = True
    instance: str = ""
    change: str = ""

    @property
    def preset(self) -> str:
        """The world that is planned in."""
        return self.choice.preset

    @property
    def maze(self) -> Maze:
        """The map."""
        return maze_of(self.preset)

    @property
    def seeds(self) -> tuple[int, int]:
        """Of the environment's reset and of the planner, the same for every variant."""
        reset_seed, plan_seed = np.random.SeedSequence([self.seed, self.task, self.episode]).generate_state(2)
        return int(reset_seed), int(plan_seed)

    @property
    def key(self) -> Case:
        """What identifies the trial in a file of records, wherever it is run."""
        here = PlannerChoice(self.preset)
        return self.chosen(weights=here.weights, device=here.device, data=here.data)

    @property
    def setup(self) -> Case:
        """What the trials of one table have in common: the key without task, episode and seed."""
        return replace(self.key, task=0, episode=0, seed=0)

    def chosen(self, **changes: Any) -> Case:
        """The same case for another planner."""
        return replace(self, choice=replace(self.choice, **changes))

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON knows; those of the choice stand beside the others."""
        values = asdict(self)
        choice = values.pop("choice")
        places = {name: None if choice[name] is None else str(choice[name]) for name in ("weights", "data")}
        return {**values, **choice, **places}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Case:
        """The inverse of `to_dict`."""
        chosen = {field.name: values[field.name] for field in fields(PlannerChoice)}
        weights, data = chosen["weights"], chosen["data"]
        places = {"weights": None if weights is None else Path(weights), "data": Path(data)}
        own = {name: value for name, value in values.items() if name not in chosen}
        return cls(choice=PlannerChoice(**{**chosen, **places}), **own)
