"""Hindsight goals: which state of the recordings a transition is asked to reach."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from chronoforest.models.params import GoalParams


@dataclass(frozen=True)
class Transitions:
    """A batch: state, next_state, goal [n, D]; action [n, A]; is_goal [n] where state and goal are one."""

    state: torch.Tensor
    next_state: torch.Tensor
    action: torch.Tensor
    goal: torch.Tensor
    is_goal: torch.Tensor


def draw_transitions(
    tracks: torch.Tensor, actions: torch.Tensor, num_draws: int, params: GoalParams
) -> Transitions:
    """tracks [E, T, D], actions [E, T, A] → relabelled transitions."""
    num_episodes, num_steps, _ = tracks.shape
    device = tracks.device
    episode = torch.randint(num_episodes, (num_draws,), device=device)
    step = torch.randint(num_steps - 1, (num_draws,), device=device)
    goal_episode, goal_step = _draw_goals(episode, step, num_episodes, num_steps, params)
    return Transitions(
        state=tracks[episode, step],
        next_state=tracks[episode, step + 1],
        action=actions[episode, step],
        goal=tracks[goal_episode, goal_step],
        is_goal=(goal_episode == episode) & (goal_step == step),
    )


def thinned(values: torch.Tensor, stride: int) -> torch.Tensor:
    """[E, T, D] → [E · stride, T // stride, D]: every `stride`-th row, once from each of the first rows."""
    num_rows = values.shape[1] // stride
    return torch.cat([values[:, first::stride][:, :num_rows] for first in range(stride)])


def displacements(tracks: torch.Tensor, longest: float) -> torch.Tensor:
    """[E, T, D] → [E, T, D] what every step moved, as a stand-in for actions, of mean square 1; 0 at the end
    of a recording and where a step is longer than `longest`: where a jump ends is luck, not a choice."""
    moved = torch.diff(tracks, dim=1, append=tracks[:, -1:])
    moved = moved * (moved.norm(dim=-1, keepdim=True) <= longest)
    return moved / moved.square().sum(dim=-1).mean().sqrt().clamp_min(1e-6)


def _draw_goals(
    episode: torch.Tensor, step: torch.Tensor, num_episodes: int, num_steps: int, params: GoalParams
) -> tuple[torch.Tensor, torch.Tensor]:
    draws, device = len(episode), episode.device
    uniform = torch.rand(draws, device=device).clamp_min(1e-7)
    ahead = 1 + torch.floor(torch.log(uniform) / math.log(params.discount)).long()
    kind = torch.rand(draws, device=device)
    is_current = kind < params.current_share
    is_past = (kind >= params.current_share) & (kind < params.current_share + params.past_share)
    is_other = kind >= params.current_share + params.past_share + params.future_share
    ahead = torch.where(is_current, 0, torch.where(is_past, -ahead, ahead))
    own = torch.clamp(step + ahead, min=0, max=num_steps - 1)
    other_episode = torch.randint(num_episodes, (draws,), device=device)
    other_step = torch.randint(num_steps, (draws,), device=device)
    return torch.where(is_other, other_episode, episode), torch.where(is_other, other_step, own)
