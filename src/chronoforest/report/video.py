"""An MP4 of agents moving in the maze, drawn from their records.

On the left is the map: the ground plan, the plans and the anchors are drawn once, and every frame only paints
the new bits of the tracks and the agents. On the right, where the agents are ants, is a close-up of each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.envs.bodies import AntKinematics
from chronoforest.errors import InvalidParameter, WorkerDied, require_at_least
from chronoforest.execution.rollout import Rollout
from chronoforest.files import drafted
from chronoforest.names import optional
from chronoforest.planning.result import PlanResult
from chronoforest.report import drawing
from chronoforest.report.closeups import CloseupRequest, closeups, gl_libraries
from chronoforest.report.maps import (
    MapPicture,
    Picture,
    draw_map,
    paint_limbs,
    paint_point,
    paint_trail,
)
from chronoforest.types import Problem

FRAME = 3
"""Pixels of the frame around a close-up."""

ENLARGE = 1.8
"""How many times their size ants are drawn on the map, so that their legs can be seen."""

CAPTION_HEIGHT = 26
"""Pixels of the strip above it."""


@dataclass(frozen=True)
class VideoParams:
    """What a video looks like.

    width: pixels of the map; closeup: pixels across a close-up, frame included; max_closeups: ants that get
    one; fps: frames a second; max_frames: longer walks are sped up to fit; hold: frames at the end.
    """

    width: int = 960
    closeup: int = 400
    max_closeups: int = 4
    fps: int = 30
    max_frames: int = 360
    hold: int = 30

    def __post_init__(self) -> None:
        require_at_least(self, 64, "width", "closeup")
        require_at_least(self, 1, "max_closeups", "fps", "max_frames")
        require_at_least(self, 0, "hold")
        if self.closeup % 2:
            raise InvalidParameter(f"closeup must be even, got {self.closeup}")


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

    on_frame: gets the number of finished frames and of all.
    """
    are_ants = all(rollout.has_poses for rollout in rollouts)
    params = params or (ANT_VIDEO if are_ants else VideoParams())
    steps = shown_steps(rollouts, params)
    ground = draw_map(result, rollouts, title, params.width)
    failures = []
    for library in gl_libraries() if are_ants else ():
        tiles = _closeups(result, rollouts, steps, ground, params, library)
        shown = (
            _beside(*parts) for parts in zip(map_frames(ground.copy(), rollouts, steps), tiles, strict=True)
        )
        try:
            with closing(tiles):
                _write_video(Path(path), shown, len(steps), params, on_frame)
        except WorkerDied as error:
            failures.append(f"{library or 'its default OpenGL'}: {error}")
        else:
            return f"ants rendered by MuJoCo with {library or 'its default OpenGL'}"
    _write_video(Path(path), map_frames(ground, rollouts, steps), len(steps), params, on_frame)
    reason = f", because MuJoCo cannot render here ({'; '.join(failures)})" if failures else ""
    return f"agents drawn from above{reason}"


def _closeups(
    result: PlanResult,
    rollouts: Sequence[Rollout],
    steps: Sequence[int],
    ground: MapPicture,
    params: VideoParams,
    library: str,
) -> Generator[list[Picture], None, None]:
    """At every step a close-up of each shown ant, as high as two of them beside the map, in its frame."""
    num_shown = min(len(rollouts), params.max_closeups)
    tile_height = ground.canvas.shape[0] // min(num_shown, 2)
    shape = (tile_height - CAPTION_HEIGHT - 2 * FRAME, params.closeup - 2 * FRAME)
    with closing(closeups(CloseupRequest(result, rollouts, steps, num_shown, shape), library)) as pictures:
        for step, taken in zip(steps, pictures, strict=True):
            framed = []
            for agent, picture in enumerate(taken):
                colour = drawing.agent_colour(agent)
                strip = _caption_strip(
                    caption(rollouts[agent], agent, result.problem, step), colour, picture.shape[1]
                )
                content = np.concatenate([strip, picture])
                frame = np.full(
                    (content.shape[0] + 2 * FRAME, params.closeup, 3), drawing.rgb(colour), np.uint8
                )
                frame[FRAME:-FRAME, FRAME:-FRAME] = content
                framed.append(frame)
            yield framed


def shown_steps(rollouts: Sequence[Rollout], params: VideoParams) -> list[int]:
    """The steps to show, evenly spaced, the first and the last included."""
    num_steps = max(rollout.steps for rollout in rollouts)
    stride = max(1, -(-num_steps // params.max_frames))
    return [*range(0, num_steps, stride), num_steps]


def map_frames(ground: MapPicture, rollouts: Sequence[Rollout], steps: Sequence[int]) -> Iterator[Picture]:
    """The map at each of the steps; agents that have finished stay where they are. Paints into the ground."""
    limbs = AntKinematics() if any(rollout.has_poses for rollout in rollouts) else None
    for before, now in zip([0, *steps], steps, strict=False):
        for agent, rollout in enumerate(rollouts):
            paint_trail(ground, rollout, agent, before, now)
        shown = ground.copy()
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


@lru_cache(maxsize=64)
def _caption_strip(text: str, colour: str, width: int) -> Picture:
    """White bold words on a coloured strip."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 100, CAPTION_HEIGHT / 100), dpi=100, facecolor=colour)
    canvas: Any = FigureCanvasAgg(figure)
    style: dict[str, Any] = {"color": "white", "weight": "bold", "size": 0.52 * CAPTION_HEIGHT * 72 / 100}
    figure.text(0.35 * CAPTION_HEIGHT / width, 0.46, text, va="center", **style)
    canvas.draw()
    picture: Picture = np.asarray(canvas.buffer_rgba())[:CAPTION_HEIGHT, :width, :3].copy()
    picture.setflags(write=False)  # it is shared by all who ask for the same words
    return picture


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


def _write_video(
    path: Path,
    shown: Iterator[Picture],
    num_frames: int,
    params: VideoParams,
    on_frame: Callable[[int, int], None] | None,
) -> None:
    """Write the pictures as a video, complete or not at all."""
    imageio_ffmpeg = optional("imageio_ffmpeg", "sim")
    first = next(shown)
    size = (first.shape[1], first.shape[0])
    options: dict[str, Any] = {"fps": params.fps, "codec": "libx264", "macro_block_size": 2, "quality": 7}
    with drafted(path) as draft:
        writer = imageio_ffmpeg.write_frames(
            str(draft), size, output_params=["-preset", "veryfast"], **options
        )
        writer.send(None)
        for done, picture in enumerate(chain([first], shown), start=1):
            writer.send(picture.tobytes())
            if on_frame is not None:
                on_frame(done, num_frames)
        for _ in range(params.hold):
            writer.send(picture.tobytes())
        writer.close()
