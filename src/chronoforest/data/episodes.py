"""Recorded episodes, the one thing planning learns from: load, check, describe and write OGBench files."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.errors import BadDataset, CannotWrite

JUMP = 1.5
"""Units in one step beyond which a recording did not walk but was teleported; no body comes near it."""

REQUIRED = ("observations", "actions", "terminals")
QUANTILES = (0.05, 0.5, 0.95, 1.0)

Float32Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Episodes:
    """Episodes of one length.

    observations: [E, T, D] float32, the first two are x, y in world units; actions: [E, T, A] float32 in
    [-1, 1], the one of row t leads to row t + 1; metadata: how a generated file came about, else empty.
    """

    observations: Float32Array
    actions: Float32Array
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def num_steps(self) -> int:
        """T, recorded steps per episode."""
        return int(self.observations.shape[1])

    @property
    def xy(self) -> Float32Array:
        """[E, T, 2] places in world units."""
        return self.observations[..., :2]

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with any value of the observations or actions."""
        digest = hashlib.sha256()
        for array in (self.observations, self.actions):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]

    @cached_property
    def step_lengths(self) -> Float32Array:
        """[E, T - 1] units moved from each row to the next."""
        return np.asarray(np.linalg.norm(np.diff(self.xy, axis=1), axis=-1), dtype=np.float32)

    def summary(self) -> str:
        """Counts, ranges, speeds, jumps and the fingerprint, a line each."""
        lines = (
            ("episodes", f"{len(self)} of {self.num_steps} steps ({len(self) * self.num_steps} in all)"),
            ("observation", f"{self.observations.shape[2]} numbers; {_ranges(self.observations, 'xy')}"),
            ("action", f"{self.actions.shape[2]} numbers in {_span(self.actions)}"),
            ("speed", self._speeds()),
            ("path", f"{self._walked().sum() / max(len(self), 1):.1f} units per episode"),
            ("jumps", self._jumps()),
            ("origin", _origin(self.metadata)),
            ("fingerprint", self.fingerprint),
        )
        return "\n".join(f"{name:<12} {value}" for name, value in lines)

    def _walked(self) -> Float32Array:
        return self.step_lengths[self.step_lengths <= JUMP]

    def _speeds(self) -> str:
        walked = self._walked()
        if walked.size == 0:
            return "no steps"
        quantiles = zip(QUANTILES, np.quantile(walked, QUANTILES), strict=True)
        shown = ", ".join(f"{100 * share:g} % {value:.3f}" for share, value in quantiles)
        return f"{walked.mean():.3f} units/step; quantiles {shown}"

    def _jumps(self) -> str:
        is_jump = self.step_lengths > JUMP
        return f"{is_jump.sum()} steps longer than {JUMP} units, in {is_jump.any(axis=1).sum()} episodes"


def load(path: str | Path) -> Episodes:
    """Read an official or generated `.npz`; anything that is not a sound dataset raises BadDataset."""
    path = Path(path)
    arrays = _read(path)
    _check(path, arrays)
    num_episodes, num_steps = _episode_shape(path, arrays["terminals"])
    observations, actions = (
        np.ascontiguousarray(arrays[key], dtype=np.float32).reshape(num_episodes, num_steps, -1)
        for key in ("observations", "actions")
    )
    return Episodes(observations, actions, _metadata(path, arrays))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a compressed `.npz` that is either complete or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        temporary.replace(path)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _read(path: Path) -> dict[str, NDArray[Any]]:
    if not path.is_file():
        raise BadDataset(f"{path}: no such file")
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise BadDataset(f"{path}: a single array, not an .npz dataset")
        with file:
            return {key: file[key] for key in (*REQUIRED, "metadata") if key in file}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise BadDataset(f"{path}: truncated or damaged ({error})") from error
    except ValueError as error:
        raise BadDataset(f"{path}: not an .npz dataset ({error})") from error


def _check(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Shapes and values of the flat arrays: observations [N, D ≥ 2], actions [N, A], terminals [N]."""
    missing = [key for key in REQUIRED if key not in arrays]
    if missing:
        raise BadDataset(f"{path}: no {', '.join(missing)}; an OGBench dataset has {', '.join(REQUIRED)}")
    num_rows = len(arrays["observations"]) if arrays["observations"].ndim else 0
    for key, num_axes, least in (("observations", 2, 2), ("actions", 2, 1), ("terminals", 1, 1)):
        shape = arrays[key].shape
        if len(shape) != num_axes or shape[0] != num_rows or shape[-1] < least:
            expected = f"[{num_rows}, ≥ {least}]" if num_axes == 2 else f"[{num_rows}]"
            raise BadDataset(f"{path}: {key} has shape {list(shape)}, expected {expected}")
    for key in ("observations", "actions"):
        _refuse_odd_values(path, key, arrays[key])


def _refuse_odd_values(path: Path, key: str, array: NDArray[Any]) -> None:
    if array.dtype.kind != "f":
        raise BadDataset(f"{path}: {key} holds {array.dtype}, expected floating point numbers")
    is_odd = ~np.isfinite(array).all(axis=1)
    if is_odd.any():
        first = int(np.flatnonzero(is_odd)[0])
        raise BadDataset(f"{path}: {key} holds NaN or infinity in {is_odd.sum()} rows, the first is {first}")


def _episode_shape(path: Path, terminals: NDArray[Any]) -> tuple[int, int]:
    """Number and common length of the episodes that `terminals` marks the ends of."""
    ends = np.flatnonzero(terminals)
    if len(ends) == 0 or ends[-1] != len(terminals) - 1:
        raise BadDataset(f"{path}: terminals do not mark the last row as the end of an episode")
    lengths = np.diff(ends, prepend=-1)
    if (lengths != lengths[0]).any():
        raise BadDataset(
            f"{path}: terminals give episodes of {lengths.min()} to {lengths.max()} steps; "
            "all episodes of a dataset must have one length"
        )
    if lengths[0] < 2:
        raise BadDataset(f"{path}: terminals give episodes of a single step")
    return len(ends), int(lengths[0])


def _metadata(path: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    if "metadata" not in arrays:
        return {}
    try:
        metadata = json.loads(str(arrays["metadata"]))
    except json.JSONDecodeError as error:
        raise BadDataset(f"{path}: metadata is not JSON ({error})") from error
    if not isinstance(metadata, dict):
        raise BadDataset(f"{path}: metadata is not a JSON object")
    return metadata


def _ranges(observations: Float32Array, names: str) -> str:
    return ", ".join(f"{name} in {_span(observations[..., k])}" for k, name in enumerate(names))


def _span(array: Float32Array) -> str:
    return f"[{array.min():.2f}, {array.max():.2f}]"


def _origin(metadata: Mapping[str, Any]) -> str:
    if not metadata:
        return "an OGBench file without metadata"
    facts = ((key.replace("_", " "), value) for key, value in metadata.items() if not isinstance(value, dict))
    return "; ".join(f"{key}: {value}" for key, value in facts)
