"""The roadmap that is kept in a world's folder, made from its recordings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading
from chronoforest.models import checkpoint, store
from chronoforest.roadmap.durations import Times
from chronoforest.roadmap.roadmap import Roadmap, RoadmapParams, usual_pace
from chronoforest.roadmap.states import StateSpace
from chronoforest.roadmap.transitions import Transitions

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
        num_places, num_hops = len(arrays["position"]), len(arrays["source"])
        dim = arrays["position"].shape[-1]
        _check_arrays(
            arrays,
            {
                "position": ("f", (num_places, dim)),
                "heading": ("f", (num_places, dim)),
                "recorded": ("f", (len(arrays["recorded"]), dim)),
                "source": ("i", (num_hops,)),
                "target": ("i", (num_hops,)),
                "count": ("i", (num_hops,)),
                "cost": ("f", (num_hops,)),
                "steps": ("f", (num_hops,)),
            },
        )
        space = StateSpace(**{**about["space"], "columns": tuple(about["space"]["columns"])})
        columns = (arrays[name] for name in ("source", "target", "count", "cost", "steps"))
        hops = Transitions(*columns)
        times = Times(arrays["steps"], arrays["times_num_hops"], arrays["times_ratios"])
        return Roadmap(
            space,
            arrays["position"],
            arrays["heading"],
            hops,
            arrays["recorded"],
            times,
            RoadmapParams(),
            usual_pace(hops),
        )


def _check_arrays(arrays: dict[str, Any], expected: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    """Refuse tables of other shapes or types, hops to places that do not exist, and steps below 0."""
    for name, (kind, shape) in expected.items():
        if arrays[name].dtype.kind != kind or arrays[name].shape != shape:
            found = f"{arrays[name].dtype} {list(arrays[name].shape)}"
            raise BadCheckpoint(f"{name} is {found}, expected type {kind!r} and shape {list(shape)}")
        # Written so that NaN is refused too: files of earlier versions carry no hash.
        least = -np.inf if len(shape) == 2 else 0
        if kind == "f" and not (np.isfinite(arrays[name]) & (arrays[name] >= least)).all():
            raise BadCheckpoint(f"{name} has values that are not finite or below {least}")
    num_places = len(arrays["position"])
    if num_places == 0:
        raise BadCheckpoint("it has no places")
    for name in ("source", "target"):
        is_known = (arrays[name] >= 0) & (arrays[name] < num_places)
        if not is_known.all():
            odd = arrays[name][~is_known][0]
            raise BadCheckpoint(f"{name} names place {odd}, there are {num_places}")
