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

from chronoforest.data.frames import Frame, plainly
from chronoforest.data.tracks import Spacing, Tracks, jump_bound
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.files import drafted, reading
from chronoforest.types import FloatArray, IntArray

REQUIRED = ("observations", "actions", "terminals")
OPTIONAL = ("metadata", "recording")

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
    def owner(self) -> NDArray[np.int64]:
        """[E] the recording of each episode by its number; each is its own where none is known."""
        return np.arange(len(self)) if self.recording is None else self.recording

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
        recordings = np.random.default_rng(seed).permutation(np.unique(self.owner))
        if len(recordings) < 2:
            raise BadDataset("a held-out part needs two recordings or more, got 1")
        is_held_out = np.isin(self.owner, recordings[: max(1, round(held_out_share * len(recordings)))])
        return self.where(~is_held_out), self.where(is_held_out)

    def where(self, keep: NDArray[np.bool_]) -> Episodes:
        """Some of them, [E]."""
        recording = None if self.recording is None else self.recording[keep]
        return Episodes(self.observations[keep], self.actions[keep], self.metadata, recording)

    def summary(self) -> str:
        """Counts, ranges, speeds, jumps and the fingerprint, a line each."""
        (left, bottom), (right, top) = self.xy.min(axis=(0, 1)), self.xy.max(axis=(0, 1))
        box = f"x in [{left:.2f}, {right:.2f}], y in [{bottom:.2f}, {top:.2f}]"
        is_jump = self.step_lengths > self.jump
        walked = self.step_lengths[~is_jump]
        times = np.arange(float(self.num_steps))
        tracks = Tracks.joined(("", times, track) for track in self.xy.astype(np.float64))
        length = f"{plainly(self.jump)} units, in {is_jump.any(axis=1).sum()} episodes"
        lines = {
            "episodes": f"{len(self)} of {self.num_steps} steps ({len(self) * self.num_steps} in all)",
            "observation": f"{self.observations.shape[2]} numbers; {box}",
            "frame": self.frame.summary(),
            "action": "none recorded: plans can be made but not walked",
            "speed": "no steps",
            "path": f"{walked.sum() / max(len(self), 1):.1f} units per episode",
            "rows": Spacing.of(tracks).summary(self.frame.unit),
            "jumps": f"{is_jump.sum()} steps longer than {length}",
            "origin": "an OGBench file without metadata",
            "fingerprint": self.fingerprint,
        }
        if recorded := self.metadata.get(RECORDED_ROWS):
            lines["rows"] += f"; recorded ones {recorded}"
        if self.has_actions:
            low, high = self.actions.min(), self.actions.max()
            lines["action"] = f"{self.actions.shape[2]} numbers in [{low:.2f}, {high:.2f}]"
        if walked.size:
            shown = (
                f"{100 * share:g} % {np.quantile(walked, share):.3f}" for share in (0.05, 0.5, 0.95, 1.0)
            )
            lines["speed"] = f"{walked.mean():.3f} units/step; quantiles {', '.join(shown)}"
        if self.metadata:
            lines["origin"] = "; ".join(
                f"{key.replace('_', ' ')}: {value}"
                for key, value in self.metadata.items()
                if not isinstance(value, dict) and key != RECORDED_ROWS
            )
        return "\n".join(f"{name:<12} {value}" for name, value in lines.items())


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
    with reading(path, "an .npz dataset", BadDataset):
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise BadDataset("it is a single array")
        with file:
            arrays = {key: file[key] for key in (*REQUIRED, *OPTIONAL) if key in file}
    _check(path, arrays)
    shape = _episode_shape(path, arrays["terminals"])
    observations, actions = (
        np.ascontiguousarray(arrays[key], dtype=np.float32).reshape(*shape, arrays[key].shape[1])
        for key in ("observations", "actions")
    )
    recording, metadata = arrays.get("recording"), {}
    if recording is not None and (recording.shape != shape[:1] or recording.dtype.kind not in "iu"):
        found = f"{recording.dtype} of shape {list(recording.shape)}, expected whole numbers [{shape[0]}]"
        raise BadDataset(f"{path}: recording holds {found}")
    if "metadata" in arrays:
        with reading(f"{path}: metadata", "JSON", BadDataset):
            metadata = json.loads(str(arrays["metadata"]))
    if not isinstance(metadata, dict):
        raise BadDataset(f"{path}: metadata is not a JSON object")
    return Episodes(
        observations, actions, metadata, None if recording is None else recording.astype(np.int64)
    )


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


def _check(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Shapes and values of the flat arrays: observations [N, D ≥ 2], actions [N, A], terminals [N]."""
    missing = [key for key in REQUIRED if key not in arrays]
    if missing:
        raise BadDataset(f"{path}: no {', '.join(missing)}; an OGBench dataset has {', '.join(REQUIRED)}")
    num_rows = len(arrays["observations"]) if arrays["observations"].ndim else 0
    for key, num_axes, least in (("observations", 2, 2), ("actions", 2, 0), ("terminals", 1, 1)):
        array = arrays[key]
        if array.ndim != num_axes or len(array) != num_rows or array.shape[-1] < least:
            expected = f"[{num_rows}, ≥ {least}]" if num_axes == 2 else f"[{num_rows}]"
            raise BadDataset(f"{path}: {key} has shape {list(array.shape)}, expected {expected}")
        if num_axes == 2 and array.dtype.kind != "f":
            raise BadDataset(f"{path}: {key} holds {array.dtype}, expected floating point numbers")
        if num_axes == 2 and (odd := np.flatnonzero(~(np.abs(array) <= np.finfo("f4").max).all(axis=1))).size:
            where = f"{len(odd)} rows, the first is {odd[0]}"
            raise BadDataset(f"{path}: {key} holds NaN or infinity in {where}")


def _episode_shape(path: Path, terminals: NDArray[Any]) -> tuple[int, int]:
    """Number and common length of the episodes that `terminals` marks the ends of."""
    ends = np.flatnonzero(terminals)
    lengths = np.diff(ends, prepend=-1)
    if len(ends) == 0 or ends[-1] != len(terminals) - 1:
        reason = "do not mark the last row as the end of an episode"
    elif (lengths != lengths[0]).any():
        reason = f"give episodes of {lengths.min()} to {lengths.max()} steps; all must have one length"
    elif lengths[0] < 2:
        reason = "give episodes of a single step"
    else:
        return len(ends), int(lengths[0])
    raise BadDataset(f"{path}: terminals {reason}")


def gaps(tracks: FloatArray, recording: IntArray | None = None) -> FloatArray:
    """[n] units from some places of tracks [E, T, d] to the nearest place of another recording; no less where
    none was found nearby.

    recording: [E] which one a track belongs to, each is its own where that is not given.
    """
    from scipy.spatial import cKDTree  # commands that look at no recordings start without SciPy

    owner = np.repeat(np.arange(len(tracks)) if recording is None else recording, tracks.shape[1])
    places = tracks.reshape(-1, tracks.shape[-1])
    probes = np.linspace(0, len(places) - 1, min(2000, len(places))).astype(np.int64)
    apart, rows = cKDTree(places).query(places[probes], k=np.arange(1, min(400, len(places)) + 1))
    nearest = np.where(owner[rows] != owner[probes][:, None], apart, np.inf).min(axis=1)
    return np.where(np.isfinite(nearest), nearest, apart[:, -1])
