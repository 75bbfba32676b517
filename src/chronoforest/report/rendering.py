"""Renders ants off-screen with MuJoCo; run as a process of its own, because OpenGL can end a process.

Reads a pickled `CloseupRequest` from standard input and writes the raw pictures to standard output, step by
step and agent by agent.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from chronoforest.envs.tasks import make_env
from chronoforest.execution.rollout import Rollout
from chronoforest.planning.result import PlanResult
from chronoforest.planning.shortening import resample
from chronoforest.report.drawing import agent_colour
from chronoforest.report.maps import Picture, rgb
from chronoforest.types import FloatArray

ELEVATION, DISTANCE = -44.0, 5.6
"""The camera's angle in degrees and its distance from the ant in units."""

TURNING, FOLLOWING = 10.0, 2.0
"""How smoothly, in pictures, the camera turns with an ant and keeps up with it."""

LEAP = 6.0
"""An ant that is this many units away in the next picture went through a portal."""

SIGHT = 12.0
"""What is farther than this from the camera's centre, in units, is left out."""

SPACING = 0.6
"""Units between the points of a path."""

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


def render(request: CloseupRequest) -> Iterator[Picture]:
    """Pictures [height, width, 3]: at every step one of each shown agent, from behind and above."""
    renderer = _Renderer(request)
    tracks = [
        np.array([request.pose(agent, step)[:2] for step in request.steps])
        for agent in range(request.num_shown)
    ]
    cameras = [camera_path(track) for track in tracks]
    for k, step in enumerate(request.steps):
        renderer.move_to(step)
        for agent, (centres, headings) in enumerate(cameras):
            yield renderer.picture(agent, step, centres[k], headings[k])


def camera_path(track: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centres [T, 2] and headings [T] in degrees of a camera that follows a track [T, 2] without haste.

    It goes through portals with the ant instead of flying across the maze.
    """
    leaps = 1 + np.flatnonzero(np.linalg.norm(np.diff(track, axis=0), axis=1) > LEAP)
    pieces = [_follow(piece) for piece in np.split(track, leaps)]
    return np.concatenate([centres for centres, _ in pieces]), np.concatenate([turn for _, turn in pieces])


def _follow(track: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`camera_path` of a track without leaps."""
    centres = gaussian_filter1d(track, FOLLOWING, axis=0, mode="nearest")
    moves = np.diff(track, axis=0, prepend=track[:1])
    moves = gaussian_filter1d(moves, TURNING, axis=0, mode="nearest")
    is_moving = np.linalg.norm(moves, axis=1) > 1e-3
    latest = np.maximum.accumulate(np.where(is_moving, np.arange(len(track)), 0))
    return centres, np.degrees(np.arctan2(moves[latest, 1], moves[latest, 0]))


class _Renderer:
    """The maze, one simulator state per ant, and the camera."""

    def __init__(self, request: CloseupRequest) -> None:
        import mujoco

        self._mujoco = mujoco
        self._request = request
        self._model = make_env(request.result.preset).unwrapped.model
        self._paint_maze()
        self._data = [mujoco.MjData(self._model) for _ in request.rollouts]
        self._colours = [rgb(agent_colour(agent)) / 255 for agent in range(len(request.rollouts))]
        self._paths = [[resample(path, SPACING) for path in rollout.paths] for rollout in request.rollouts]
        self._renderer = mujoco.Renderer(self._model, *request.shape)
        self._camera = mujoco.MjvCamera()
        self._camera.elevation = ELEVATION
        height, width = request.shape
        # A tall picture shows little to the sides.
        self._camera.distance = DISTANCE * max(1.0, height / width)
        self._ant = np.flatnonzero(self._model.geom_bodyid > 0)

    def move_to(self, step: int) -> None:
        """Put every ant where it is."""
        for agent, data in enumerate(self._data):
            data.qpos[:] = self._request.pose(agent, step)
            self._mujoco.mj_kinematics(self._model, data)
            self._mujoco.mj_camlight(self._model, data)

    def picture(self, agent: int, step: int, centre: FloatArray, heading: float) -> Picture:
        """One ant's surroundings, with the other ants where they are near."""
        self._camera.lookat[:] = [*centre, 0.5]
        self._camera.azimuth = heading
        self._add_ants(agent, centre)
        self._add_paths(step, centre)
        self._add_waypoints(step)
        for goal, colour in zip(self._request.result.problem.goals, self._colours, strict=True):
            self._add("CYLINDER", (0.5, 0.03, 0), (*goal, 0.03), colour)
            self._add("CYLINDER", (0.06, 0.9, 0), (*goal, 0.9), colour)
            self._add("SPHERE", (0.22, 0, 0), (*goal, 1.9), colour)
        return self._renderer.render()

    def _add_ants(self, first: int, centre: FloatArray) -> None:
        """Start with one ant and the maze, then add the other ants, and a dark disc on the floor under each:
        true shadows would take most of the time."""
        mujoco, model, scene = self._mujoco, self._model, self._renderer.scene
        model.geom_rgba[self._ant, :3] = self._colours[first]
        self._renderer.update_scene(self._data[first], camera=self._camera)
        for other, data in enumerate(self._data):
            if other != first and np.linalg.norm(data.qpos[:2] - centre) < SIGHT:
                model.geom_rgba[self._ant, :3] = self._colours[other]
                option, hand = mujoco.MjvOption(), mujoco.MjvPerturb()
                mujoco.mjv_addGeoms(model, data, option, hand, mujoco.mjtCatBit.mjCAT_DYNAMIC, scene)
        for data in self._data:
            self._add("CYLINDER", (0.4, 0.005, 0), (*data.qpos[:2], 0.005), np.zeros(3), opacity=0.25)

    def _add_paths(self, step: int, centre: FloatArray) -> None:
        """The paths to follow, as cords on the floor."""
        capsule = self._mujoco.mjtGeom.mjGEOM_CAPSULE
        for rollout, paths, colour in zip(self._request.rollouts, self._paths, self._colours, strict=True):
            current = sum(replanned <= step for replanned in rollout.replan_steps)
            for path in (np.pad(path, ((0, 0), (0, 1))) for path in paths[current : current + 1]):
                is_near = np.linalg.norm(path[:, :2] - centre, axis=1) < SIGHT
                for k in np.flatnonzero(is_near[1:] & is_near[:-1]):
                    geom = self._add("CAPSULE", (0, 0, 0), (0, 0, 0), 0.8 * colour)
                    self._mujoco.mjv_connector(geom, capsule, 0.045, path[k], path[k + 1])

    def _add_waypoints(self, step: int) -> None:
        """A cube over every waypoint still to visit; the disc under it takes its visitor's colour."""
        waypoints, visitors = self._request.result.problem.waypoints, {}
        for rollout, colour in zip(self._request.rollouts, self._colours, strict=True):
            for when, place in zip(rollout.visit_steps, rollout.visited, strict=True):
                if when <= step:
                    visitors[int(np.linalg.norm(waypoints - place, axis=1).argmin())] = colour
        for k, place in enumerate(waypoints):
            self._add("CYLINDER", (0.6, 0.03, 0), (*place, 0.03), visitors.get(k, WAYPOINT))
            if k not in visitors:
                self._add("BOX", (0.28, 0.28, 0.28), (*place, 1.4), WAYPOINT, _ON_A_CORNER)

    def _add(
        self,
        shape: str,
        size: tuple[float, float, float],
        place: tuple[float, float, float],
        colour: FloatArray,
        turn: FloatArray | None = None,
        opacity: float = 1.0,
    ) -> Any:
        """Put a plain body into the scene."""
        scene, mujoco = self._renderer.scene, self._mujoco
        geom = scene.geoms[scene.ngeom]
        kind = getattr(mujoco.mjtGeom, f"mjGEOM_{shape}")
        turn = np.eye(3) if turn is None else turn
        rgba = np.array([*colour, opacity], dtype=np.float32)
        mujoco.mjv_initGeom(geom, kind, np.array(size), np.array(place), turn.ravel(), rgba)
        scene.ngeom += 1
        return geom

    def _paint_maze(self) -> None:
        """The colours of the map; no shadows (most of the time) nor smooth edges (half of the rest)."""
        model = self._model
        model.vis.quality.numslices, model.vis.quality.numstacks = 20, 8
        model.vis.quality.shadowsize, model.vis.quality.offsamples = 0, 0
        model.vis.global_.offheight, model.vis.global_.offwidth = self._request.shape
        model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 0.3, 0.25
        grid = model.tex("grid")
        texels = model.tex_data[grid.adr[0] :][: grid.height[0] * grid.width[0] * 3].reshape(-1, 3)
        is_dark = texels[:, :1] < texels[:, :1].mean()
        texels[:] = 255 * np.where(is_dark, 0.9 * FLOOR, FLOOR)
        model.mat_rgba[model.material("wall").id, :3] = WALL
        model.geom_rgba[model.geom("target").id, 3] = 0.0  # goals are marked in their ants' colours
        model.geom_matid[model.geom_bodyid > 0] = -1  # an ant's colour is its geoms', not its material's


def _corner_up() -> FloatArray:
    """[3, 3] rotation that stands a cube on one corner."""
    up = np.ones(3) / np.sqrt(3.0)
    side = np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)
    return np.stack([side, np.cross(up, side), up])


_ON_A_CORNER = _corner_up()


def main() -> None:
    """Render the job on standard input to standard output; what libraries print goes to standard error."""
    sys.excepthook = _complain
    request: CloseupRequest = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        for picture in render(request):
            out.write(picture.tobytes())
            out.flush()


def _complain(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """The reader quotes the last line, so nothing may be printed after it, not even on the way out."""
    print(f"{kind.__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(1)


if __name__ == "__main__":
    main()
