"""Close-ups of ants, rendered off-screen by MuJoCo in a process of its own, because OpenGL can end a process.

The process reads a pickled `CloseupRequest` from standard input and writes the raw pictures to standard
output, step by step and agent by agent.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from chronoforest.envs.tasks import make_env
from chronoforest.errors import WorkerDied
from chronoforest.execution.rollout import Rollout
from chronoforest.planning.result import PlanResult
from chronoforest.report.drawing import agent_colour, rgb
from chronoforest.report.maps import Picture
from chronoforest.types import FloatArray

RENDERER = [sys.executable, "-m", "chronoforest.report.closeups"]

LONGEST = 150.0
"""Seconds of rendering after which it counts as broken."""

ELEVATION, DISTANCE = -44.0, 5.6
"""The camera's angle in degrees and its distance from the ant in units."""

TURNING, FOLLOWING = 10.0, 2.0
"""How smoothly, in pictures, the camera turns with an ant and keeps up with it."""

LEAP = 6.0
"""An ant that is this many units away in the next picture went through a portal."""

FLOOR, WALL, WAYPOINT = np.array([[0.77, 0.75, 0.70], [0.17, 0.25, 0.33], [1.0, 0.72, 0.15]])


@dataclass(frozen=True, eq=False)
class CloseupRequest:
    """The first `num_shown` agents at the given steps, in pictures of `shape`: height, width."""

    result: PlanResult
    rollouts: Sequence[Rollout]
    steps: Sequence[int]
    num_shown: int
    shape: tuple[int, int]

    def pose(self, agent: int, step: int) -> FloatArray:
        """[15] of an agent; one that has finished stays as it was."""
        rollout = self.rollouts[agent]
        return rollout.pose(min(step, rollout.steps))


def gl_libraries() -> tuple[str, ...]:
    """What to try for MuJoCo's off-screen rendering: the user's choice alone, if there is one."""
    chosen = os.environ.get("MUJOCO_GL", "")
    if chosen:
        return (chosen,)
    return ("egl", "osmesa") if sys.platform == "linux" else ("",)


def closeups(request: CloseupRequest, library: str) -> Generator[list[Picture], None, None]:
    """[height, width, 3] for each shown ant at each step, rendered with one of MuJoCo's OpenGL libraries;
    WorkerDied where that ends early."""
    size = 3 * int(np.prod(request.shape))
    environment = {**os.environ, **({"MUJOCO_GL": library} if library else {})}
    with tempfile.TemporaryFile() as job, tempfile.TemporaryFile() as errors:
        pickle.dump(request, job)  # a pipe would wait for a process that does not read
        job.seek(0)
        process = subprocess.Popen(
            RENDERER, stdin=job, stdout=subprocess.PIPE, stderr=errors, env=environment
        )
        assert process.stdout is not None
        watchdog = Timer(LONGEST, process.kill)
        watchdog.start()
        try:
            for _ in request.steps:
                taken = [process.stdout.read(size) for _ in range(request.num_shown)]
                if len(taken[-1]) < size:
                    errors.seek(0)
                    complaint = errors.read().decode(errors="replace").strip().split("\n")[-1]
                    raise WorkerDied(complaint or f"ended with status {process.wait()}")
                yield [np.frombuffer(picture, np.uint8).reshape(*request.shape, 3) for picture in taken]
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
            process.stdout.close()


def render(request: CloseupRequest) -> Iterator[Picture]:
    """Pictures [height, width, 3]: at every step one of each shown agent, from behind and above."""
    import mujoco

    model = make_env(request.result.preset).unwrapped.model
    _paint_maze(model, request.shape)
    data, camera = mujoco.MjData(model), mujoco.MjvCamera()
    renderer = mujoco.Renderer(model, *request.shape)
    height, width = request.shape
    # A tall picture shows little to the sides.
    camera.elevation, camera.distance = ELEVATION, DISTANCE * max(1.0, height / width)
    paths = [
        camera_path(np.array([request.pose(agent, step)[:2] for step in request.steps]))
        for agent in range(request.num_shown)
    ]
    for k, step in enumerate(request.steps):
        for agent, (centres, headings) in enumerate(paths):
            data.qpos[:] = request.pose(agent, step)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_camlight(model, data)
            camera.lookat[:], camera.azimuth = [*centres[k], 0.5], headings[k]
            model.geom_rgba[model.geom_bodyid > 0, :3] = rgb(agent_colour(agent)) / 255
            renderer.update_scene(data, camera=camera)
            _add_waypoints(renderer.scene, request, step)
            yield renderer.render()


def camera_path(track: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centres [T, 2] and headings [T] in degrees of a camera that follows a track [T, 2] without haste.

    It goes through portals with the ant instead of flying across the maze.
    """
    leaps = 1 + np.flatnonzero(np.linalg.norm(np.diff(track, axis=0), axis=1) > LEAP)
    centres, headings = [], []
    for piece in np.split(track, leaps):
        centres.append(gaussian_filter1d(piece, FOLLOWING, axis=0, mode="nearest"))
        moves = np.diff(piece, axis=0, prepend=piece[:1])
        moves = gaussian_filter1d(moves, TURNING, axis=0, mode="nearest")
        is_moving = np.linalg.norm(moves, axis=1) > 1e-3
        latest = np.maximum.accumulate(np.where(is_moving, np.arange(len(piece)), 0))
        headings.append(np.degrees(np.arctan2(moves[latest, 1], moves[latest, 0])))
    return np.concatenate(centres), np.concatenate(headings)


def _add_waypoints(scene: Any, request: CloseupRequest, step: int) -> None:
    """A cube over every waypoint still to visit."""
    import mujoco

    visits = [
        place
        for rollout in request.rollouts
        for when, place in zip(rollout.visit_steps, rollout.visited, strict=True)
        if when <= step
    ]
    for place in request.result.problem.waypoints:
        if not any(np.allclose(place, visited) for visited in visits):
            geom, box = scene.geoms[scene.ngeom], mujoco.mjtGeom.mjGEOM_BOX
            rgba = np.array([*WAYPOINT, 1.0], dtype=np.float32)
            mujoco.mjv_initGeom(geom, box, np.full(3, 0.3), np.array([*place, 1.4]), np.eye(3).ravel(), rgba)
            scene.ngeom += 1


def _paint_maze(model: Any, shape: tuple[int, int]) -> None:
    """The colours of the map; no shadows (most of the time) nor smooth edges (half of the rest)."""
    model.vis.quality.shadowsize, model.vis.quality.offsamples = 0, 0
    model.vis.global_.offheight, model.vis.global_.offwidth = shape
    model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 0.3, 0.25
    grid = model.tex("grid")
    texels = model.tex_data[grid.adr[0] :][: grid.height[0] * grid.width[0] * 3].reshape(-1, 3)
    is_dark = texels[:, :1] < texels[:, :1].mean()
    texels[:] = 255 * np.where(is_dark, 0.9 * FLOOR, FLOOR)
    model.mat_rgba[model.material("wall").id, :3] = WALL
    model.geom_rgba[model.geom("target").id, 3] = 0.0
    model.geom_matid[model.geom_bodyid > 0] = -1  # an ant's colour is its geoms', not its material's


def main() -> None:
    """Render the job on standard input to standard output; what libraries print goes to standard error."""

    def complain(kind: type[BaseException], error: BaseException, _: object) -> None:
        print(f"{kind.__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)  # the reader quotes the last line: nothing may be printed after it, on the way out either

    sys.excepthook = complain
    request: CloseupRequest = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        for picture in render(request):
            out.write(picture.tobytes())
            out.flush()


if __name__ == "__main__":
    main()
