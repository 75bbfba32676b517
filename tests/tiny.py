"""Networks and recordings small enough to train in a test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from chronoforest.data.episodes import Episodes
from chronoforest.data.scaling import Scaling
from chronoforest.models.denoiser import Denoiser
from chronoforest.models.distance import TemporalDistance, ValueNet
from chronoforest.models.params import (
    DenoiserParams,
    DistanceParams,
    ModelParams,
    TrackerParams,
    TrainParams,
    WindowParams,
)

WINDOW = WindowParams(stride=1, horizon=20)
DENOISER = DenoiserParams(width=16, num_layers=2)
DISTANCE = DistanceParams(width=24, num_features=8)
TRACKER = TrackerParams(width=16)
TRAINING = TrainParams(num_steps=40, batch=16, learning_rate=1e-3, average_rate=0.001)
SCALING = Scaling(np.array([5.0, 5.0]), np.array([3.0, 2.0]))

PARAMS = ModelParams(
    window=WINDOW,
    denoiser=DENOISER,
    denoiser_training=TRAINING,
    student_training=TRAINING,
    distance=DISTANCE,
    distance_training=replace(TRAINING, average_rate=0.02),
    tracker=TRACKER,
    tracker_training=replace(TRAINING, average_rate=0.005),
)


def make_denoiser(seed=0):
    torch.manual_seed(seed)
    return Denoiser(DENOISER, WINDOW, SCALING)


def make_distance(is_directed=False, seed=0, **changes):
    torch.manual_seed(seed)
    return TemporalDistance(ValueNet(replace(DISTANCE, **changes), SCALING, is_directed))


def make_episodes(num_episodes=12, num_steps=41, seed=0):
    """Walks across the square [0, 10]² at 0.2 units a step, in directions that drift."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, (num_episodes, 1)) + rng.normal(
        0, 0.2, (num_episodes, num_steps)
    ).cumsum(1)
    actions = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    start = rng.uniform(0, 10, (num_episodes, 1, 2))
    walked = np.concatenate([np.zeros_like(start), 0.2 * actions[:, :-1].cumsum(axis=1)], axis=1)
    folded = np.abs((start + walked + 10.0) % 20.0 - 10.0)
    return Episodes(folded.astype(np.float32), actions.astype(np.float32))


def make_ant_episodes(num_episodes=6, num_steps=41, seed=0):
    """The same walks with 27 more numbers to observe and eight motors, all noise."""
    rng = np.random.default_rng(seed)
    xy = make_episodes(num_episodes, num_steps, seed).xy
    body = rng.normal(size=(num_episodes, num_steps, 27)).astype(np.float32)
    actions = rng.uniform(-1, 1, (num_episodes, num_steps, 8)).astype(np.float32)
    return Episodes(np.concatenate([xy, body], axis=-1), actions)


def clocks(num_episodes=20, num_steps=60):
    """[E, T, 2] "states" that tell their episode and step."""
    index = torch.meshgrid(torch.arange(num_episodes), torch.arange(num_steps), indexing="ij")
    return torch.stack(index, dim=-1).float()


def noisy_walks(num_episodes=60, num_steps=60):
    """Observations and actions [E, T, 2] of a point that each action moves by a fifth, in noisy lines."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(num_episodes, 1, 2))
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    actions = np.clip(direction + rng.normal(0, 0.3, (num_episodes, num_steps, 2)), -1, 1)
    walked = 0.2 * actions[:, :-1].cumsum(axis=1)
    states = np.concatenate([np.zeros((num_episodes, 1, 2)), walked], axis=1)
    return tuple(torch.as_tensor(values, dtype=torch.float32) for values in (states, actions))


def least_cosine(tracker):
    """How well a point's tracker aims, at worst, over subgoals all around."""
    angle = np.linspace(0, 2 * np.pi, 16)
    subgoals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    action = tracker(np.zeros((16, 2)), subgoals)
    return ((action * subgoals).sum(axis=1) / np.linalg.norm(action, axis=1)).min()
