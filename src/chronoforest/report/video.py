"""An MP4 of agents moving in the maze, drawn from their records.

On the left is the map: the ground plan, the plans and the anchors are drawn once, and every frame only paints
the new bits of the tracks and the agents. On the right, where the agents are ants, is a close-up of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chronoforest.envs.bodies import AntKinematics
from chronoforest.errors import InvalidParameter
from chronoforest.execution.rollout import Rollout
from chronoforest.files import drafted
from chronoforest.planning.result import PlanResult
from chronoforest.report import drawing as pictures
from chronoforest.report.canvas import Picture, banner, rgb
from chronoforest.report.closeups import Closeups, Storyboard
from chronoforest.report.scene import Scene, draw_scene, paint_limbs, paint_point, paint_trail
from chronoforest.types import Problem

FRAME = 3
"""Pixels of the frame around a close-up."""

ENLARGE = 1.8
"""How many times their size ants are drawn on the map, so that their legs can be seen."""

BANNER = 26
"""Pixels of the strip above it."""


@dataclass(frozen=True)
class VideoParams:
    """width: pixels of the map; closeup: pixels across a close-up; max_closeups: ants that get one;
    fps: frames a second; max_frames: walks are sped up to fit; hold: frames at the end."""

    width: int = 960
    closeup: int = 400
    max_closeups: int = 4
    fps: int = 30
    max_frames: int = 360
    hold: int = 30

    def __post_init__(self) -> None:
        if self.width < 64 or self.max_frames < 1 or self.fps < 1:
            raise InvalidParameter(
                "a video needs at least 64 pixels, 1 frame and 1 frame a second, "
                f"got {self.width}, {self.max_frames} and {self.fps}"
            )
        if self.closeup < 64 or self.closeup % 2 or self.max_closeups < 1:
            raise InvalidParameter(
                "close-ups need an even width of at least 64 pixels, and there must be one, "
                f"got {self.closeup} and {self.max_closeups}"
            )


ANT_VIDEO = VideoParams(fps=20, max_frames=300)
"""Slower, because legs move faster than bodies, and shorter, because rendering takes time."""


def draw_video(
    path: str | Path,
    result: PlanResult,
    rollouts: Sequence[Rollout],
    title: str = "",
    params: VideoParams | None = None,
    on_frame: Callable[[int, int], None] | None = None,
) -> str:
    """Write an H.264 MP4 of all agents walking at the same time; returns how they are shown.

    on_frame: told the finished frames and their number.
    """
    are_ants = all(rollout.has_poses for rollout in rollouts)
    params = params or (ANT_VIDEO if are_ants else VideoParams())
    steps = moments(rollouts, params)
    scene = draw_scene(result, rollouts, title, params.width)
    maps = map_frames(scene, rollouts, steps)
    if not are_ants:
        _encode(Path(path), _reported(maps, len(steps), on_frame), params)
        return "agents drawn as points"
    num_filmed = min(len(rollouts), params.max_closeups)
    shape = (_row_height(scene, num_filmed) - BANNER - 2 * FRAME, params.closeup - 2 * FRAME)
    with Closeups(Storyboard(result, rollouts, steps, num_filmed, shape)) as closeups:
        framed = (_frame_all(closeups.take(step), rollouts, result.problem, step) for step in steps)
        shown = (_beside(*parts) for parts in zip(maps, framed, strict=True))
        _encode(Path(path), _reported(shown, len(steps), on_frame), params)
        return closeups.note


def moments(rollouts: Sequence[Rollout], params: VideoParams) -> list[int]:
    """The steps to show, evenly spaced, the first and the last included."""
    num_steps = max(rollout.steps for rollout in rollouts)
    stride = max(1, -(-num_steps // params.max_frames))
    return [*range(0, num_steps, stride), num_steps]


def map_frames(scene: Scene, rollouts: Sequence[Rollout], steps: Sequence[int]) -> Iterator[Picture]:
    """The map at each of the steps; agents that have finished stay where they are. Paints into the scene."""
    limbs = AntKinematics() if any(rollout.has_poses for rollout in rollouts) else None
    for before, now in zip([0, *steps], steps, strict=False):
        for agent, rollout in enumerate(rollouts):
            paint_trail(scene, rollout, agent, before, now)
        shown = scene.copy()
        for agent, rollout in enumerate(rollouts):
            step = min(now, rollout.steps)
            if limbs is not None and rollout.has_poses:
                paint_limbs(shown, limbs(rollout.pose(step)), agent, ENLARGE)
            else:
                paint_point(shown, rollout.xy[step], agent)
        yield shown.canvas


def caption(rollout: Rollout, agent: int, problem: Problem, step: int) -> str:
    """Where an agent is going at a step, or how it ended."""
    if step >= rollout.steps:
        return f"agent {agent + 1}: {'arrived' if rollout.success else rollout.cause}"
    num_visited = sum(visited <= step for visited in rollout.visit_steps)
    ahead = np.concatenate([rollout.visited, rollout.missed, problem.goals[agent : agent + 1]])[num_visited]
    nearest = int(np.linalg.norm(problem.anchors - ahead, axis=1).argmin())
    return f"agent {agent + 1} → {problem.names[nearest]}"


def _frame_all(
    closeups: Sequence[Picture], rollouts: Sequence[Rollout], problem: Problem, step: int
) -> list[Picture]:
    """Every close-up in a frame of its agent's colour, under its caption."""
    framed = []
    for agent, picture in enumerate(closeups):
        colour = pictures.agent_colour(agent)
        words = banner(caption(rollouts[agent], agent, problem, step), colour, picture.shape[1], BANNER)
        content = np.concatenate([words, picture])
        size = (content.shape[0] + 2 * FRAME, content.shape[1] + 2 * FRAME, 3)
        frame = np.full(size, rgb(colour), dtype=np.uint8)
        frame[FRAME:-FRAME, FRAME:-FRAME] = content
        framed.append(frame)
    return framed


def _beside(left: Picture, tiles: Sequence[Picture]) -> Picture:
    """The map and, right of it, the tiles in columns of two; what is left over stays white."""
    height, width = tiles[0].shape[:2]
    num_columns = -(-len(tiles) // 2)
    whole = np.full((left.shape[0], left.shape[1] + num_columns * width, 3), 255, dtype=np.uint8)
    whole[:, : left.shape[1]] = left
    for k, tile in enumerate(tiles):
        top, start = k % 2 * height, left.shape[1] + k // 2 * width
        whole[top : top + height, start : start + width] = tile
    return whole


def _row_height(scene: Scene, num_filmed: int) -> int:
    return scene.canvas.shape[0] // min(num_filmed, 2)


def _reported(
    shown: Iterable[Picture], total: int, on_frame: Callable[[int, int], None] | None
) -> Iterator[Picture]:
    for done, picture in enumerate(shown, start=1):
        yield picture
        if on_frame is not None:
            on_frame(done, total)


def _encode(path: Path, shown: Iterator[Picture], params: VideoParams) -> None:
    """Write the pictures as a video, complete or not at all."""
    import imageio_ffmpeg

    picture = next(shown)
    height, width = picture.shape[:2]
    with drafted(path) as draft:
        writer = imageio_ffmpeg.write_frames(
            str(draft),
            (width, height),
            fps=params.fps,
            codec="libx264",
            macro_block_size=2,
            quality=7,
            output_params=["-preset", "veryfast"],
        )
        writer.send(None)
        writer.send(picture.tobytes())
        for picture in shown:
            writer.send(picture.tobytes())
        for _ in range(params.hold):
            writer.send(picture.tobytes())
        writer.close()
