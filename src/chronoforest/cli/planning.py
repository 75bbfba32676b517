"""What the verbs that plan have in common: which planner, where to write, and how points are typed."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from chronoforest.engines.choice import EngineChoice
from chronoforest.errors import InvalidProblem
from chronoforest.files import DAMAGE, write_text
from chronoforest.peers.choice import PlannerChoice

Choice = Annotated[PlannerChoice, arg(name="")]
Where = Annotated[EngineChoice, arg(name="")]


def open_folder(out: Path, program: str = "chronoforest") -> Path:
    """Make a run folder that remembers its commands and version, before any long work."""
    path = out / "config.json"
    command = f"{program} {shlex.join(sys.argv[1:])}"
    commands = dict.fromkeys([*_known_commands(path), command])
    config = {"commands": list(commands), "version": version("chronoforest")}
    write_text(path, json.dumps(config, indent=2) + "\n")
    return out


def _known_commands(path: Path) -> list[str]:
    """The commands that wrote to a folder before; none when it does not say."""
    try:
        return [str(command) for command in json.loads(path.read_text())["commands"]]
    except DAMAGE:
        return []


def read_points(name: str, text: str) -> list[list[float]]:
    """Points typed as "x,y x,y", or in a CSV file that is named instead."""
    if text.lower().endswith(".csv"):
        from chronoforest.planning.problem_files import load_points

        return load_points(text)
    try:
        points = [[float(number) for number in word.split(",")] for word in text.split()]
    except ValueError:
        points = [[]]
    if any(len(point) != 2 for point in points):
        raise InvalidProblem(f'--{name} must be points such as "0,0 52,36" or a CSV file, got {text!r}')
    return points
