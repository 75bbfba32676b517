"""How well each seed of an expert walks, which one is kept, and the card that says so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from benchmarks.expert.floor import Floor
from benchmarks.expert.sac import Sac
from chronoforest.collect.expert import ACTION_DIM, NOISE, OBSERVATION_DIM, Float32Array
from chronoforest.envs.bodies import STEPS_PER_SECOND
from chronoforest.models.cards import facts_table

FAST_ENOUGH = 0.9
"""Share of the fastest seed's speed that a seed needs to be chosen for its steadiness."""


@dataclass(frozen=True)
class SeedFigures:
    """A seed measured without and with action noise; speeds in units/s along the direction."""

    speed: float
    falls_per_1000: float
    noisy_speed: float
    noisy_falls_per_1000: float


def evaluate(
    sac: Sac, num_ants: int, num_steps: int, entropy: tuple[int, int], num_workers: int
) -> list[SeedFigures]:
    """Walk `num_ants` ants per seed for `num_steps` steps without noise, and as many with it."""
    shape = (sac.num_seeds, 2, num_ants)
    rng = np.random.default_rng((entropy[0], 1))
    rewards, falls = np.zeros(shape), np.zeros(shape)
    with Floor(math.prod(shape), (*entropy, 1), num_workers, ends_when_fallen=True) as floor:
        observations = floor.first_observations()
        for _ in range(num_steps):
            actions = _mean_actions(sac, observations).reshape(*shape, ACTION_DIM)
            actions[:, 1] += rng.normal(0.0, NOISE, actions[:, 1].shape)
            floor.send(actions.clip(-1.0, 1.0).reshape(-1, ACTION_DIM))
            outcome = floor.receive()
            observations = outcome.observations
            rewards += outcome.rewards.reshape(shape)
            falls += outcome.has_fallen.reshape(shape)
    speeds = STEPS_PER_SECOND * rewards.mean(axis=2) / num_steps
    rates = 1000.0 * falls.mean(axis=2) / num_steps
    rows = np.stack([speeds[:, 0], rates[:, 0], speeds[:, 1], rates[:, 1]], axis=1)
    return [SeedFigures(*(round(float(value), 4) for value in row)) for row in rows]


def _mean_actions(sac: Sac, observations: Float32Array) -> Float32Array:
    inputs = torch.from_numpy(observations).view(sac.num_seeds, -1, OBSERVATION_DIM)
    with torch.no_grad():
        actions: Float32Array = sac.mean_actions(inputs.to(sac.log_entropy.device)).cpu().numpy()
    return actions


def steadiest(figures: Sequence[SeedFigures]) -> int:
    """The seed that falls least with noise among the nearly fastest; of equals the faster one."""
    fastest = max(figure.noisy_speed for figure in figures)
    enough = fastest - (1.0 - FAST_ENOUGH) * abs(fastest)
    candidates = [k for k, figure in enumerate(figures) if figure.noisy_speed >= enough]
    return min(candidates, key=lambda k: (figures[k].noisy_falls_per_1000, -figures[k].noisy_speed))


def card_text(card: Mapping[str, Any]) -> str:
    """The card of an expert's file as people read it."""
    rows = {
        "command": f"`{card['command']}`",
        "seed": card["seed"],
        "steps": f"{card['num_steps']} for each of {card['params']['num_seeds']} seeds",
        "chosen": f"seed number {card['chosen']}",
        "device": card["device"],
    }
    if "seconds" in card:
        rows["time"] = f"{card['seconds']} s"
    more = _figure_lines(card) if card["is_finished"] else ["Unfinished: written while training."]
    return "\n".join(["# The ant's locomotion expert", "", *facts_table(rows), "", *more, ""])


def _figure_lines(card: Mapping[str, Any]) -> list[str]:
    params = card["params"]
    head = (
        f"Each seed walked {params['eval_ants']} ants for {params['eval_steps']} steps on the flat floor, "
        f"without and with action noise {card['noise']}; speeds in units per second along the commanded "
        "direction, falls (unhealthy or turned over) per 1000 steps. Chosen: the fewest falls with noise "
        f"among the seeds with at least {FAST_ENOUGH:.0%} of the fastest speed with noise."
    )
    table = ["| seed number | speed | falls | speed, noise | falls, noise |", "|---|---|---|---|---|"]
    for k, figure in enumerate(card["figures"]):
        shown = " | ".join(f"{value:.3f}" for value in figure.values())
        table.append(f"| {k}{' (chosen)' if k == card['chosen'] else ''} | {shown} |")
    return [head, "", *table]
