"""How an ant on its back gets on its feet again: it rocks, by what its own pose tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chronoforest.envs.bodies import is_upside_down, tilt
from chronoforest.types import FloatArray

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
