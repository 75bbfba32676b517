"""The roadmap that is kept with the weights it was made from; without one, the first plan makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading
from chronoforest.models import checkpoint, store
from chronoforest.models.store import Models
from chronoforest.planning.variants import PlannerParams
from chronoforest.roadmap.hops import LONELY, Hops, Usual
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.ways import NARROW_SPACING, Roadmap

KIND = "roadmap"

RECIPE = 1
"""To be raised when roadmaps are made otherwise than before: those that are kept are made anew then."""


def keep_roadmap(folder: Path, models: Models, params: PlannerParams, roadmap: Roadmap) -> Path:
    """Write the roadmap of some models beside their weights."""
    tensors = {name: torch.as_tensor(values) for name, values in _arrays(roadmap).items()}
    about = {
        "kind": KIND,
        "origin": origin(models, params),
        "pace": roadmap.usual.pace,
        "traffic": roadmap.usual.traffic,
        "has_lanes": roadmap.has_lanes,
    }
    path = store.model_path(folder, KIND)
    checkpoint.write(path, tensors, about)
    return path


def kept_roadmap(folder: Path, models: Models, params: PlannerParams) -> Roadmap | None:
    """The roadmap of a folder, None where there is none or where it was made from other models."""
    path = store.model_path(folder, KIND)
    if not path.is_file():
        return None
    tensors, about = checkpoint.read(path, KIND)
    if about.get("origin") != origin(models, params):
        return None
    with reading(path, "a roadmap", BadCheckpoint):
        arrays: dict[str, Any] = {name: tensor.numpy() for name, tensor in tensors.items()}
        return Roadmap(
            Places(arrays["position"], arrays["spacing"]),
            Hops(arrays["source"], arrays["target"], arrays["steps"], arrays["is_driven"].astype(np.bool_)),
            Usual(about["pace"], about["traffic"]),
            about["has_lanes"],
        )


def origin(models: Models, params: PlannerParams) -> str:
    """What tells apart everything that a roadmap is made from."""
    net = models.distance.net.state_dict()
    tensors = {f"distance.{name}": tensor.cpu() for name, tensor in net.items()}
    tensors |= {f"density.{name}": tensor for name, tensor in store.density_tensors(models.density).items()}
    settings = models.calibration.to_dict() | {"edge": params.assembly.edge, "recipe": RECIPE}
    if models.density.is_one_way:
        settings["lonely"] = LONELY
    if NARROW_SPACING * params.assembly.edge < models.step_length:
        settings["narrow_spacing"] = NARROW_SPACING
    text = repr(sorted(settings.items())).encode()
    tensors["settings"] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    return checkpoint.content_hash(tensors)


def _arrays(roadmap: Roadmap) -> dict[str, Any]:
    places, hops = roadmap.places, roadmap.hops
    return {
        "position": places.position,
        "spacing": places.spacing,
        "source": hops.source,
        "target": hops.target,
        "steps": hops.steps,
        "is_driven": hops.is_driven,
    }
