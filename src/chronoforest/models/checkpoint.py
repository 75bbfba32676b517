"""Checkpoints: safetensors with JSON metadata, written atomically and checked when read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from chronoforest.errors import BadCheckpoint

FORMAT = "chronoforest/1"


def write(path: Path, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, Any]) -> None:
    """Write a checkpoint; an interrupted or failed write leaves the previous file as it was."""
    draft = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
            draft,
            metadata={"format": FORMAT, "about": json.dumps(metadata)},
        )
        with draft.open("rb+") as handle:
            os.fsync(handle.fileno())
        os.replace(draft, path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise BadCheckpoint(f"could not write {path}: {error}; the previous file is untouched") from error


def read(path: Path, kind: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and metadata of a checkpoint of the given kind."""
    if not path.is_file():
        raise BadCheckpoint(f"no checkpoint at {path}; `chronoforest train` writes one")
    try:
        with safe_open(path, framework="pt") as handle:
            header = handle.metadata() or {}
            tensors = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise BadCheckpoint(f"{path} is corrupt or not a checkpoint: {error}") from error
    if header.get("format") != FORMAT:
        raise BadCheckpoint(f"{path} has format {header.get('format')!r}, expected {FORMAT!r}")
    about = _card(path, header)
    if about.get("kind") != kind:
        raise BadCheckpoint(f"{path} holds a {about.get('kind')!r}, expected a {kind!r}")
    return tensors, about


def _card(path: Path, header: Mapping[str, str]) -> dict[str, Any]:
    try:
        about = json.loads(header["about"])
    except (KeyError, json.JSONDecodeError) as error:
        raise BadCheckpoint(f"{path} is corrupt: it does not say what it holds") from error
    if not isinstance(about, dict):
        raise BadCheckpoint(f"{path} is corrupt: it does not say what it holds")
    return about


def compact(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A module's tensors with floating point halved, as they ship; also rounds the module itself,
    so that figures computed afterwards belong to the weights that ship."""
    halves = {}
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            keep = not tensor.is_floating_point() or tensor.numel() < 64
            halves[name] = tensor if keep else tensor.half()
            tensor.copy_(halves[name])
    return halves


def fill(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Load tensors into a module of exactly the same shape."""
    try:
        module.load_state_dict({name: _widen(tensor) for name, tensor in tensors.items()})
    except RuntimeError as error:
        raise BadCheckpoint(f"{path} does not fit the model it names: {error}") from error


def _widen(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype == torch.float16 else tensor
