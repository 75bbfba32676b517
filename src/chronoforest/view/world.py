"""The world as the page shows it: where the recordings went, and, where it is known, what is built there."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.frames import Frame
from chronoforest.envs.mazes import CELL_SIZE
from chronoforest.envs.tasks import WORLDS
from chronoforest.errors import InvalidParameter
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import VARIANTS
from chronoforest.types import FloatArray, PlanningModels
from chronoforest.view.requests import MAX_AGENTS, MAX_ANCHORS, MAX_SEED

LONGEST_SIDE = 640
"""Cells of the picture, at most."""

NUM_CANDIDATES = 240
FARTHEST_SHARE = 0.85

SUMMARIES = {
    "verified": "proposed at once by the roadmap, then verified by the denoiser",
    "online": "the paper's method: trees grow, and the order is corrected while they do",
    "paper": "the paper's settings to the letter, slow",
    "roadmap-only": "ways over the roadmap, not verified",
    "roadmap-fixed": "verified, with the order solved once on the roadmap",
    "single": "one guided lookahead per leaf",
    "start-tree-only": "only the tree of a leg's source grows",
    "l2-root": "leaves are ranked by the straight line",
    "no-uncertainty": "leaves are ranked by cost alone",
    "temporal-fixed": "the order is solved once, on the raw distance",
    "exhaustive": "every pair is searched until it is met",
    "direct-matrix": "a leg is always its own bridge",
    "learned-distance": "the distance as learned, at any range",
    "no-guidance": "segments are not steered",
    "no-shortening": "ways are kept as they were found",
    "no-student": "all steps of the full network",
    "no-challenges": "the first complete order stands",
    "noisy-injection": "guidance goes through the network",
    "sparse-guidance": "guidance moves the last frame only",
}
"""One line for each variant; one that is missing here is shown by its name alone."""


@dataclass(frozen=True)
class ServedPreset:
    """A planner for each mode, all of one preset, and what is known of its world beyond the recordings: the
    walls and the environment, for the overlay and the real walk only."""

    planners: Mapping[str, Planner]

    @property
    def name(self) -> str:
        """The preset's."""
        return next(iter(self.planners.values())).name

    @property
    def models(self) -> PlanningModels:
        """Those of the first mode; the others have learned from the same recordings."""
        return next(iter(self.planners.values())).models

    @property
    def frame(self) -> Frame:
        """The coordinates of who recorded, the same for all modes."""
        return next(iter(self.planners.values())).frame

    def planner(self, mode: str) -> Planner:
        """The planner of a mode."""
        if mode not in self.planners:
            raise InvalidParameter(f"mode must be one of {', '.join(self.planners)}, got {mode!r}")
        return self.planners[mode]

    @property
    def why_no_walk(self) -> str | None:
        """None where the environment is there and can be walked."""
        if self.name not in WORLDS:
            return "no environment is known for these recordings"
        if find_spec("ogbench") is None:
            return "OGBench is not installed, so there is no environment to walk in"
        if getattr(self.models, "tracker", None) is None:
            return "these weights have no tracker, so nobody can walk"
        return None

    def describe(self) -> dict[str, Any]:
        """Everything the page has to know before it can ask for a plan."""
        walls = WORLDS[self.name].maze.wall_centres.tolist() if self.name in WORLDS else []
        return {
            "preset": self.name,
            "frame": self.frame.to_dict(),
            "extent": self.models.support.extent,
            "grid": density_grid(self.models),
            "walls": {"size": CELL_SIZE, "centres": walls},
            "why_no_walk": self.why_no_walk,
            "modes": list(self.planners),
            "variants": [
                {"name": name, "summary": SUMMARIES.get(name, "")}
                for name, variant in VARIANTS.items()
                if not variant.needs_order
            ],
            "default_variant": DEFAULT_VARIANT,
            "limits": {"agents": MAX_AGENTS, "anchors": MAX_ANCHORS, "seed": MAX_SEED},
            "example": example(self.models, self.frame),
        }


def density_grid(models: PlanningModels) -> dict[str, Any]:
    """Log-density as bytes: 0 where there is no support, 1…255 from the thinnest to the densest place.

    `values` is base64 of ny rows of nx bytes, from the top of the picture to its bottom; `extent` is the
    picture's, which may end beyond the support's by a part of a cell of the picture.
    """
    support = models.support
    places = support.origin + support.cell * np.indices(support.mask.shape).transpose(1, 2, 0)
    heights = models.density.log_density(places)
    block = -(-max(support.mask.shape) // LONGEST_SIDE)
    mask, heights = _blocks(support.mask, block), _blocks(np.where(support.mask, heights, -np.inf), block)
    low, high = np.quantile(heights[mask], [0.02, 0.995]) if mask.any() else (0.0, 1.0)
    shade = 1 + 254 * np.clip((np.maximum(heights, low) - low) / max(high - low, 1e-9), 0.0, 1.0)
    picture = np.where(mask, shade, 0).astype(np.uint8).T[::-1]
    values = base64.b64encode(np.ascontiguousarray(picture).tobytes()).decode()
    ny, nx = picture.shape
    left, _, bottom, _ = support.extent
    side = block * support.cell
    extent = [left, left + nx * side, bottom, bottom + ny * side]
    return {"nx": nx, "ny": ny, "extent": extent, "values": values}


def _blocks(table: NDArray[Any], block: int) -> NDArray[Any]:
    """[nx, ny] → the largest value of every block × block cells: a lane of one cell must not vanish."""
    if block == 1:
        return table
    least = False if table.dtype == np.bool_ else -np.inf
    padded = np.pad(table, [(0, -side % block) for side in table.shape], constant_values=least)
    rows, columns = (side // block for side in padded.shape)
    blocks: NDArray[Any] = padded.reshape(rows, block, columns, block).max(axis=(1, 3))
    return blocks


def example(
    models: PlanningModels, frame: Frame, num_agents: int = 2, num_waypoints: int = 4
) -> dict[str, Any]:
    """A first problem in the user's coordinates: places with room around them, far apart by the learned
    distance."""
    digits = max(1, int(np.ceil(-np.log10(models.support.cell))))
    chosen = _far_apart(models, 2 * num_agents + num_waypoints).round(digits)
    places = frame.to_user(chosen).round(frame.decimals).tolist()
    return {
        "starts": places[:num_agents],
        "goals": places[num_agents : 2 * num_agents],
        "waypoints": places[2 * num_agents :],
    }


def _far_apart(models: PlanningModels, count: int) -> FloatArray:
    """[count, 2] by farthest-first choice; places that are hard to reach or to leave are left out."""
    places = _roomy(models)
    codes = models.distance.encode(places)
    steps = models.distance.pairwise(codes, codes)
    effort = np.maximum(np.median(steps, axis=0), np.median(steps, axis=1))
    kept = np.argsort(effort)[: max(count, int(FARTHEST_SHARE * len(places)))]
    places, apart = places[kept], np.minimum(steps, steps.T)[np.ix_(kept, kept)]
    chosen = [int(apart.mean(axis=1).argmax())]
    while len(chosen) < count:
        chosen.append(int(apart[chosen].min(axis=0).argmax()))
    return places[chosen]


def _roomy(models: PlanningModels) -> FloatArray:
    """[n, 2] supported places spread at random, of those with the most room around them."""
    support = models.support
    places = support.origin + support.cell * np.argwhere(support.mask)
    room = models.density.margin(places)
    places = places[room >= np.median(room)]
    rng = np.random.default_rng(0)
    chosen: FloatArray = places[rng.permutation(len(places))[:NUM_CANDIDATES]]
    return chosen
