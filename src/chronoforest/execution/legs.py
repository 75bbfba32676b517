"""An ant turned by quarters is the same ant with other names for its legs.

Recorded ants hardly turn, and a tracker that learned from them comes to rest on one that faces elsewhere,
as it may after a fall. So it is shown the same body by the names that make it face as recorded ones do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronoforest.envs.bodies import ANT_OBSERVATION_DIM
from chronoforest.types import FloatArray, IntArray

NUM_LEGS = 4

BEND_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])
"""[4] whether the ankle of a leg bends by positive or by negative angles."""

JOINTS = np.arange(2 * NUM_LEGS).reshape(NUM_LEGS, 2)
"""[4, 2] hip and ankle of each leg among the joints; the legs stand around the torso, a quarter apart."""

MOTORS = np.roll(JOINTS, -1, axis=0)
"""[4, 2] the same among the motors, of which the last leg's are the first."""


@dataclass(frozen=True)
class LegNames:
    """Which leg is called the first.

    turns: leg k is what leg k + turns was by birth; sign: of the quaternion, of which both mean one pose.
    """

    turns: int
    sign: float

    def observed(self, observation: FloatArray) -> FloatArray:
        """[29] what the body feels, by these names."""
        renamed = observation.astype(np.float64)
        renamed[3:7] = self.sign * _turned(observation[3:7], self.turns)
        renamed[7:15] = self._renamed(observation[7:15], JOINTS, self.turns)
        renamed[18:20] = _rotated(observation[18:20], -self.turns)
        renamed[21:] = self._renamed(observation[21:ANT_OBSERVATION_DIM], JOINTS, self.turns)
        return renamed

    def torques(self, action: FloatArray) -> FloatArray:
        """[8] an action that was chosen by these names, for the motors as they are."""
        return self._renamed(action, MOTORS, -self.turns)

    def _renamed(self, values: FloatArray, places: IntArray, turns: int) -> FloatArray:
        """[8] each leg's two values are those of the leg so many quarters further."""
        signs = np.stack([np.ones(NUM_LEGS), BEND_SIGNS], axis=1)
        by_leg = np.roll(values[places] * signs, -turns, axis=0) * signs
        renamed = np.empty(2 * NUM_LEGS)
        renamed[places] = by_leg
        return renamed


def names_for(pose: FloatArray) -> LegNames:
    """The names by which a pose [15] is turned least from how ants start."""
    likeness = [_turned(pose[3:7], turns)[0] for turns in range(NUM_LEGS)]
    turns = int(np.argmax(np.abs(likeness)))
    return LegNames(turns, float(np.sign(likeness[turns])))


def _turned(quaternion: FloatArray, turns: int) -> FloatArray:
    """[4] the orientation of a torso whose own x axis is taken so many quarters further."""
    w, x, y, z = quaternion
    cos, sin = np.cos(turns * np.pi / 4), np.sin(turns * np.pi / 4)
    return np.array([w * cos - z * sin, x * cos + y * sin, y * cos - x * sin, z * cos + w * sin])


def _rotated(vector: FloatArray, turns: int) -> FloatArray:
    """[2] turned by so many quarters."""
    cos, sin = np.cos(turns * np.pi / 2), np.sin(turns * np.pi / 2)
    x, y = vector
    return np.array([cos * x - sin * y, sin * x + cos * y])
