"""Temporal distance: how many steps the recordings need from one state to another, and its calibration."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading
from chronoforest.models.density import full_step
from chronoforest.models.networks import Learner, StackedMLP, average_of, filled
from chronoforest.models.params import DistanceParams, GoalParams, layer_sizes
from chronoforest.models.store import Stored
from chronoforest.typed import from_plain
from chronoforest.types import Calibration, Distance, FloatArray

LATENT = 32
"""Numbers of the code of a place, for each twin and role."""

COVERAGE = 0.95
"""Share of recorded costs that h should cover."""


class StateFeatures(nn.Module):
    """Standardised state and random Fourier features of its plane: [n, D] → [n, D + 2 · num_features]."""

    frequency: torch.Tensor

    def __init__(self, params: DistanceParams, scaling: Scaling) -> None:
        super().__init__()
        self.num_outputs = 2 + 2 * params.num_features  # a place in the plane, sine and cosine of each wave
        self.scaling = copy.deepcopy(scaling)
        frequency = torch.empty(2, params.num_features)
        if not frequency.is_meta:  # where arithmetic would load torch's compiler
            angle = 2.0 * math.pi * torch.rand(params.num_features)
            span = math.log(params.longest_period / params.shortest_period)
            period = params.shortest_period * torch.exp(span * torch.rand(params.num_features))
            frequency = 2.0 * math.pi * torch.stack([angle.cos(), angle.sin()]) / period
        self.register_buffer("frequency", frequency)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        phase = states[..., :2] @ self.frequency
        return torch.cat([self.scaling.normalise(states), phase.sin(), phase.cos()], dim=-1)


class ValueNet(nn.Module):
    """Twin encoders; codes are [n, 2 twins, roles, LATENT].

    When directed, V = −‖ReLU(ψ(s) − φ(g))‖ with roles (ψ, φ); otherwise −‖φ(s) − φ(g)‖ with the role (φ).
    """

    def __init__(self, params: DistanceParams, scaling: Scaling, is_directed: bool = False) -> None:
        super().__init__()
        self.params = params
        self.is_directed = is_directed
        self.num_roles = 2 if is_directed else 1
        self.features = StateFeatures(params, scaling)
        self.encoders = StackedMLP(
            2 * self.num_roles, layer_sizes(self.features.num_outputs, params.width, LATENT)
        )

    def encode(self, states: torch.Tensor) -> torch.Tensor:
        """[n, D] → [n, 2, roles, LATENT]."""
        return self.encode_features(self.features(states))

    def encode_features(self, features: torch.Tensor) -> torch.Tensor:
        """The same from features that are already there."""
        codes = self.encoders(features).transpose(0, 1)
        return codes.reshape(len(features), 2, self.num_roles, LATENT)

    def norms(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """−V of both twins, [..., 2], from codes that broadcast."""
        difference = source[..., 0, :] - target[..., -1, :]
        if self.is_directed:
            difference = torch.relu(difference)
        return (difference.square().sum(dim=-1) + 1e-6).sqrt()

    def values(self, state_features: torch.Tensor, goal_features: torch.Tensor) -> torch.Tensor:
        """V of both twins, [n, 2]; states and goals are encoded in one pass."""
        codes = self.encode_features(torch.cat([state_features, goal_features]))
        source, target = codes.split(len(state_features))
        return -self.norms(source, target)

    def to_steps(self, norms: torch.Tensor) -> torch.Tensor:
        """d = log(1 + (1−γ)V) / log γ of the twins' mean, [..., 2] → [...]; the one place V is clamped."""
        value = norms.mean(dim=-1).clamp(max=self.params.largest_value)
        num_backups = torch.log1p(-(1.0 - self.params.discount) * value) / math.log(self.params.discount)
        return self.params.backup * num_backups


class DistanceLearner(Learner):
    """V and, with action values, Q, which is a twin too, [n, 2]."""

    def __init__(
        self, params: DistanceParams, scaling: Scaling, is_directed: bool = False, action_dim: int = 2
    ) -> None:
        super().__init__()
        self.params = params
        self.value = ValueNet(params, scaling, is_directed)
        self.value_average = average_of(self.value)
        if params.has_action_values:
            inputs = 2 * self.value.features.num_outputs + action_dim
            self.action_value = StackedMLP(2, layer_sizes(inputs, params.width, 1))
            self.action_value_average = average_of(self.action_value)

    def loss(self, batch: Transitions) -> torch.Tensor:
        """The temporal-difference objective of the chosen form."""
        states = torch.cat([batch.state, batch.next_state, batch.goal])
        here, there, goal = self.value.features(states).split(len(batch.state))
        reward = batch.is_goal.float() - 1.0
        keep = self.params.discount * (1.0 - batch.is_goal.float())
        with torch.no_grad():
            backup = reward + keep * self.value_average.values(there, goal).amin(dim=-1)
        values = self.value.values(here, goal)
        if not self.params.has_action_values:
            return expectile_loss(backup.unsqueeze(-1) - values, self.params.expectile)
        choice = torch.cat([here, batch.action, goal], dim=-1)
        with torch.no_grad():
            chosen = self.action_value_average(choice).squeeze(-1).amin(dim=0)
        regression = (backup - self.action_value(choice).squeeze(-1)).square().mean()
        return regression + expectile_loss(chosen.unsqueeze(-1) - values, self.params.expectile)


def expectile_loss(error: torch.Tensor, expectile: float) -> torch.Tensor:
    """|τ − 1(error < 0)| · error², averaged."""
    weight = torch.where(error < 0, 1.0 - expectile, expectile)
    return (weight * error.square()).mean()


class TemporalDistance:
    """A trained distance behind the planner's `Distance` protocol; NumPy outside, torch inside."""

    def __init__(self, net: ValueNet, device: torch.device | str = "cpu") -> None:
        self.net = net.to(device).eval().requires_grad_(False)
        self.device = torch.device(device)
        self.reach, self.far = net.params.reach, net.params.far

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, 2] → [n, F] float32 codes."""
        with torch.no_grad():
            rows = torch.as_tensor(np.asarray(points, dtype=np.float32), device=self.device)
            codes: NDArray[Any] = self.net.encode(filled(rows)).flatten(1).cpu().numpy()
        return codes[: len(points)]

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [n, F] → [n] steps."""
        with torch.no_grad():
            return self._steps(self.net.norms(*self._codes(len(source_codes), source_codes, target_codes)))

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [m, F] → [n, m] steps, a few source rows at a time so that memory stays small."""
        if len(source_codes) == 0 or len(target_codes) == 0:
            return np.zeros((len(source_codes), len(target_codes)))
        source, target = self._codes(len(source_codes) * len(target_codes), source_codes, target_codes)
        with torch.no_grad():
            if self.net.is_directed:
                rows = max(1, 200_000 // len(target))
                norms = torch.cat([self.net.norms(part[:, None], target) for part in source.split(rows)])
            else:
                near, far = (codes[:, :, 0].transpose(0, 1) for codes in (source, target))
                norms = torch.cdist(near, far).permute(1, 2, 0)
            return self._steps(norms)

    def place_codes(self, places: torch.Tensor) -> torch.Tensor:
        """Codes of places [n, 2] already on the device, as `downhill` takes them."""
        with torch.no_grad():
            return self.net.encode(filled(places))[: len(places)]

    def downhill(
        self, points: torch.Tensor, target_codes: torch.Tensor, is_incoming: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Steps left and the unit direction that lowers them fastest, at `points` [n, 2] world units.

        The distance runs from the point to its target, or from the target to the point where incoming.
        """
        with torch.enable_grad():
            points = points.detach().requires_grad_(True)
            moving, fixed = self.net.encode(points), target_codes
            flag = is_incoming[:, None, None, None]
            norms = self.net.norms(torch.where(flag, fixed, moving), torch.where(flag, moving, fixed))
            (slope,) = torch.autograd.grad(norms.sum(), points)
        direction = -slope / (slope.norm(dim=-1, keepdim=True) + 1e-8)
        return self.net.to_steps(norms.detach()), direction

    def _codes(self, num_pairs: int, *codes: NDArray[Any]) -> list[torch.Tensor]:
        """Codes lie in the processor's memory: few pairs are compared there before they could be copied."""
        device = self.device if num_pairs > 20_000 else torch.device("cpu")
        roles = 2, self.net.num_roles, LATENT
        return [torch.as_tensor(some, device=device).view(len(some), *roles) for some in codes]

    def _steps(self, norms: torch.Tensor) -> FloatArray:
        steps: FloatArray = self.net.to_steps(norms).double().cpu().numpy()
        return steps


def load_distance(
    folder: Path, device: torch.device | str = "cpu", file: str = "distance", preset: str | None = None
) -> tuple[TemporalDistance, Calibration]:
    """The distance of a folder and its calibration."""

    def net(stored: Stored) -> ValueNet:
        settings = dict(stored.card["params"])
        is_directed = bool(settings.pop("is_directed"))
        return ValueNet(from_plain(DistanceParams, settings), Scaling.unit(2), is_directed)

    stored = Stored.read(folder, "distance", file, preset)
    distance = TemporalDistance(stored.filled(net), device)
    with reading(stored.path, "a calibrated distance", BadCheckpoint):
        return distance, from_plain(Calibration, stored.card["calibration"])


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
    """tracks [E, T, D], actions [E, T, A] → transitions, each asked to reach a state of the recordings."""
    num_episodes, num_steps, _ = tracks.shape
    device = tracks.device
    episode = torch.randint(num_episodes, (num_draws,), device=device)
    step = torch.randint(num_steps - 1, (num_draws,), device=device)
    uniform = torch.rand(num_draws, device=device).clamp_min(1e-7)
    ahead = 1 + torch.floor(torch.log(uniform) / math.log(params.discount)).long()
    kind = torch.rand(num_draws, device=device)
    is_current = kind < params.current_share
    is_past = (kind >= params.current_share) & (kind < params.current_share + params.past_share)
    is_other = kind >= params.current_share + params.past_share + params.future_share
    ahead = torch.where(is_current, 0, torch.where(is_past, -ahead, ahead))
    other_episode = torch.randint(num_episodes, (num_draws,), device=device)
    other_step = torch.randint(num_steps, (num_draws,), device=device)
    goal_episode = torch.where(is_other, other_episode, episode)
    goal_step = torch.where(is_other, other_step, torch.clamp(step + ahead, min=0, max=num_steps - 1))
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


@dataclass(frozen=True)
class StepPairs:
    """Two states of one recording and the steps between them: source, target [n, 2]; steps [n]."""

    source: FloatArray
    target: FloatArray
    steps: FloatArray


def draw_step_pairs(xy: FloatArray, jump: float, num_pairs: int = 20_000) -> StepPairs:
    """Pairs from the moving part of recordings xy [E, T, 2]; steps longer than `jump` are jumps.

    What comes after arrival (recordings park at their goals) or runs across a jump says nothing about
    travel time and is left out.
    """
    rng = np.random.default_rng(0)
    # Within 3.5 steps at full speed from its end a recording has arrived.
    is_near_end = np.linalg.norm(xy - xy[:, -1:], axis=-1) < 3.5 * full_step(xy, jump)
    arrival = np.maximum(np.argmax(is_near_end, axis=1), 1)
    jumps = np.linalg.norm(np.diff(xy, axis=1), axis=-1) > jump
    num_jumps = np.concatenate([np.zeros((len(xy), 1), dtype=int), np.cumsum(jumps, axis=1)], axis=1)
    episode = rng.integers(len(xy), size=num_pairs)
    first = np.floor(rng.random(num_pairs) * arrival[episode]).astype(int)
    ahead = 1 + np.floor(rng.random(num_pairs) * (arrival[episode] - first)).astype(int)
    last = np.minimum(first + ahead, arrival[episode])
    keep = (last > first) & (num_jumps[episode, first] == num_jumps[episode, last])
    episode, first, last = episode[keep], first[keep], last[keep]
    source, target = xy[episode, first].astype(float), xy[episode, last].astype(float)
    return StepPairs(source, target, (last - first).astype(float))


def predict(distance: Distance, pairs: StepPairs) -> FloatArray:
    """The learned distance of each pair, [n] steps."""
    return distance.between(distance.encode(pairs.source), distance.encode(pairs.target))


def calibrate(
    predicted: FloatArray, steps: FloatArray, local_window: float, coverage: float = COVERAGE
) -> Calibration:
    """Fit local scale, α and error bands to predictions [n] and recorded steps [n] (appendix, eq. 37–39)."""
    is_local = (predicted <= local_window) & (predicted > 1.0) & (steps > 1.0)
    ratio = steps[is_local] / predicted[is_local]
    local_scale = float(np.exp(np.log(ratio).mean())) if is_local.any() else 1.0
    is_far = predicted > local_window
    alpha = covering_alpha(predicted[is_far], steps[is_far] / local_scale, coverage)
    ratio = steps / (local_scale * (predicted + alpha * predicted**2)).clip(1e-6)
    is_any, error = predicted > 1.0, np.abs(local_scale * predicted - steps)
    gaps = [share * local_window for share in (0.1, 0.2, 0.4, 0.6, 1.0)]
    rising = np.maximum.accumulate([_quantile(error[predicted <= gap], coverage) for gap in gaps])
    return Calibration(
        alpha=alpha,
        local_scale=local_scale,
        local_ratios=(_quantile(ratio[is_local], 0.05), _quantile(ratio[is_local], 0.95)),
        all_ratios=(_quantile(ratio[is_any], 0.05), _quantile(ratio[is_any], 0.95)),
        local_window=local_window,
        local_error=tuple((gap, float(value)) for gap, value in zip(gaps, rising, strict=True)),
    )


def covering_alpha(predicted: FloatArray, steps: FloatArray, coverage: float) -> float:
    """Smallest α ≥ 0 for which x + αx² reaches `coverage` of the recorded steps.

    Asked of far pairs only: over a short way the scatter of recorded steps is the recorder's noise, which
    no model error explains and which α would magnify at range.
    """
    return max(0.0, _quantile((steps - predicted) / np.maximum(predicted, 1.0) ** 2, coverage))


def rank_correlation(predicted: FloatArray, steps: FloatArray) -> float:
    """Spearman's ρ of predictions with recorded steps."""
    from scipy.stats import spearmanr  # slow to import, and no plan needs it

    return float(spearmanr(predicted, steps).statistic)


def _quantile(values: FloatArray, share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else 0.0
