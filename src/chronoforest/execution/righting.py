"""How an ant that turned or fell is walked: its legs by other names, and rocking until it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chronoforest.envs.bodies import ANT_OBSERVATION_DIM, is_upside_down, tilt
from chronoforest.types import FloatArray, IntArray

# Of the durations tried, 2 to 5 steps each, these turned most ants over within 100 steps.
GATHER_STEPS = 3
"""How long a rock draws the legs together and stretches them."""

SPREAD_STEPS = 4
"""How long it then spreads and bends them."""

# With 0.5, handing over as soon as the upper side points up, more ants fell back.
UPRIGHT_TILT = 0.2
"""A torso that leans less, about 53 degrees, is left to the tracker."""

GATHER_HIPS = np.array([-1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0])
"""[8] torques that draw the legs together in pairs, along the torso's y axis; negated, along its x axis."""

STRETCH_ANKLES = np.array([0.0, -1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0])
"""[8] torques that stretch all legs: two ankles bend by positive angles, two by negative ones."""


@dataclass(frozen=True, eq=False)
class Rocking:
    """A rock in progress; gather: [8] the action of its first part, step: how many steps of it are done."""

    gather: FloatArray
    step: int = 0

    @property
    def action(self) -> FloatArray:
        """[8] the torques now."""
        return self.gather if self.step < GATHER_STEPS else -self.gather


def rock(pose: FloatArray, before: Rocking | None) -> Rocking | None:
    """What to do next, [15] pose; None for a body that needs none of it, such as a point.

    It begins when the torso is upside down and goes on until it is nearly upright.
    """
    if not is_upside_down(pose) and (before is None or tilt(pose) < UPRIGHT_TILT):
        return None
    if before is None or before.step + 1 == GATHER_STEPS + SPREAD_STEPS:
        return Rocking(_gather(pose))
    return replace(before, step=before.step + 1)


def _gather(pose: FloatArray) -> FloatArray:
    """[8] draws the two legs that it leans on together, and the other two.

    It rests on the ball of its torso and on two knees. Drawn together these press on the floor and throw the
    torso to the other side; each rock adds to the swing until it turns over.
    """
    w, x, y, z = pose[3:7]
    leans_along_y = abs(y * z + w * x) > abs(x * z - w * y)
    return STRETCH_ANKLES + (GATHER_HIPS if leans_along_y else -GATHER_HIPS)


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
