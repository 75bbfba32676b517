"""Checkpoints: safetensors with JSON metadata, written atomically and checked when read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading, write_bytes

if TYPE_CHECKING:
    import torch

FORMAT = "chronoforest/1"

SCALE = ".scale"
"""Ends the name of the scales that belong to a tensor in eight bits."""

Arrays = Mapping[str, NDArray[Any]]
Values = Mapping[str, "torch.Tensor | NDArray[Any]"]

_Module = TypeVar("_Module", bound="torch.nn.Module")


def write(path: Path, values: Values, metadata: Mapping[str, Any]) -> None:
    """Write a checkpoint; an interrupted or failed write leaves the previous file as it was."""
    stored = _arrays(values)
    header = {"format": FORMAT, "about": json.dumps(metadata), "content": content_hash(stored)}
    write_bytes(path, save(stored, header))


def read(path: Path, kind: str, what: str = "a checkpoint") -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and metadata of a checkpoint of the given kind; `what` a refusal says that the file is not."""
    import torch

    arrays, about = read_arrays(path, kind, what)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}, about


def read_arrays(
    path: Path, kind: str, what: str = "a checkpoint"
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The same as arrays, without torch."""
    if not os.path.isfile(path):
        raise BadCheckpoint(f"no checkpoint at {path}; `chronoforest train` writes one")
    with reading(path, what, BadCheckpoint):
        try:
            with safe_open(path, framework="np") as handle:
                arrays = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
                header = handle.metadata() or {}
        except SafetensorError as error:
            raise BadCheckpoint(str(error)) from error
        if header.get("format") != FORMAT:
            raise BadCheckpoint(f"it has format {header.get('format')!r}, expected {FORMAT!r}")
        about = json.loads(header["about"])
        if about.get("kind") != kind:
            raise BadCheckpoint(f"it holds a {about.get('kind')!r}, expected a {kind!r}")
        if "content" not in header:
            raise BadCheckpoint("an earlier version wrote it, and such weights are not read; train it again")
        if content_hash(arrays) != header["content"]:
            raise BadCheckpoint("its values are not those that were written")
        _refuse_infinite(arrays)
    values = {name: array for name, array in arrays.items() if not name.endswith(SCALE)}
    scaled = {name for name in values if name + SCALE in arrays}
    return values | {name: values[name] * arrays[name + SCALE].astype(np.float32) for name in scaled}, about


def _refuse_infinite(arrays: Arrays) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise BadCheckpoint(f"{name} holds NaN or infinity")


def content_hash(values: Values) -> str:
    """SHA-256 over names, types, shapes and values, which tells weights apart and notices any changed bit."""
    digest, arrays = hashlib.sha256(), _arrays(values)
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} torch.{array.dtype} {list(array.shape)} ".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _arrays(values: Values) -> dict[str, NDArray[Any]]:
    """Tensors of any device, and arrays, as arrays in one piece of memory."""
    return {
        name: np.asarray(value if isinstance(value, np.ndarray) else value.detach().cpu(), order="C")
        for name, value in values.items()
    }


def written_content(path: Path) -> str:
    """The hash of what a checkpoint holds, from its header alone."""
    with reading(path, "a checkpoint", BadCheckpoint), safe_open(path, framework="np") as handle:
        return str(handle.metadata()["content"])


def compact(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A module's tensors as they ship: matrices in eight bits with a scale for each row, other tensors in
    half precision. Also rounds the module itself, so that figures computed afterwards belong to what ships.
    """
    import torch

    stored: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if not tensor.is_floating_point() or tensor.numel() < 64:
                stored[name] = tensor
            elif tensor.ndim < 2 or tensor.numel() < 1024:
                stored[name] = tensor.half()
                tensor.copy_(stored[name])
            else:
                scale = (tensor.abs().amax(dim=-1, keepdim=True) / 127).clamp_min(1e-7).half()
                stored[name] = (tensor / scale).round().clamp(-127, 127).char()
                stored[name + SCALE] = scale
                tensor.copy_(stored[name] * scale.float())
    return stored


def filled(make: Callable[[], _Module], arrays: Arrays) -> _Module:
    """The network that `make` builds, with these values in single precision.

    It is built without memory: a damaged card may describe a giant that nothing fits.
    """
    import torch

    with torch.device("meta"):
        network = make()
    fill(network, arrays, assign=True)
    if any(buffer.is_meta for buffer in network.buffers()):  # it computes some that are not stored
        network = make()
        fill(network, arrays)
    return network


def fill(module: torch.nn.Module, arrays: Arrays, assign: bool = False) -> None:
    """Copy arrays into a module, or with `assign` make them its own; RuntimeError where they do not fit."""
    import torch

    wide = {name: array.astype(np.float32, copy=False) for name, array in arrays.items()}
    module.load_state_dict({name: torch.from_numpy(array) for name, array in wide.items()}, assign=assign)
