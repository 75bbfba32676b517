"""The roadmap that is kept in a world's folder, made from its recordings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading
from chronoforest.models import checkpoint, store
from chronoforest.roadmap.roadmap import Roadmap, RoadmapParams, usual_pace
from chronoforest.roadmap.states import StateSpace
from chronoforest.roadmap.transitions import Times, Transitions

STATES = "states"


def keep_roadmap(folder: Path, roadmap: Roadmap, preset: str, data: str) -> Path:
    """Write the roadmap of a world; data: the fingerprint of its recordings."""
    hops, times, space = roadmap.hops, roadmap.times, roadmap.space
    arrays = {
        "position": roadmap.position,
        "heading": roadmap.heading,
        "recorded": roadmap.recorded,
        **vars(hops),
        "times_num_hops": times.num_hops,
        "times_ratios": times.ratios,
    }
    about = {"kind": STATES, "preset": preset, "data": data, "space": asdict(space)}
    path = store.model_path(folder, STATES)
    checkpoint.write(path, arrays, about)
    return path


def kept_roadmap(folder: Path, preset: str) -> Roadmap | None:
    """The roadmap of a folder, None where there is none."""
    path = store.model_path(folder, STATES)
    if not path.is_file():
        return None
    arrays, about = checkpoint.read_arrays(path, STATES, "a roadmap of states")
    with reading(path, "a roadmap of states (`chronoforest learn` makes a new one)", BadCheckpoint):
        if about["preset"] != preset:
            raise BadCheckpoint(f"it was learned for {about['preset']!r}, not for {preset!r}")
        _check(arrays)
        space = StateSpace(**{**about["space"], "columns": tuple(about["space"]["columns"])})
        hops = Transitions(*(arrays[name] for name in ("source", "target", "count", "cost", "steps")))
        times = Times(arrays["steps"], arrays["times_num_hops"], arrays["times_ratios"])
        position, heading, recorded = (arrays[name] for name in ("position", "heading", "recorded"))
        return Roadmap(space, position, heading, hops, recorded, times, RoadmapParams(), usual_pace(hops))


def _check(arrays: dict[str, Any]) -> None:
    """Refuse tables of other shapes or types, hops to places that do not exist, and steps below 0."""
    num_places, dim = arrays["position"].shape
    tables = {"position": num_places, "heading": num_places, "recorded": len(arrays["recorded"])}
    expected: dict[str, tuple[str, tuple[int, ...], float]] = {
        name: ("f", (rows, dim), -np.inf) for name, rows in tables.items()
    }
    for name in ("source", "target", "count", "cost", "steps"):
        expected[name] = "f" if name in ("cost", "steps") else "i", (len(arrays["source"]),), 0
    for name, (kind, shape, least) in expected.items():
        found = arrays[name]
        if (found.dtype.kind, found.shape) != (kind, shape) or not (found >= least).all():
            raise BadCheckpoint(
                f"{name} is {found.dtype} {list(found.shape)}, expected type {kind!r}, shape {list(shape)} "
                f"and values of {least} or more"
            )
    if max(0, *arrays["source"], *arrays["target"]) >= num_places:
        raise BadCheckpoint(f"hops lead to places that do not exist, there are {num_places}")
