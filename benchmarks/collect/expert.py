"""What walks while datasets are recorded: the point as told, the ant by a trained network, in NumPy."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import chronoforest
from chronoforest.envs.tasks import world
from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.types import FloatArray

EXPERT_FILE, CARD, KIND = "expert.safetensors", "CARD.md", "expert"
SHIPPED = Path(chronoforest.__file__).parent / "weights" / "ant-expert" / EXPERT_FILE

OBSERVATION_DIM = 29  # height, orientation, joints and velocities (27 numbers), then the unit direction

ACTION_DIM = 8
NOISE = 0.2  # standard deviation of the action noise with which the ant's data are recorded

Float32Array = NDArray[np.float32]


class Expert(Protocol):
    """Walks a body in a direction; must be picklable."""

    @property
    def name(self) -> str:
        """What a file's metadata calls it."""
        ...

    @property
    def noise(self) -> float:
        """Standard deviation of the Gaussian noise added to its actions."""
        ...

    def __call__(self, proprioception: FloatArray, direction: FloatArray) -> FloatArray:
        """Observation without x, y [D - 2] and a unit direction [2] → action [A]."""
        ...


@dataclass(frozen=True)
class PointExpert:
    """The point's action is the direction itself."""

    name: str = "point"
    noise: float = 0.5

    def __call__(self, proprioception: FloatArray, direction: FloatArray) -> FloatArray:
        """The direction."""
        return direction


@dataclass(frozen=True, eq=False)
class AntExpert:
    """The mean action of a trained actor.

    layers: (weight [outputs, inputs], bias [outputs]) of each; between two layers a GELU and a division by
    the standard deviation, because the rest of LayerNorm is folded into the weights after it.
    fingerprint: 16 hexadecimal digits that change with any weight.
    """

    layers: tuple[tuple[Float32Array, Float32Array], ...]
    fingerprint: str
    noise: float = NOISE

    @property
    def name(self) -> str:
        """What a file's metadata calls it; tells experts apart."""
        return f"ant {self.fingerprint}"

    def __call__(self, proprioception: FloatArray, direction: FloatArray) -> FloatArray:
        """Observation without x, y [27] and a unit direction [2] → action [8]."""
        (weight, bias), *others = self.layers
        hidden: Any = weight @ np.concatenate((proprioception, direction), dtype=np.float32) + bias
        for weight, bias in others:
            hidden = (np.tanh(hidden * (_C1 + _C3 * hidden * hidden)) + _ONE) * hidden * _HALF
            mean = float(hidden.sum()) / len(hidden)
            deviation = math.sqrt(float(hidden @ hidden) / len(hidden) - mean * mean + 1e-5)
            hidden = (weight @ hidden) * (1.0 / deviation) + bias
        action: FloatArray = np.tanh(hidden, dtype=np.float64)
        return action


def load_expert(path: Path | None = None) -> AntExpert:
    """Read an expert that `python -m benchmarks expert` wrote; without a path, the one that ships."""
    from chronoforest.models import checkpoint  # imports torch, which the processes that walk do without

    path = SHIPPED if path is None else path
    if not path.is_file():
        raise BadCheckpoint(f"no expert at {path}; `python -m benchmarks expert` trains one")
    tensors = {name: tensor.numpy() for name, tensor in checkpoint.read(path, KIND)[0].items()}
    _check(path, tensors)
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].tobytes())
    return AntExpert(_folded(tensors), digest.hexdigest()[:16])


def expert_for(name: str, file: Path | None = None) -> Expert:
    """The expert that walks the body of a dataset: the one that ships, or another one's file."""
    if world(name).body == "ant":
        return load_expert(file)
    if file is not None:
        raise InvalidParameter(f"the point's expert is not learned, so {file} is of no use; leave it out")
    return PointExpert()


def _folded(tensors: Mapping[str, NDArray[Any]]) -> tuple[tuple[Float32Array, Float32Array], ...]:
    """An actor's layers with LayerNorm's mean, scale and shift moved into the weights that follow it."""
    layers = []
    for k in range(_num_layers(tensors)):
        weight = tensors[f"weights.{k}"].astype(np.float64)
        bias = tensors[f"biases.{k}"].astype(np.float64)
        if k > 0:
            bias = bias + tensors[f"shifts.{k - 1}"] @ weight
            weight = weight * tensors[f"scales.{k - 1}"][:, None]
            weight = weight - weight.mean(axis=0)
        layers.append((weight, bias))
    weight, bias = layers[-1]
    layers[-1] = weight[:, :ACTION_DIM], bias[:ACTION_DIM]  # the others are the exploration's deviations
    return tuple((np.ascontiguousarray(w.T, np.float32), b.astype(np.float32)) for w, b in layers)


def _check(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Refuse what is not an ant's actor: other names, or shapes that do not chain."""
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    hidden = [shapes.get(f"biases.{k}", (0,))[-1] for k in range(_num_layers(tensors) - 1)]
    sizes = [OBSERVATION_DIM, *hidden, 2 * ACTION_DIM]
    expected: dict[str, tuple[int, ...]] = {}
    for k, (inputs, outputs) in enumerate(pairwise(sizes)):
        expected |= {f"weights.{k}": (inputs, outputs), f"biases.{k}": (outputs,)}
    for k, size in enumerate(hidden):
        expected |= {f"scales.{k}": (size,), f"shifts.{k}": (size,)}
    if not hidden or shapes != expected:
        wanted = f"layers that lead from {OBSERVATION_DIM} to {2 * ACTION_DIM} numbers"
        raise BadCheckpoint(f"{path} holds tensors of shapes {shapes}, expected {wanted}")


def _num_layers(tensors: Mapping[str, NDArray[Any]]) -> int:
    return sum(name.startswith("weights.") for name in tensors)


# NumPy scalars of the same width: Python's would do, but these keep float32 float32 on every NumPy version.
_ONE, _HALF = np.float32(1.0), np.float32(0.5)
_C1, _C3 = np.float32(math.sqrt(2.0 / math.pi)), np.float32(0.044715 * math.sqrt(2.0 / math.pi))
