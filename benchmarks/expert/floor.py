"""Many ants on a flat floor, each told a direction, stepped side by side by worker processes.

By OGBench's recipe for its locomotion experts (`online_locomotion`): the reward is the displacement along the
direction, a new direction is drawn every 100 steps, an unhealthy ant ends its episode, and so do 1000 steps.
Every ant has its own random stream, so the number of workers changes nothing.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any

import numpy as np

from chronoforest.collect.expert import ACTION_DIM, OBSERVATION_DIM, Float32Array
from chronoforest.envs.bodies import is_upside_down
from chronoforest.errors import WorkerDied
from chronoforest.processes import deaf_children
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
    """One ant and its direction.

    ends_when_fallen: also end an episode in which the ant turned over (in training it goes on, as in OGBench;
    there is no getting up again, so a measurement would count the floor).
    """

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
    """`num_ants` ants in worker processes; a context manager that leaves no process behind.

    `send` hands every ant its action and returns at once; `receive` waits for what came of it.
    """

    def __init__(
        self, num_ants: int, entropy: tuple[int, ...], num_workers: int, ends_when_fallen: bool = False
    ) -> None:
        context = multiprocessing.get_context("spawn")
        buffers = {name: context.RawArray("f", num_ants * size) for name, size in _SIZES.items()}
        self._shared = _views(buffers)
        self._workers: list[tuple[SpawnProcess, Connection]] = []
        for members in np.array_split(np.arange(num_ants), min(num_workers, num_ants)):
            ours, theirs = context.Pipe()
            task = _Task([int(k) for k in members], entropy, ends_when_fallen)
            process = context.Process(target=_serve, args=(theirs, buffers, task), daemon=True)
            with deaf_children():
                process.start()
            theirs.close()
            self._workers.append((process, ours))

    def __enter__(self) -> Floor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, pipe in self._workers:
            pipe.close()
        for process, _ in self._workers:
            process.join(timeout=5.0)
            if process.is_alive():
                process.terminate()

    def first_observations(self) -> Float32Array:
        """Wait until every ant stands; call it once, before the first `send`."""
        self._wait()
        return self._shared["observations"].copy()

    def send(self, actions: Float32Array) -> None:
        """Start a step with actions [N, ACTION_DIM]."""
        self._shared["actions"][:] = actions
        for process, pipe in self._workers:
            try:
                pipe.send_bytes(b"step")
            except (BrokenPipeError, ConnectionResetError) as error:
                raise _death(process) from error

    def receive(self) -> Outcome:
        """Wait for the step that `send` started."""
        self._wait()
        columns = {name: array.copy() for name, array in self._shared.items() if name != "actions"}
        facts = columns.pop("facts")
        return Outcome(**columns, rewards=facts[:, 0], is_terminal=facts[:, 1], has_fallen=facts[:, 2])

    def _wait(self) -> None:
        for process, pipe in self._workers:
            try:
                pipe.recv_bytes()
            except (EOFError, ConnectionResetError) as error:
                raise _death(process) from error


_SIZES = {
    "observations": OBSERVATION_DIM,
    "next_observations": OBSERVATION_DIM,
    "actions": ACTION_DIM,
    "facts": 3,
}
"""Numbers per ant in the memory shared with the workers; facts are reward, is_terminal, has_fallen."""


@dataclass(frozen=True)
class _Task:
    """Which ants a worker steps."""

    members: list[int]
    entropy: tuple[int, ...]
    ends_when_fallen: bool


def _views(buffers: dict[str, Any]) -> dict[str, Float32Array]:
    return {
        name: np.frombuffer(buffers[name], dtype=np.float32).reshape(-1, size)
        for name, size in _SIZES.items()
    }


def _serve(pipe: Connection, buffers: dict[str, Any], task: _Task) -> None:
    """A worker's life: it ends when the other end of its pipe is closed, for whatever reason."""
    shared = _views(buffers)
    ants = {k: DirectedAnt((*task.entropy, k), task.ends_when_fallen) for k in task.members}
    for k, ant in ants.items():
        shared["observations"][k] = ant.reset()
    try:
        pipe.send_bytes(b"ready")
        while pipe.recv_bytes():
            for k, ant in ants.items():
                observation, *facts, is_done = ant.step(shared["actions"][k])
                shared["next_observations"][k], shared["facts"][k] = observation, facts
                shared["observations"][k] = ant.reset() if is_done else observation
            pipe.send_bytes(b"done")
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _death(process: SpawnProcess) -> WorkerDied:
    process.join(timeout=5.0)
    return WorkerDied(
        f"a process that steps the ants ended unexpectedly (exit code {process.exitcode}); "
        "the same command with --resume continues from the last save"
    )
