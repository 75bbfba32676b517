"""Trains the ant's expert: soft actor-critic on a flat floor, several seeds side by side, the steadiest
kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from benchmarks.collect.expert import (
    ACTION_DIM,
    CARD,
    EXPERT_FILE,
    KIND,
    NOISE,
    OBSERVATION_DIM,
    Float32Array,
)
from benchmarks.collect.walks import STEPS_PER_SECOND
from benchmarks.expert.floor import Floor, Outcome
from benchmarks.expert.sac import Explorer, Replay, Sac, SacParams, member
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.files import locked, write_text
from chronoforest.models import checkpoint
from chronoforest.models.networks import compiled
from chronoforest.models.runs import device_name
from chronoforest.models.store import facts_table
from chronoforest.models.train import LoopParams, Training

FAST_ENOUGH = 0.9  # share of the fastest seed's speed that a seed needs to be chosen for its steadiness

ABOUT = (
    "Speeds on the flat floor in units per second along the commanded direction, falls (unhealthy or turned "
    "over) per 1000 steps, without and with action noise. Chosen: the fewest falls with noise among the "
    f"seeds with at least {FAST_ENOUGH:.0%} of the fastest speed with noise."
)
HEADER = ("| seed number | speed | falls | speed, noise | falls, noise |", "|---|---|---|---|---|")


@dataclass(frozen=True)
class ExpertParams:
    """A training of the expert.

    num_seeds: experts trained side by side; num_steps: steps of each, and about as many updates;
    ants_per_seed: ants that each walks at once; batch: transitions of an update; learning_rate: Adam's;
    target_rate: of the critics' targets; most_random_steps: random steps before the first update, at most a
    tenth of all; eval_ants: ants of a measurement; eval_steps: its steps; report_seconds: between two
    reports.
    """

    num_seeds: int = 4
    num_steps: int = 400_000
    ants_per_seed: int = 4
    batch: int = 256
    learning_rate: float = 1e-4
    target_rate: float = 0.005
    seed: int = 0
    most_random_steps: int = 5000
    eval_ants: int = 64
    eval_steps: int = 500
    report_seconds: float = 10.0
    sac: SacParams = field(default_factory=SacParams)

    def __post_init__(self) -> None:
        counts = ("num_seeds", "num_steps", "ants_per_seed", "batch", "eval_ants", "eval_steps")
        require_at_least(self, 1, *counts)
        require_at_least(self, 0, "seed")
        if self.num_ticks <= self.num_random_ticks:
            raise InvalidParameter(
                f"{self.num_steps} steps with {self.ants_per_seed} ants per seed leave nothing to learn from"
            )

    @property
    def num_ants(self) -> int:
        """Ants of all seeds."""
        return self.num_seeds * self.ants_per_seed

    @property
    def num_ticks(self) -> int:
        """Steps that each ant takes."""
        return math.ceil(self.num_steps / self.ants_per_seed)

    @property
    def num_random_ticks(self) -> int:
        """Ticks of random actions before the first update."""
        return math.ceil(min(self.most_random_steps, self.num_steps // 10) / self.ants_per_seed)

    @property
    def training(self) -> LoopParams:
        """The updates."""
        return LoopParams(
            num_steps=(self.num_ticks - self.num_random_ticks) * self.ants_per_seed,
            batch=self.batch,
            learning_rate=self.learning_rate,
            final_share=1.0,
            average_rate=self.target_rate,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Report:
    """Exploration since the last report, for each seed; speeds in units/s along the direction."""

    step: int
    num_steps: int
    speeds: tuple[float, ...]
    falls_per_1000: tuple[float, ...]


@dataclass(frozen=True)
class ExpertRun:
    """Where a training of experts runs and reports."""

    folder: Path
    device: torch.device
    num_workers: int
    command: str = "python -m benchmarks expert"
    on_report: Callable[[Report], None] = lambda _: None

    def __post_init__(self) -> None:
        if self.num_workers < 1:
            raise InvalidParameter(f"workers must be at least 1, got {self.num_workers}")


@dataclass(frozen=True)
class SeedFigures:
    """A seed measured without and with action noise; speeds in units/s along the direction."""

    speed: float
    falls_per_1000: float
    noisy_speed: float
    noisy_falls_per_1000: float


def train_expert(params: ExpertParams, run: ExpertRun) -> tuple[int, list[SeedFigures]]:
    """Train, measure every seed, write the steadiest; returns its index and all figures."""
    started = time.monotonic()
    with locked(run.folder):
        learner = Learner(params, run)
        learner.run()
        entropy = (params.seed, params.num_ticks)
        figures = evaluate(learner.sac, params.eval_ants, params.eval_steps, entropy, run.num_workers)
        chosen = steadiest(figures)
        card = {
            "kind": KIND,
            "command": run.command,
            "seed": params.seed,
            "chosen": chosen,
            "num_steps": params.num_ticks * params.ants_per_seed,
            "noise": NOISE,
            "device": device_name(run.device),
            "params": asdict(params),
            "figures": [asdict(figure) for figure in figures],
            "seconds": round(time.monotonic() - started, 1),
        }
        checkpoint.write(run.folder / EXPERT_FILE, member(learner.sac.actor, chosen), card)
        facts = {name: value for name, value in card.items() if name not in ("params", "figures")}
        rows = [
            f"| {k} | {' | '.join(f'{v:.3f}' for v in asdict(one).values())} |"
            for k, one in enumerate(figures)
        ]
        lines = ["# The ant's locomotion expert", "", *facts_table(facts), "", ABOUT, "", *HEADER, *rows, ""]
        write_text(run.folder / CARD, "\n".join(lines))
    return chosen, figures


class Learner:
    """Networks, optimiser, replay and the loop that feeds them."""

    def __init__(self, params: ExpertParams, run: ExpertRun) -> None:
        self.params, self.where = params, run
        torch.manual_seed(params.seed)
        self.sac = Sac(params.num_seeds, params.sac).to(run.device)
        shape = (params.num_ticks, params.num_seeds, params.ants_per_seed)
        self.replay = Replay(*shape, params.sac, run.device)
        loss = compiled(self.sac.loss, run.device)
        self.training = Training(
            self.sac,
            lambda: loss(self.replay.draw(params.batch)),
            [(self.sac.critic, self.sac.target)],
            params.training,
            run.device,
            {"model": "ant expert"},
        )
        self.explore = Explorer(self.sac, run.device)

    def run(self) -> None:
        """Train to the end, with a report now and then."""
        params, entropy = self.params, (self.params.seed, 0)
        since, reported_at, rewards, falls = 0, time.monotonic(), *np.zeros((2, params.num_seeds))
        with Floor(params.num_ants, entropy, self.where.num_workers) as floor:
            observations, rng = floor.first_observations(), np.random.default_rng(entropy)
            for tick in range(1, params.num_ticks + 1):
                outcome = self._advance(tick - 1, floor, observations, rng)
                observations = outcome.observations
                rewards += outcome.rewards.reshape(params.num_seeds, -1).mean(axis=1)
                falls += outcome.has_fallen.reshape(params.num_seeds, -1).mean(axis=1)
                if time.monotonic() - reported_at > params.report_seconds or tick == params.num_ticks:
                    ants, count = params.ants_per_seed, tick - since
                    speeds, rates = STEPS_PER_SECOND * rewards / count, 1000.0 * falls / count
                    total = params.num_ticks * ants
                    told = Report(tick * ants, total, tuple(speeds.tolist()), tuple(rates.tolist()))
                    self.where.on_report(told)
                    since, reported_at, rewards, falls = tick, time.monotonic(), 0 * rewards, 0 * falls

    def _advance(
        self, tick: int, floor: Floor, observations: Float32Array, rng: np.random.Generator
    ) -> Outcome:
        """One tick: the updates run while the ants step."""
        is_random = tick < self.params.num_random_ticks
        size = (self.params.num_ants, ACTION_DIM)
        actions = rng.uniform(-1.0, 1.0, size).astype(np.float32) if is_random else self.explore(observations)
        floor.send(actions)
        if not is_random:
            for _ in range(self.params.ants_per_seed):
                self.training.advance()
        outcome = floor.receive()
        continues = 1.0 - outcome.is_terminal
        columns = (observations, actions, outcome.next_observations, outcome.rewards[:, None])
        rows = np.concatenate([*columns, continues[:, None]], axis=1)
        self.replay.put(tick, torch.from_numpy(rows))
        return outcome


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
            inputs = torch.from_numpy(observations).view(sac.num_seeds, -1, OBSERVATION_DIM)
            with torch.no_grad():
                means = sac.mean_actions(inputs.to(sac.log_entropy.device)).cpu().numpy()
            actions: Float32Array = means.reshape(*shape, ACTION_DIM)
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


def steadiest(figures: Sequence[SeedFigures]) -> int:
    """The seed that falls least with noise among the nearly fastest; of equals the faster one."""
    fastest = max(figure.noisy_speed for figure in figures)
    enough = fastest - (1.0 - FAST_ENOUGH) * abs(fastest)
    candidates = [k for k, figure in enumerate(figures) if figure.noisy_speed >= enough]
    return min(candidates, key=lambda k: (figures[k].noisy_falls_per_1000, -figures[k].noisy_speed))
