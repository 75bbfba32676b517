"""Trains the ant's expert: soft actor-critic on a flat floor, several seeds side by side, the steadiest kept.

In a tick every ant takes one step while the device makes as many updates as a seed has ants, so that each
seed has one update per step of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.expert.floor import Floor, Outcome
from benchmarks.expert.params import ExpertParams
from benchmarks.expert.reports import Recent, Report
from benchmarks.expert.sac import Explorer, Replay, Sac, member
from benchmarks.expert.steadiness import SeedFigures, card_text, evaluate, steadiest
from chronoforest.collect.expert import ACTION_DIM, CARD, EXPERT_FILE, KIND, NOISE, Float32Array
from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.files import cannot_write, locked, write_text
from chronoforest.models import checkpoint
from chronoforest.models.runs import device_name
from chronoforest.models.train import Training, compiled
from chronoforest.processes import held_signals

TRAINING_FILE, REPLAY_FILE = "training.safetensors", "replay.f32"


@dataclass(frozen=True)
class ExpertRun:
    """Where a training of experts runs and reports."""

    folder: Path
    device: torch.device
    num_workers: int
    is_resumed: bool = False
    command: str = "python -m benchmarks expert"
    on_report: Callable[[Report], None] | None = None

    def __post_init__(self) -> None:
        if self.num_workers < 1:
            raise InvalidParameter(f"workers must be at least 1, got {self.num_workers}")


def train_expert(params: ExpertParams, run: ExpertRun) -> tuple[int, list[SeedFigures]]:
    """Train, measure every seed, write the steadiest; returns its index and all figures.

    A save every minute and at ctrl-C or SIGTERM lets a later call continue with the same networks,
    optimisers, random numbers and replay; only the episodes under way start anew. With each save the seed
    that was fastest of late is written as an unfinished expert.
    """
    started = time.monotonic()
    with locked(run.folder):
        learner = Learner(params, run)
        if run.is_resumed:
            learner.resume()
        learner.run()
        entropy = (params.seed, params.num_ticks)
        figures = evaluate(learner.sac, params.eval_ants, params.eval_steps, entropy, run.num_workers)
        chosen = steadiest(figures)
        about = {"figures": [asdict(figure) for figure in figures], "is_finished": True}
        about["seconds"] = round(time.monotonic() - started, 1)
        learner.write_expert(chosen, about)
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
            nn.ModuleDict({"sac": self.sac, "replay": self.replay}),
            lambda: loss(self.replay.draw(params.batch)),
            [(self.sac.critic, self.sac.target)],
            params.training,
            run.device,
            {"model": "ant expert", "seeds": params.num_seeds, "ants_per_seed": params.ants_per_seed},
        )
        self.explore = Explorer(self.sac, run.device)
        self.tick = 0
        self._num_written = 0
        self._recent = np.zeros(params.num_seeds)

    def run(self) -> None:
        """Train to the end; ctrl-C and SIGTERM save before they take effect."""
        if self.tick >= self.params.num_ticks:
            return
        entropy = (self.params.seed, self.tick)
        recent = Recent(self.params, self.tick)
        saved_at = time.monotonic()
        floor = Floor(self.params.num_ants, entropy, self.where.num_workers)
        with held_signals() as let_through, floor:
            observations = floor.first_observations()
            rng = np.random.default_rng(entropy)
            try:
                while self.tick < self.params.num_ticks:
                    outcome = self._advance(floor, observations, rng)
                    observations = outcome.observations
                    recent.add(outcome)
                    self._report(recent)
                    let_through()
                    if time.monotonic() - saved_at > self.params.save_seconds:
                        self.save()
                        saved_at = time.monotonic()
            finally:
                self.save()

    def save(self) -> None:
        """Write all that the next tick depends on but the ants' own states."""
        _append(self.where.folder / REPLAY_FILE, self.replay.rows, self._num_written, self.tick)
        self._num_written = self.tick
        self.training.save(self.where.folder / TRAINING_FILE)
        if self.training.step_index:
            self.write_expert(int(np.argmax(self._recent)), {"is_finished": False})

    def resume(self) -> None:
        """Continue a saved run of the same folder, if there is one."""
        path = self.where.folder / TRAINING_FILE
        if not path.is_file():
            return
        self.training.resume(path)
        self.tick = self._num_written = int(self.replay.num_filled)
        _read_rows(self.where.folder / REPLAY_FILE, self.replay.rows, self.tick)

    def write_expert(self, chosen: int, about: dict[str, Any]) -> None:
        """Write one seed's actor with its card."""
        card = {
            "kind": KIND,
            "command": self.where.command,
            "seed": self.params.seed,
            "chosen": chosen,
            "num_steps": self.tick * self.params.ants_per_seed,
            "noise": NOISE,
            "device": device_name(self.where.device),
            "params": asdict(self.params),
            **about,
        }
        checkpoint.write(self.where.folder / EXPERT_FILE, member(self.sac.actor, chosen), card)
        write_text(self.where.folder / CARD, card_text(card))

    def _advance(self, floor: Floor, observations: Float32Array, rng: np.random.Generator) -> Outcome:
        """One tick: the updates run while the ants step."""
        is_random = self.tick < self.params.num_random_ticks
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
        self.replay.put(self.tick, torch.from_numpy(rows))
        self.tick += 1
        return outcome

    def _report(self, recent: Recent) -> None:
        if not recent.is_due and self.tick < self.params.num_ticks:
            return
        report = recent.report(self.tick)
        self._recent = np.array(report.speeds)
        if self.where.on_report is not None:
            self.where.on_report(report)


def _append(path: Path, rows: torch.Tensor, first: int, last: int) -> None:
    """Bring the replay's file up to tick `last`; what it holds beyond `first` is of no run and is dropped."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if first else "wb") as file:
            file.truncate(first * rows[0].numel() * 4)
            file.seek(0, os.SEEK_END)
            file.write(rows[first:last].cpu().numpy().tobytes())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise cannot_write(path, error) from error


def _read_rows(path: Path, rows: torch.Tensor, num_ticks: int) -> None:
    """Fill the first `num_ticks` rows from the replay's file."""
    count = num_ticks * rows[0].numel()
    stored = np.fromfile(path, dtype=np.float32, count=count) if path.is_file() else np.zeros(0, np.float32)
    if len(stored) < count:
        raise BadCheckpoint(
            f"{path} holds {len(stored)} of the {count} numbers that the saved training needs; "
            "remove the folder to start again"
        )
    rows[:num_ticks] = torch.from_numpy(stored).view(num_ticks, *rows.shape[1:]).to(rows.device)
