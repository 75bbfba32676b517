"""Renders ants off-screen with MuJoCo; run as a process of its own, because OpenGL can end a process.

Reads a pickled `Shooting` from standard input and writes the raw pictures to standard output, moment by
moment and agent by agent.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from chronoforest.envs.tasks import make_env
from chronoforest.report.canvas import Picture
from chronoforest.types import FloatArray

ELEVATION, DISTANCE = -44.0, 5.6
"""The camera's angle in degrees and its distance from the ant in units."""

TURNING, FOLLOWING = 10.0, 2.0
"""How smoothly, in pictures, the camera turns with an ant and keeps up with it."""

LEAP = 6.0
"""An ant that is this many units away in the next picture went through a portal."""

SIGHT = 12.0
"""What is farther than this from the camera's centre, in units, is left out."""

FLOOR, WALL, WAYPOINT = (
    np.array([0.77, 0.75, 0.70]),
    np.array([0.17, 0.25, 0.33]),
    np.array([1.0, 0.72, 0.15]),
)


@dataclass(frozen=True, eq=False)
class Actor:
    """One ant.

    colour: [3] in 0…1; poses: [moments, 15]; paths: [T, 2] each, the first to follow from the beginning and
    one more from each of `replan_moments` on; goal: [2].
    """

    colour: FloatArray
    poses: FloatArray
    paths: tuple[FloatArray, ...]
    replan_moments: tuple[int, ...]
    goal: FloatArray

    def path(self, moment: int) -> FloatArray:
        """[T, 2] the path it follows at a moment."""
        num_replans = sum(replanned <= moment for replanned in self.replan_moments)
        return self.paths[num_replans] if self.paths else np.zeros((0, 2))


@dataclass(frozen=True, eq=False)
class Shooting:
    """What to render.

    world: dataset name; shape: height and width; num_filmed: pictures are taken of the first so many actors;
    waypoints: [K, 2], with the actor that visits each, −1 for nobody, and the moment.
    """

    world: str
    shape: tuple[int, int]
    actors: tuple[Actor, ...]
    num_filmed: int
    waypoints: FloatArray
    visitors: tuple[int, ...]
    visit_moments: tuple[int, ...]

    @property
    def num_moments(self) -> int:
        """Pictures of each actor."""
        return len(self.actors[0].poses)


def shoot(shooting: Shooting) -> Iterator[Picture]:
    """Pictures [height, width, 3]: at every moment one of each filmed actor, from behind and above."""
    studio = _Studio(shooting)
    cameras = [camera_path(actor.poses[:, :2]) for actor in shooting.actors[: shooting.num_filmed]]
    for moment in range(shooting.num_moments):
        studio.pose(moment)
        for actor, (centres, headings) in enumerate(cameras):
            yield studio.picture(actor, moment, centres[moment], headings[moment])


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


class _Studio:
    """The maze, one simulator state per ant, and the camera."""

    def __init__(self, shooting: Shooting) -> None:
        import mujoco

        self._mujoco = mujoco
        self._shooting = shooting
        self._model = make_env(shooting.world).unwrapped.model
        self._paint_maze()
        self._data = [mujoco.MjData(self._model) for _ in shooting.actors]
        self._renderer = mujoco.Renderer(self._model, *shooting.shape)
        self._camera = mujoco.MjvCamera()
        height, width = shooting.shape
        self._camera.elevation = ELEVATION
        self._camera.distance = DISTANCE * max(
            1.0, height / width
        )  # a tall picture shows little to the sides
        self._ant = np.flatnonzero(self._model.geom_bodyid > 0)

    def pose(self, moment: int) -> None:
        """Put every ant where it is."""
        for actor, data in zip(self._shooting.actors, self._data, strict=True):
            data.qpos[:] = actor.poses[moment]
            self._mujoco.mj_kinematics(self._model, data)
            self._mujoco.mj_camlight(self._model, data)

    def picture(self, actor: int, moment: int, centre: FloatArray, heading: float) -> Picture:
        """One ant's surroundings, with the other ants where they are near."""
        self._camera.lookat[:] = [*centre, 0.5]
        self._camera.azimuth = heading
        self._add_ants(actor, centre)
        self._add_shadows()
        self._add_paths(moment, centre)
        self._add_waypoints(moment)
        for each in self._shooting.actors:
            self._add("CYLINDER", (0.5, 0.03, 0), (*each.goal, 0.03), each.colour)
            self._add("CYLINDER", (0.06, 0.9, 0), (*each.goal, 0.9), each.colour)
            self._add("SPHERE", (0.22, 0, 0), (*each.goal, 1.9), each.colour)
        return self._renderer.render()

    def _add_ants(self, first: int, centre: FloatArray) -> None:
        """Start the scene with one ant and the maze, then add the other ants."""
        mujoco, model, scene = self._mujoco, self._model, self._renderer.scene
        model.geom_rgba[self._ant, :3] = self._shooting.actors[first].colour
        self._renderer.update_scene(self._data[first], camera=self._camera)
        for other, data in enumerate(self._data):
            if other != first and np.linalg.norm(data.qpos[:2] - centre) < SIGHT:
                model.geom_rgba[self._ant, :3] = self._shooting.actors[other].colour
                option, hand = mujoco.MjvOption(), mujoco.MjvPerturb()
                moving = mujoco.mjtCatBit.mjCAT_DYNAMIC
                mujoco.mjv_addGeoms(model, data, option, hand, moving, scene)

    def _add_shadows(self) -> None:
        """A dark disc on the floor under every ant; true shadows would take most of the time."""
        for data in self._data:
            self._add("CYLINDER", (0.4, 0.005, 0), (*data.qpos[:2], 0.005), np.zeros(3), opacity=0.25)

    def _add_paths(self, moment: int, centre: FloatArray) -> None:
        """The paths to follow, as cords on the floor."""
        capsule = self._mujoco.mjtGeom.mjGEOM_CAPSULE
        for actor in self._shooting.actors:
            path = np.pad(actor.path(moment), ((0, 0), (0, 1)))
            is_near = np.linalg.norm(path[:, :2] - centre, axis=1) < SIGHT
            for k in np.flatnonzero(is_near[1:] & is_near[:-1]):
                geom = self._add("CAPSULE", (0, 0, 0), (0, 0, 0), 0.8 * actor.colour)
                self._mujoco.mjv_connector(geom, capsule, 0.045, path[k], path[k + 1])

    def _add_waypoints(self, moment: int) -> None:
        """A diamond over every waypoint still to visit; the disc under it takes its visitor's colour."""
        shooting = self._shooting
        for place, visitor, when in zip(
            shooting.waypoints, shooting.visitors, shooting.visit_moments, strict=True
        ):
            is_visited = visitor >= 0 and when <= moment
            colour = shooting.actors[visitor].colour if is_visited else WAYPOINT
            self._add("CYLINDER", (0.6, 0.03, 0), (*place, 0.03), colour)
            if not is_visited:
                self._add("BOX", (0.28, 0.28, 0.28), (*place, 1.4), colour, _ON_A_CORNER)

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
        model.vis.global_.offheight, model.vis.global_.offwidth = self._shooting.shape
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
    shooting: Shooting = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        try:
            for picture in shoot(shooting):
                out.write(picture.tobytes())
                out.flush()
        except Exception as error:
            # The reader quotes the last line, so nothing may be printed after it, not even on the way out.
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)


if __name__ == "__main__":
    main()
