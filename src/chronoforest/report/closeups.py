"""One picture per ant at every moment: rendered by MuJoCo where that works, drawn where it does not."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from threading import Timer

import numpy as np

from chronoforest.envs.bodies import AntKinematics, Limbs
from chronoforest.errors import WorkerDied
from chronoforest.report import drawing
from chronoforest.report.maps import Picture, draw_map, paint_limbs, paint_trail
from chronoforest.report.rendering import CloseupRequest
from chronoforest.types import FloatArray

RENDERER = [sys.executable, "-m", "chronoforest.report.rendering"]

VIEW = 6.0
"""Units across a drawn close-up."""

THIN = 0.05
"""Radius of the line behind an ant in a drawn close-up, in world units."""

FIRST_PICTURE, ALL_PICTURES = 30.0, 120.0
"""Seconds that rendering may take before it counts as broken and the rest is drawn."""


class RenderProcess:
    """Pictures from a process that renders them with one of MuJoCo's OpenGL libraries."""

    def __init__(self, request: CloseupRequest, library: str) -> None:
        self._shape = (*request.shape, 3)
        self._num_shown = request.num_shown
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        environment = {**os.environ, **({"MUJOCO_GL": library} if library else {})}
        with tempfile.TemporaryFile() as job:  # a pipe would wait for a process that does not read
            pickle.dump(request, job)
            job.seek(0)
            self._process = subprocess.Popen(
                RENDERER, stdin=job, stdout=subprocess.PIPE, stderr=self._errors, env=environment
            )
        assert self._process.stdout is not None
        self._pictures = self._process.stdout
        self._watchdog = self._watch(FIRST_PICTURE)
        try:
            self._first: list[Picture] | None = self._read()
        except WorkerDied:
            self.close()
            raise
        self._watchdog.cancel()
        self._watchdog = self._watch(ALL_PICTURES)

    def next_pictures(self) -> list[Picture]:
        """The shown ants at the next step."""
        taken, self._first = self._first or self._read(), None
        return taken

    def close(self) -> None:
        """End the process."""
        self._watchdog.cancel()
        self._process.kill()
        self._process.wait()
        self._pictures.close()
        self._errors.close()

    def _watch(self, seconds: float) -> Timer:
        """End the process when it takes longer than that, which makes every read from it return."""
        watchdog = Timer(seconds, self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        return watchdog

    def _read(self) -> list[Picture]:
        """The pictures of one step."""
        num_bytes = int(np.prod(self._shape))
        taken = [self._pictures.read(num_bytes) for _ in range(self._num_shown)]
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

    def __init__(self, request: CloseupRequest) -> None:
        left, right, *_ = request.result.support.extent
        enlarged = round(request.shape[1] * (right - left) / VIEW)
        self._map = draw_map(request.result, request.rollouts, "", enlarged, ground=drawing.GROUND)
        self._request = request
        self._limbs = AntKinematics()
        self._painted = 0

    def pictures(self, step: int) -> list[Picture]:
        """The ants at a step; steps must not go back."""
        for agent, rollout in enumerate(self._request.rollouts):
            paint_trail(self._map, rollout, agent, self._painted, step, THIN)
        self._painted = step
        poses = [self._request.pose(agent, step) for agent in range(len(self._request.rollouts))]
        limbs = [self._limbs(pose) for pose in poses]
        return [self._picture(pose[:2], limbs) for pose in poses[: self._request.num_shown]]

    def _picture(self, centre: FloatArray, limbs: Sequence[Limbs]) -> Picture:
        window = self._map.window(centre, *self._request.shape).copy()
        for agent, each in enumerate(limbs):
            paint_limbs(window, each, agent)
        return window.canvas


class Closeups:
    """Pictures of the first ants at the steps of a video; `note` says how they are made, and why."""

    def __init__(self, request: CloseupRequest) -> None:
        self._request = request
        self._drawn: DrawnAnts | None = None
        self._process, self.note = _try_libraries(request)

    def close(self) -> None:
        """End the process that renders, if there is one."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def pictures(self, step: int) -> list[Picture]:
        """[height, width, 3] for each shown ant at a step; call it once for every step, in order."""
        if self._process is not None:
            try:
                return self._process.next_pictures()
            except WorkerDied as error:
                self.close()
                self.note += f" until step {step}, drawn from there: {error}"
        self._drawn = self._drawn or DrawnAnts(self._request)
        return self._drawn.pictures(step)


def gl_libraries() -> tuple[str, ...]:
    """What to try for MuJoCo's off-screen rendering: the user's choice alone, if there is one."""
    chosen = os.environ.get("MUJOCO_GL", "")
    if chosen:
        return (chosen,)
    return ("egl", "osmesa") if sys.platform == "linux" else ("",)


def _try_libraries(request: CloseupRequest) -> tuple[RenderProcess | None, str]:
    """The first library that renders a picture, and a line for the user."""
    failures = []
    for library in gl_libraries():
        name = library or "its default OpenGL"
        try:
            return RenderProcess(request, library), f"ants rendered by MuJoCo with {name}"
        except WorkerDied as error:
            failures.append(f"{name}: {error}")
    return None, f"ants drawn, because MuJoCo cannot render here ({'; '.join(failures)})"
