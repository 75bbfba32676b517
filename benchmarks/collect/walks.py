"""How well the episodes of a generated dataset walked: arrivals, speed, falls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.episodes import Episodes, Float32Array
from chronoforest.envs.bodies import ANT_OBSERVATION_DIM, is_upside_down
from chronoforest.errors import BadDataset
from chronoforest.files import reading

STEPS_PER_SECOND = 10

HEALTHY_HEIGHTS = (0.2, 1.0)
"""Heights of a healthy ant's torso, as in OGBench's environment; lying on its back it is within them."""

RADII = (0.5, 1.0)  # units from the goal that count as an arrival; the first is the official tasks' own

STUCK_STEPS, STUCK_UNITS = 50, 1.0
"""An episode is stuck when it never arrives and its last steps stay within so many units."""


@dataclass(frozen=True, eq=False)
class Walks:
    """Episodes and where each was headed: goals [E, 2] in world units, None where the file does not say."""

    episodes: Episodes
    goals: Float32Array | None

    @property
    def is_ant(self) -> bool:
        """Whether the body is OGBench's ant, by the file's own word or, in an official file, by its size."""
        metadata = self.episodes.metadata
        has_size = self.episodes.observations.shape[2] == ANT_OBSERVATION_DIM
        return has_size and str(metadata.get("name", "" if metadata else "antmaze")).startswith("antmaze")

    @property
    def is_flipped(self) -> NDArray[np.bool_]:
        """[E] whether the ant ends on its back or at no height to stand at; never for another body."""
        if not self.is_ant:
            return np.zeros(len(self.episodes), dtype=bool)
        last = self.episodes.observations[:, -1].astype(np.float64)
        lowest, highest = HEALTHY_HEIGHTS
        return is_upside_down(last) | (last[:, 2] < lowest) | (last[:, 2] > highest)

    def arrival_steps(self, radius: float) -> Float32Array:
        """[E] first step within `radius` of the goal, infinite where there is none."""
        if self.goals is None:
            raise BadDataset("the file does not say where its episodes were headed")
        offsets = self.episodes.xy - self.goals[:, None]
        is_near = np.linalg.norm(offsets, axis=-1) <= radius
        return np.where(is_near.any(axis=1), is_near.argmax(axis=1), np.inf).astype(np.float32)

    @property
    def is_stuck(self) -> NDArray[np.bool_]:
        """[E] upright, never near the goal and hardly moving at the end."""
        late = self.episodes.xy[:, -STUCK_STEPS:]
        is_still = np.linalg.norm(late - late[:, :1], axis=-1).max(axis=1) < STUCK_UNITS
        return np.asarray(is_still & ~self.is_flipped & np.isinf(self.arrival_steps(RADII[-1])))

    def summary(self) -> str:
        """Arrivals, pace, stuck and flipped episodes, a line each; what cannot be told is left out."""
        lines = []
        if self.goals is not None:
            steps = {radius: self.arrival_steps(radius) for radius in RADII}
            near, told = steps[RADII[0]], (_share(np.isfinite(s), f"within {r:g}") for r, s in steps.items())
            lines.append(("arrived", "; ".join(told)))
            if np.isfinite(near).any():
                lengths = self.episodes.step_lengths
                is_before = np.arange(lengths.shape[1]) < near[:, None]
                mean = float(lengths[is_before & (lengths <= self.episodes.jump)].mean())  # without portals
                lines.append(("arrival", f"after {np.median(near[np.isfinite(near)]):.0f} steps (median)"))
                lines.append(("pace", f"{STEPS_PER_SECOND * mean:.2f} units/s on the way to the goal"))
            lines.append(("stuck", _share(self.is_stuck, "away from the goal")))
        if self.is_ant:
            lines.append(("flipped", _share(self.is_flipped, "at the end")))
        return "\n".join(f"{name:<12} {value}" for name, value in lines)


def read_goals(path: Path, num_episodes: int) -> Float32Array | None:
    """The goals [E, 2] of a generated file; None where it has none, as official files."""
    with reading(path, "an .npz dataset", BadDataset), np.load(path, allow_pickle=False) as file:
        goals = file.get("goals")
        goals = None if goals is None else np.asarray(goals, dtype=np.float32)
    if goals is not None and (goals.shape != (num_episodes, 2) or not np.isfinite(goals).all()):
        raise BadDataset(f"{path}: goals have shape {list(goals.shape)}, expected finite [{num_episodes}, 2]")
    return goals


def _share(flags: NDArray[np.bool_], what: str) -> str:
    return f"{int(flags.sum())} of {len(flags)} ({100.0 * float(flags.mean()):.1f} %) {what}"
