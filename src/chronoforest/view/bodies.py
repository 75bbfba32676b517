"""Bodies on a real walk: where the limbs of an ant are, seen from above."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from chronoforest.envs.bodies import AntKinematics
from chronoforest.execution.rollout import POSE_STRIDE, Rollout

DECIMALS = 3


class Body:
    """Turns poses into limbs; the model of the ant is loaded for the first one that has some."""

    @cached_property
    def _kinematics(self) -> AntKinematics:
        return AntKinematics()

    def limbs(self, rollout: Rollout) -> dict[str, Any] | None:
        """radii of the capsules, and for every `stride`-th step their ends x, y, x, y, … as seen from the
        torso; None for a body that is a point."""
        if not rollout.has_poses:
            return None
        seen = [self._kinematics(pose) for pose in rollout.poses]
        ends = [
            np.round(limbs.ends[:, :, :2] - pose[:2], DECIMALS).ravel().tolist()
            for limbs, pose in zip(seen, rollout.poses, strict=True)
        ]
        return {"stride": POSE_STRIDE, "radii": np.round(seen[0].radii, DECIMALS).tolist(), "ends": ends}
