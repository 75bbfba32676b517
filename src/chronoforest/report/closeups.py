"""One picture per ant at every moment: rendered by MuJoCo where that works, drawn where it does not."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer
from types import TracebackType

import numpy as np

from chronoforest.envs.bodies import AntKinematics
from chronoforest.errors import WorkerDied
from chronoforest.execution.rollout import Rollout
from chronoforest.planning.result import PlanResult
from chronoforest.report import drawing as pictures
from chronoforest.report.canvas import Picture, rgb
from chronoforest.report.scene import draw_scene, paint_limbs, paint_trail
from chronoforest.report.studio import Actor, Shooting
from chronoforest.types import FloatArray, Problem

STUDIO = [sys.executable, "-m", "chronoforest.report.studio"]

VIEW = 6.0
"""Units across a drawn close-up."""

THIN = 0.05
"""Radius of the line behind an ant in a drawn close-up, in world units."""

FIRST_PICTURE, WHOLE_FILM = 30.0, 120.0
"""Seconds that rendering may take before it counts as broken and the rest is drawn."""

SPACING = 0.6
"""Units between the points of a rendered path."""


@dataclass(frozen=True, eq=False)
class Storyboard:
    """The first `num_filmed` agents at the steps `moments`, in pictures of `shape`: height, width."""

    result: PlanResult
    rollouts: Sequence[Rollout]
    moments: Sequence[int]
    num_filmed: int
    shape: tuple[int, int]


class Film:
    """The pictures of a shooting, from a process that renders them with one of MuJoCo's OpenGL libraries."""

    def __init__(self, shooting: Shooting, library: str) -> None:
        self._shape = (*shooting.shape, 3)
        self._size = shooting.num_filmed
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self._process = subprocess.Popen(
            STUDIO,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **({"MUJOCO_GL": library} if library else {})},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._job, self._pictures = self._process.stdin, self._process.stdout
        self._watchdog = self._watch(FIRST_PICTURE)
        try:
            self._send(shooting)
            self._first: list[Picture] | None = self._read()
        except WorkerDied:
            self.close()
            raise
        self._watchdog.cancel()
        self._watchdog = self._watch(WHOLE_FILM)

    def take(self) -> list[Picture]:
        """The filmed ants at the next moment."""
        taken, self._first = self._first or self._read(), None
        return taken

    def close(self) -> None:
        """End the process."""
        self._watchdog.cancel()
        self._process.kill()
        self._process.wait()
        for pipe in (self._job, self._pictures, self._errors):
            with suppress(BrokenPipeError):
                pipe.close()

    def _watch(self, seconds: float) -> Timer:
        """End the process when it takes longer than that, which makes every read from it return."""
        watchdog = Timer(seconds, self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        return watchdog

    def _send(self, shooting: Shooting) -> None:
        try:
            pickle.dump(shooting, self._job)
            self._job.close()
        except OSError as error:
            raise WorkerDied(self._reason()) from error

    def _read(self) -> list[Picture]:
        """The pictures of one moment."""
        num_bytes = int(np.prod(self._shape))
        taken = [self._pictures.read(num_bytes) for _ in range(self._size)]
        if len(taken[-1]) < num_bytes:
            raise WorkerDied(self._reason())
        return [np.frombuffer(picture, np.uint8).reshape(self._shape) for picture in taken]

    def _reason(self) -> str:
        """The last line the process complained in, or how it ended."""
        status = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        complaints = [line.strip() for line in lines if line.strip()]
        return complaints[-1] if complaints else f"ended with status {status}"


class DrawnAnts:
    """The map enlarged around every ant, with the ant drawn from its kinematics."""

    def __init__(self, story: Storyboard) -> None:
        left, right, *_ = story.result.support.extent
        enlarged = round(story.shape[1] * (right - left) / VIEW)
        self._scene = draw_scene(story.result, story.rollouts, "", enlarged, ground=pictures.GROUND)
        self._story = story
        self._limbs = AntKinematics()
        self._painted = 0

    def take(self, step: int) -> list[Picture]:
        """The ants at a step; steps must not go back."""
        for agent, rollout in enumerate(self._story.rollouts):
            paint_trail(self._scene, rollout, agent, self._painted, step, THIN)
        self._painted = step
        filmed = self._story.rollouts[: self._story.num_filmed]
        return [self._picture(rollout.xy[min(step, rollout.steps)], step) for rollout in filmed]

    def _picture(self, centre: FloatArray, step: int) -> Picture:
        window = self._scene.window(centre, *self._story.shape).copy()
        for agent, rollout in enumerate(self._story.rollouts):
            paint_limbs(window, self._limbs(rollout.pose(min(step, rollout.steps))), agent)
        return window.canvas


class Closeups:
    """Pictures of the first ants at the moments of a video; `note` says how they are made, and why."""

    def __init__(self, story: Storyboard) -> None:
        self._story = story
        self._drawn: DrawnAnts | None = None
        self._film, self.note = _try_libraries(_shooting(story))

    def __enter__(self) -> Closeups:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._film is not None:
            self._film.close()

    def take(self, step: int) -> list[Picture]:
        """[height, width, 3] for each filmed ant at a step; call it once for every moment, in order."""
        if self._film is not None:
            try:
                return self._film.take()
            except WorkerDied as error:
                self._film.close()
                self._film = None
                self.note += f" until step {step}, drawn from there: {error}"
        self._drawn = self._drawn or DrawnAnts(self._story)
        return self._drawn.take(step)


def gl_libraries() -> tuple[str, ...]:
    """What to try for MuJoCo's off-screen rendering: the user's choice alone, if there is one."""
    chosen = os.environ.get("MUJOCO_GL", "")
    if chosen:
        return (chosen,)
    return ("egl", "osmesa") if sys.platform == "linux" else ("",)


def _try_libraries(shooting: Shooting) -> tuple[Film | None, str]:
    """The first library that renders a picture, and a line for the user."""
    failures = []
    for library in gl_libraries():
        name = library or "its default OpenGL"
        try:
            return Film(shooting, library), f"ants rendered by MuJoCo with {name}"
        except WorkerDied as error:
            failures.append(f"{name}: {error}")
    return None, f"ants drawn, because MuJoCo cannot render here ({'; '.join(failures)})"


def _shooting(story: Storyboard) -> Shooting:
    problem, moments = story.result.problem, story.moments
    visitors, visit_moments = [-1] * len(problem.waypoints), [0] * len(problem.waypoints)
    for agent, rollout in enumerate(story.rollouts):
        for step, place in zip(rollout.visit_steps, rollout.visited, strict=True):
            waypoint = int(np.linalg.norm(problem.waypoints - place, axis=1).argmin())
            visitors[waypoint], visit_moments[waypoint] = agent, int(np.searchsorted(moments, step))
    actors = [_actor(agent, rollout, problem, moments) for agent, rollout in enumerate(story.rollouts)]
    return Shooting(
        world=story.result.preset,
        shape=story.shape,
        actors=tuple(actors),
        num_filmed=story.num_filmed,
        waypoints=problem.waypoints,
        visitors=tuple(visitors),
        visit_moments=tuple(visit_moments),
    )


def _actor(agent: int, rollout: Rollout, problem: Problem, moments: Sequence[int]) -> Actor:
    return Actor(
        colour=rgb(pictures.agent_colour(agent)) / 255,
        poses=np.array([rollout.pose(min(step, rollout.steps)) for step in moments]),
        paths=tuple(thinned(path) for path in rollout.paths),
        replan_moments=tuple(np.searchsorted(moments, rollout.replan_steps).tolist()),
        goal=problem.goals[agent],
    )


def thinned(path: FloatArray) -> FloatArray:
    """[n, 2] points of a path [T, 2] about SPACING units apart, both ends included."""
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    spot = np.floor(np.append(0.0, np.cumsum(lengths)) / SPACING)
    is_kept = np.append(True, np.diff(spot) > 0)
    is_kept[-1] = True
    return path[is_kept]
