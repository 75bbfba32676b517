"""Whether recordings can be learned from at all: told before any work, with what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chronoforest.data.episodes import Episodes
from chronoforest.errors import BadDataset
from chronoforest.models.params import ModelParams
from chronoforest.models.runs import Recordings

LEAST_FRAMES = 2
"""Rows that a recording must have, seen at the stride of a model: something must come after something."""


def refuse_untrainable(recordings: Recordings, params: ModelParams, kinds: Sequence[str]) -> None:
    """Raise what stands in the way of training models of these kinds, the first that is found."""
    for kind in (kind for kind in kinds if kind in OBSTACLES):
        for part in (recordings.train, recordings.held_out):
            for obstacle in OBSTACLES[kind](part, params):
                raise BadDataset(f"the {kind} cannot be trained: {obstacle}")


def _too_short(episodes: Episodes, stride: int, setting: str) -> Iterator[str]:
    least = LEAST_FRAMES * stride
    if episodes.num_steps < least:
        yield (
            f"recordings of {episodes.num_steps} rows are shorter than the {least} that {setting} = {stride} "
            "needs; import longer ones (`chronoforest data import --help`: a larger --max-gap cuts less), or "
            f"let `chronoforest preset new` propose a preset for these, or set {setting} "
            f"to {episodes.num_steps // LEAST_FRAMES} or less"
        )


def _density_obstacles(episodes: Episodes, params: ModelParams) -> Iterator[str]:
    if params.world.is_one_way:
        yield from _too_short(episodes, params.window.stride, "models.window.stride")


def _distance_obstacles(episodes: Episodes, params: ModelParams) -> Iterator[str]:
    distance = params.distance
    yield from _too_short(episodes, distance.backup, "models.distance.backup")
    needs_actions = distance.has_action_values and not distance.has_moves_for_actions
    num_actions = episodes.actions.shape[2]
    if needs_actions and num_actions != distance.action_dim:
        yield (
            f"recorded actions have {num_actions} numbers, models.distance.action_dim is "
            f"{distance.action_dim}; set it to that, or models.distance.has_moves_for_actions to true"
        )


def _denoiser_obstacles(episodes: Episodes, params: ModelParams) -> Iterator[str]:
    yield from _too_short(episodes, params.window.stride, "models.window.stride")


def _tracker_obstacles(episodes: Episodes, params: ModelParams) -> Iterator[str]:
    found = episodes.observations.shape[2], episodes.actions.shape[2]
    wanted = params.tracker.observation_dim, params.tracker.action_dim
    if found != wanted and episodes.has_actions:
        yield (
            f"observations and actions have {found[0]} and {found[1]} numbers, "
            "models.tracker.observation_dim and models.tracker.action_dim are "
            f"{wanted[0]} and {wanted[1]}; set them to that"
        )


OBSTACLES = {
    "density": _density_obstacles,
    "distance": _distance_obstacles,
    "denoiser": _denoiser_obstacles,
    "tracker": _tracker_obstacles,
}
"""What stands in the way of each model."""
