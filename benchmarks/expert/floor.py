"""Many ants on a flat floor, each told a direction, stepped side by side by worker processes, by OGBench's
`online_locomotion`: the reward is the displacement along the direction, which changes every 100 steps."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from benchmarks.collect.expert import Float32Array
from chronoforest.envs.bodies import is_upside_down
from chronoforest.errors import WorkerDied
from chronoforest.types import FloatArray

DIRECTION_STEPS = 100
EPISODE_STEPS = 1000


@dataclass(frozen=True)
class Outcome:
    """One step of every ant; `observations` already belong to the next episode where one ended.

    observations, next_observations: [N, OBSERVATION_DIM]; rewards: [N] units along the direction;
    is_terminal: [N] the body became unhealthy; has_fallen: [N] it did, or it just turned over.
    """

    observations: Float32Array
    next_observations: Float32Array
    rewards: Float32Array
    is_terminal: Float32Array
    has_fallen: Float32Array


class DirectedAnt:
    """One ant and its direction; ends_when_fallen: also end an episode in which the ant turned over, since a
    measurement would count the floor (in training it goes on, as in OGBench)."""

    def __init__(self, entropy: tuple[int, ...], ends_when_fallen: bool = False) -> None:
        from ogbench.online_locomotion.ant import AntEnv

        self.env: Any = AntEnv()
        self.rng = np.random.default_rng(entropy)
        self.env.reset(seed=int(self.rng.integers(2**31)))
        self.ends_when_fallen = ends_when_fallen

    def reset(self) -> FloatArray:
        """Start an episode; returns the observation."""
        body, _ = self.env.reset()
        self.num_steps, self.was_over = 0, False
        self._turn()
        return np.concatenate([body, self.direction])

    def step(self, action: Float32Array) -> tuple[FloatArray, float, bool, bool, bool]:
        """Observation after the step, reward, is it terminal, has the ant fallen, is the episode over."""
        before = self.env.data.qpos[:2].copy()
        body, _, is_terminal, _, _ = self.env.step(action)
        reward = float((self.env.data.qpos[:2] - before) @ self.direction)
        self.num_steps += 1
        is_over = bool(is_upside_down(self.env.data.qpos))
        has_fallen = bool(is_terminal) or (is_over and not self.was_over)
        self.was_over = is_over
        if self.num_steps % DIRECTION_STEPS == 0:
            self._turn()
        is_done = is_terminal or self.num_steps >= EPISODE_STEPS or (has_fallen and self.ends_when_fallen)
        return np.concatenate([body, self.direction]), reward, bool(is_terminal), has_fallen, is_done

    def _turn(self) -> None:
        direction = self.rng.standard_normal(2)
        self.direction: FloatArray = direction / np.linalg.norm(direction)


class Floor:
    """`num_ants` ants, a share of them in each of some processes, of which the context leaves none behind."""

    def __init__(
        self, num_ants: int, entropy: tuple[int, ...], num_workers: int, ends_when_fallen: bool = False
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.members = np.array_split(np.arange(num_ants), min(num_workers, num_ants))
        self.workers = [
            ProcessPoolExecutor(1, context, _begin, (part.tolist(), entropy, ends_when_fallen))
            for part in self.members
        ]
        self._answers: list[Future[Any]] = [worker.submit(_step, None) for worker in self.workers]

    def __enter__(self) -> Floor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.shutdown(cancel_futures=True)

    def first_observations(self) -> Float32Array:
        """Wait until every ant stands; call it once, before the first `send`."""
        return np.concatenate(self._received())

    def send(self, actions: Float32Array) -> None:
        """Start a step with actions [N, ACTION_DIM]."""
        pairs = zip(self.workers, self.members, strict=True)
        try:
            self._answers = [worker.submit(_step, actions[part]) for worker, part in pairs]
        except BrokenProcessPool as error:
            raise _DIED from error

    def receive(self) -> Outcome:
        """Wait for the step that `send` started."""
        columns = (np.concatenate(parts) for parts in zip(*self._received(), strict=True))
        observations, next_observations, facts = columns
        return Outcome(observations, next_observations, *facts.T)

    def _received(self) -> list[Any]:
        try:
            return [answer.result() for answer in self._answers]
        except BrokenProcessPool as error:
            raise _DIED from error


_DIED = WorkerDied("a process that steps the ants ended unexpectedly; start again")

_ants: list[DirectedAnt] = []  # those of this process, where it is a worker's


def _begin(members: Sequence[int], entropy: tuple[int, ...], ends_when_fallen: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that trains ends its workers
    _ants[:] = [DirectedAnt((*entropy, member), ends_when_fallen) for member in members]


def _step(actions: Float32Array | None) -> Any:
    """Observations, those after the step, and reward, is_terminal, has_fallen [n, 3]; without actions the
    first observations."""
    if actions is None:
        return np.array([ant.reset() for ant in _ants], dtype=np.float32)
    seen, after, facts = [], [], []
    for ant, action in zip(_ants, actions, strict=True):
        observation, *fact, is_done = ant.step(action)
        after.append(observation)
        facts.append(fact)
        seen.append(ant.reset() if is_done else observation)
    return tuple(np.array(column, dtype=np.float32) for column in (seen, after, facts))
