"""What a body looks like: the pose an observation holds, and where MuJoCo puts the limbs."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from chronoforest.errors import MissingExtra
from chronoforest.names import optional
from chronoforest.types import BoolArray, FloatArray

logger = logging.getLogger(__name__)


def import_mujoco() -> Any:
    """The module `mujoco`, also where the OpenGL library that MUJOCO_GL asks for is missing.

    MuJoCo loads that library while it is imported, although only rendering needs it.
    """
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise MissingExtra("mujoco", "sim") from error
    except Exception as error:  # the bindings raise what they like: AttributeError, ImportError, RuntimeError
        if "MUJOCO_GL" not in os.environ:
            raise
        logger.info("MuJoCo is loaded without OpenGL: %r", error)
        return _import_without_gl()
    return mujoco


def _import_without_gl() -> Any:
    chosen = os.environ["MUJOCO_GL"]
    os.environ["MUJOCO_GL"] = "disable"
    try:
        import mujoco
    finally:
        os.environ["MUJOCO_GL"] = chosen
    return mujoco


POSE_DIM = 15
"""An ant's pose: position [3], orientation as a quaternion [4] and the angles of eight joints."""

ANT_OBSERVATION_DIM = 29
"""The pose and fourteen velocities."""


@dataclass(frozen=True, eq=False)
class Limbs:
    """Capsules in world units: ends [n, 2, 3], radii [n]; the torso, a ball, is one whose ends coincide."""

    ends: FloatArray
    radii: FloatArray


def pose_of(observation: FloatArray) -> FloatArray:
    """[15] of an ant's observation; empty for a body that is a point."""
    if len(observation) != ANT_OBSERVATION_DIM:
        return np.zeros(0)
    return observation[:POSE_DIM].astype(np.float64)


def tilt(poses: FloatArray) -> FloatArray:
    """[..., 15] or [..., 0] → [...]: 0 for an upright torso and a point, 0.5 on its side, 1 on its back."""
    lean: FloatArray = np.square(poses[..., 4:6]).sum(axis=-1)
    return lean


def is_upside_down(poses: FloatArray) -> BoolArray:
    """[..., 15] or [..., 0] → [...]: whether the torso's upper side points down; a point has none."""
    return tilt(poses) > 0.5


class AntKinematics:
    """Puts the limbs where a pose wants them, by MuJoCo's kinematics; needs no OpenGL."""

    def __init__(self) -> None:
        mujoco = import_mujoco()
        self._mujoco = mujoco
        ant = optional("ogbench.locomaze.ant", "sim").AntEnv
        self._model = mujoco.MjModel.from_xml_path(ant.xml_file)
        self._data = mujoco.MjData(self._model)
        self._parts = np.flatnonzero(self._model.geom_bodyid > 0)  # the world's own geoms are the floor

    def __call__(self, pose: FloatArray) -> Limbs:
        """Limbs of one pose [15]."""
        self._data.qpos[:] = pose
        self._mujoco.mj_kinematics(self._model, self._data)
        centres = self._data.geom_xpos[self._parts]
        axes = self._data.geom_xmat[self._parts].reshape(-1, 3, 3)[:, :, 2]
        radii, halves = self._model.geom_size[self._parts, :2].T
        reach = axes * halves[:, None]  # a ball has no second size: its half length is 0
        return Limbs(np.stack([centres - reach, centres + reach], axis=1), radii.copy())
