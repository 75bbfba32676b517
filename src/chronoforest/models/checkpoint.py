"""Checkpoints: safetensors with JSON metadata, written atomically and checked when read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading, write_bytes

FORMAT = "chronoforest/1"

_Module = TypeVar("_Module", bound=torch.nn.Module)


def write(path: Path, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, Any]) -> None:
    """Write a checkpoint; an interrupted or failed write leaves the previous file as it was."""
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = {"format": FORMAT, "about": json.dumps(metadata), "content": content_hash(stored)}
    write_bytes(path, save(stored, header))


def read(path: Path, kind: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and metadata of a checkpoint of the given kind."""
    if not path.is_file():
        raise BadCheckpoint(f"no checkpoint at {path}; `chronoforest train` writes one")
    with reading(path, "a checkpoint", BadCheckpoint):
        header, tensors = _contents(path)
        if header.get("format") != FORMAT:
            raise BadCheckpoint(f"it has format {header.get('format')!r}, expected {FORMAT!r}")
        about = json.loads(header["about"])
        if about.get("kind") != kind:
            raise BadCheckpoint(f"it holds a {about.get('kind')!r}, expected a {kind!r}")
        _check(tensors, header.get("content"))
    return tensors, about


def content_hash(tensors: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 over names, types, shapes and values, which tells weights apart and notices any changed bit."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _contents(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    try:
        with safe_open(path, framework="pt") as handle:
            tensors = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
            return handle.metadata() or {}, tensors
    except SafetensorError as error:
        raise BadCheckpoint(str(error)) from error


def _check(tensors: Mapping[str, torch.Tensor], expected: str | None) -> None:
    """Refuse values that were changed since, or that are none; files of older versions carry no hash."""
    if expected is not None and content_hash(tensors) != expected:
        raise BadCheckpoint("its values are not those that were written")
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise BadCheckpoint(f"{name} holds NaN or infinity")


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
    """Load tensors into a module of exactly the same shape; halves are widened."""
    with reading(path, "a checkpoint of this model", BadCheckpoint):
        check_fit(module, tensors)
        module.load_state_dict(dict(tensors))


def built(make: Callable[[], _Module], tensors: Mapping[str, torch.Tensor]) -> _Module:
    """What `make` builds, first without memory: a damaged card may describe a giant that nothing fits."""
    with torch.device("meta"):
        check_fit(make(), tensors)
    return make()


def check_fit(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
    """Refuse tensors of other names or shapes than the module's."""
    expected = {name: list(tensor.shape) for name, tensor in module.state_dict().items()}
    found = {name: list(tensor.shape) for name, tensor in tensors.items()}
    odd = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if odd:
        name = odd[0]
        raise BadCheckpoint(
            f"it does not fit the model it names: {name} has shape {found.get(name)}, "
            f"expected {expected.get(name)}"
        )
