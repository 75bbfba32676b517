"""When following fails: noticing drift, jumps and standstill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from chronoforest.execution.route import BACK_STEPS, ExecutionParams, Place, Route, off_plan
from chronoforest.types import FloatArray

Cause = Literal["none", "no plan", "drift", "stuck", "fallen", "out of steps"]
"""Why a rollout failed; "none" when it did not."""

Replan = Callable[[FloatArray, FloatArray], Route | None]
"""Position [2] and the waypoints [K, 2] still to visit → a route from there, None when there is none."""


@dataclass(frozen=True)
class ProgressWatch:
    """What the agent remembers to notice trouble.

    least_to_go: the best it has come, in units, at step `gained_at`; quiet_until: drift is excused so long;
    back_until: it walks back so long.
    """

    least_to_go: float = np.inf
    gained_at: int = 0
    quiet_until: int = 0
    back_until: int = 0

    def updated(self, step: int, units_to_go: float, params: ExecutionParams) -> ProgressWatch:
        """Remember the step when it brought the agent clearly nearer to its goal."""
        if units_to_go > self.least_to_go - params.least_progress:
            return self
        return replace(self, least_to_go=units_to_go, gained_at=step)

    def backing_off(self, step: int, params: ExecutionParams) -> ProgressWatch:
        """Walk back for a moment when nothing was gained for a while.

        A learned tracker can come to rest in a pose that its own constant action keeps; asked for another
        direction it leaves it.
        """
        is_idle = 0 < params.idle_steps <= step - max(self.gained_at, self.back_until)
        return replace(self, back_until=step + BACK_STEPS) if is_idle else self

    def after_failed_replan(self, step: int, params: ExecutionParams) -> ProgressWatch:
        """Give the old route another chance before the next attempt."""
        return ProgressWatch(self.least_to_go, step, step + params.stuck_steps)


def trouble(
    progress: ProgressWatch, route: Route, place: Place, track: list[FloatArray], params: ExecutionParams
) -> Cause | None:
    """What is wrong, if anything; track: the positions [2] from step 0 to now."""
    step = len(track) - 1
    if step > 0 and np.linalg.norm(track[-1] - track[-2]) > params.world.jump:
        return "drift"
    distance = off_plan(route, place, track[-1])
    if distance > params.drift and step >= progress.quiet_until:
        return "drift"
    if not route.is_complete and place.frame == len(route.path) - 1 and distance <= params.visit_radius:
        return "no plan"
    return "stuck" if step - progress.gained_at >= params.stuck_steps else None
