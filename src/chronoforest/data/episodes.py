"""Recorded episodes, the one thing planning learns from: load, check, describe and write OGBench files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.corners import Spacing
from chronoforest.data.frames import Frame, plainly
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.files import drafted, reading

JUMP_FACTOR = 5.0
"""A step this many times longer than the 99 % quantile was not walked but was a teleport or a fault."""

REQUIRED = ("observations", "actions", "terminals")
OPTIONAL = ("metadata", "recording")
QUANTILES = (0.05, 0.5, 0.95, 1.0)

RECORDED_ROWS = "recorded_rows"
"""What metadata says of the rows that were recorded, where others were put between them."""

Float32Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Episodes:
    """Episodes of one length.

    observations: [E, T, D] float32, the first two are x, y in world units; actions: [E, T, A] float32 in
    [-1, 1], the one of row t leads to row t + 1, A = 0 where none were recorded; metadata: how a generated or
    imported file came about, else empty; recording: [E] which recording an episode was cut from, None where
    each is its own.
    """

    observations: Float32Array
    actions: Float32Array
    metadata: Mapping[str, Any] = field(default_factory=dict)
    recording: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def num_steps(self) -> int:
        """T, recorded steps per episode."""
        return int(self.observations.shape[1])

    @property
    def has_actions(self) -> bool:
        """Whether actions were recorded; without them plans can be made but not walked."""
        return self.actions.shape[2] > 0

    @property
    def xy(self) -> Float32Array:
        """[E, T, 2] places in world units."""
        return self.observations[..., :2]

    @cached_property
    def frame(self) -> Frame:
        """The coordinates and the clock of who recorded; those of the file itself where it does not say."""
        if "frame" not in self.metadata:
            return Frame()
        try:
            return Frame.from_dict(self.metadata["frame"])
        except (ValueError, InvalidParameter) as error:
            raise BadDataset(f"the file's metadata has a frame that is none: {error}") from error

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

    @cached_property
    def jump(self) -> float:
        """Units in one step beyond which a recording did not walk but jumped."""
        return jump_bound(self.step_lengths)

    def split(self, held_out_share: float = 0.1, seed: int = 0) -> tuple[Episodes, Episodes]:
        """Training and held-out episodes; what was cut from one recording stays together."""
        recording = np.arange(len(self)) if self.recording is None else self.recording
        recordings = np.random.default_rng(seed).permutation(np.unique(recording))
        if len(recordings) < 2:
            raise BadDataset("a held-out part needs two recordings or more, got 1")
        is_held_out = np.isin(recording, recordings[: max(1, round(held_out_share * len(recordings)))])
        return self._where(~is_held_out), self._where(is_held_out)

    def _where(self, keep: NDArray[np.bool_]) -> Episodes:
        recording = None if self.recording is None else self.recording[keep]
        return Episodes(self.observations[keep], self.actions[keep], self.metadata, recording)

    def summary(self) -> str:
        """Counts, ranges, speeds, jumps and the fingerprint, a line each."""
        x, y = np.moveaxis(self.xy, -1, 0)
        lines = (
            ("episodes", f"{len(self)} of {self.num_steps} steps ({len(self) * self.num_steps} in all)"),
            ("observation", f"{self.observations.shape[2]} numbers; x in {_span(x)}, y in {_span(y)}"),
            ("frame", self.frame.summary()),
            ("action", self._actions()),
            ("speed", self._speeds()),
            ("path", f"{self._walked().sum() / max(len(self), 1):.1f} units per episode"),
            ("rows", self._rows()),
            ("jumps", self._jumps()),
            ("origin", _origin(self.metadata)),
            ("fingerprint", self.fingerprint),
        )
        return "\n".join(f"{name:<12} {value}" for name, value in lines)

    def _actions(self) -> str:
        if not self.has_actions:
            return "none recorded: plans can be made but not walked"
        return f"{self.actions.shape[2]} numbers in {_span(self.actions)}"

    def _rows(self) -> str:
        """How far apart rows lie; those that were recorded, too, where others were put between them."""
        told = Spacing.of(self.xy.astype(np.float64)).summary(self.frame.unit)
        recorded = self.metadata.get(RECORDED_ROWS)
        return f"{told}; recorded ones {recorded}" if recorded else told

    def _walked(self) -> Float32Array:
        return self.step_lengths[self.step_lengths <= self.jump]

    def _speeds(self) -> str:
        walked = self._walked()
        if walked.size == 0:
            return "no steps"
        quantiles = zip(QUANTILES, np.quantile(walked, QUANTILES), strict=True)
        shown = ", ".join(f"{100 * share:g} % {value:.3f}" for share, value in quantiles)
        return f"{walked.mean():.3f} units/step; quantiles {shown}"

    def _jumps(self) -> str:
        is_jump = self.step_lengths > self.jump
        num_jumping = is_jump.any(axis=1).sum()
        return f"{is_jump.sum()} steps longer than {plainly(self.jump)} units, in {num_jumping} episodes"


def jump_bound(lengths: NDArray[Any]) -> float:
    """What a step must exceed to be a jump: several times what all but the longest hundredth reach.

    Teleports and faults are rarer than that, and no body moves so unevenly.
    """
    return JUMP_FACTOR * float(np.quantile(lengths, 0.99, method="lower"))


def flat_arrays(episodes: Episodes) -> dict[str, NDArray[Any]]:
    """The arrays of an OGBench file: one row per step, episodes one after the other."""
    num_rows = len(episodes) * episodes.num_steps
    return {
        "observations": episodes.observations.reshape(num_rows, -1),
        "actions": episodes.actions.reshape(num_rows, -1),
        "terminals": np.arange(num_rows) % episodes.num_steps == episodes.num_steps - 1,
    }


def load(path: str | Path) -> Episodes:
    """Read an official or generated `.npz`; anything that is not a sound dataset raises BadDataset."""
    path = Path(path)
    arrays = _read(path)
    _check(path, arrays)
    num_episodes, num_steps = _episode_shape(path, arrays["terminals"])
    observations, actions = (
        np.ascontiguousarray(arrays[key], dtype=np.float32).reshape(
            num_episodes, num_steps, arrays[key].shape[1]
        )
        for key in ("observations", "actions")
    )
    return Episodes(observations, actions, _metadata(path, arrays), _recording(path, arrays, num_episodes))


def load_split(path: Path) -> tuple[Episodes, Episodes]:
    """Training and held-out episodes: NAME.npz and NAME-val.npz, or one file divided where it is alone."""
    held_out = held_out_file(path)
    return (load(path), load(held_out)) if held_out.is_file() else load(path).split()


def held_out_file(path: Path) -> Path:
    """Where recordings that are held out lie beside others: NAME-val.npz."""
    return path.with_name(f"{path.stem}-val{path.suffix}")


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a compressed `.npz` that is either complete or not there."""
    with drafted(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _read(path: Path) -> dict[str, NDArray[Any]]:
    with reading(path, "an .npz dataset", BadDataset):
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise BadDataset("it is a single array")
        with file:
            return {key: file[key] for key in (*REQUIRED, *OPTIONAL) if key in file}


def _check(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Shapes and values of the flat arrays: observations [N, D ≥ 2], actions [N, A], terminals [N]."""
    missing = [key for key in REQUIRED if key not in arrays]
    if missing:
        raise BadDataset(f"{path}: no {', '.join(missing)}; an OGBench dataset has {', '.join(REQUIRED)}")
    num_rows = len(arrays["observations"]) if arrays["observations"].ndim else 0
    for key, num_axes, least in (("observations", 2, 2), ("actions", 2, 0), ("terminals", 1, 1)):
        shape = arrays[key].shape
        if len(shape) != num_axes or shape[0] != num_rows or shape[-1] < least:
            expected = f"[{num_rows}, ≥ {least}]" if num_axes == 2 else f"[{num_rows}]"
            raise BadDataset(f"{path}: {key} has shape {list(shape)}, expected {expected}")
    for key in ("observations", "actions"):
        _refuse_odd_values(path, key, arrays[key])


def _refuse_odd_values(path: Path, key: str, array: NDArray[Any]) -> None:
    if array.dtype.kind != "f":
        raise BadDataset(f"{path}: {key} holds {array.dtype}, expected floating point numbers")
    is_odd = ~(np.abs(array) <= np.finfo(np.float32).max).all(axis=1)
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


def _recording(path: Path, arrays: Mapping[str, NDArray[Any]], num_episodes: int) -> NDArray[np.int64] | None:
    if "recording" not in arrays:
        return None
    recording = arrays["recording"]
    if recording.shape != (num_episodes,) or recording.dtype.kind not in "iu":
        raise BadDataset(
            f"{path}: recording holds {recording.dtype} of shape {list(recording.shape)}, "
            f"expected whole numbers [{num_episodes}]"
        )
    return recording.astype(np.int64)


def _metadata(path: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    if "metadata" not in arrays:
        return {}
    with reading(f"{path}: metadata", "JSON", BadDataset):
        metadata = json.loads(str(arrays["metadata"]))
    if not isinstance(metadata, dict):
        raise BadDataset(f"{path}: metadata is not a JSON object")
    return metadata


def _span(array: Float32Array) -> str:
    return f"[{array.min():.2f}, {array.max():.2f}]"


def _origin(metadata: Mapping[str, Any]) -> str:
    if not metadata:
        return "an OGBench file without metadata"
    facts = (
        (key.replace("_", " "), value)
        for key, value in metadata.items()
        if not isinstance(value, dict) and key != RECORDED_ROWS
    )
    return "; ".join(f"{key}: {value}" for key, value in facts)
