"""The world as the page shows it: where the recordings went, and, where it is known, what is built there."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from chronoforest.envs.mazes import CELL_SIZE
from chronoforest.envs.tasks import WORLDS
from chronoforest.planning.variants import VARIANTS
from chronoforest.types import FloatArray, PlanningModels
from chronoforest.view.requests import MAX_AGENTS, MAX_ANCHORS, MAX_SEED

LONGEST_SIDE = 640
"""Cells of the picture, at most."""

NUM_CANDIDATES = 240
FARTHEST_SHARE = 0.85

SUMMARIES = {
    "online": "the method: the order is corrected while the search goes on",
    "single": "one guided lookahead per leaf",
    "start-tree-only": "only the tree of a leg's source grows",
    "l2-root": "leaves are ranked by the straight line",
    "no-uncertainty": "leaves are ranked by cost alone",
    "temporal-fixed": "the order is solved once, on the raw distance",
    "exhaustive": "every pair is searched until it is met",
    "direct-matrix": "a leg is always its own bridge",
    "no-landmarks": "the distance as learned, at any range",
    "noisy-injection": "guidance goes through the network",
    "sparse-guidance": "guidance moves the last frame only",
}
"""One line for each variant; one that is missing here is shown by its name alone."""


@dataclass(frozen=True)
class Site:
    """What is known of a world beyond its recordings, for the overlay and the real walk only.

    walls: [W, 2] centres of boxes `wall_size` wide, empty where no map is known; why_no_walk: None where the
    environment is there and can be walked.
    """

    walls: FloatArray
    wall_size: float
    why_no_walk: str | None


def site_of(preset: str, has_tracker: bool) -> Site:
    """Look a preset up among the known environments; most worlds have none."""
    known = WORLDS.get(preset)
    if known is None:
        return Site(np.zeros((0, 2)), 0.0, "no environment is known for these recordings")
    reason = None
    if find_spec("ogbench") is None:
        reason = "OGBench is not installed, so there is no environment to walk in"
    elif not has_tracker:
        reason = "these weights have no tracker, so nobody can walk"
    return Site(known.maze.wall_centres, CELL_SIZE, reason)


def describe(preset: str, models: PlanningModels, site: Site, modes: tuple[str, ...]) -> dict[str, Any]:
    """Everything the page has to know before it can ask for a plan."""
    support = models.support
    return {
        "preset": preset,
        "extent": support.extent,
        "grid": density_grid(models),
        "walls": {"size": site.wall_size, "centres": site.walls.tolist()},
        "why_no_walk": site.why_no_walk,
        "modes": list(modes),
        "variants": [
            {"name": name, "summary": SUMMARIES.get(name, "")}
            for name, variant in VARIANTS.items()
            if not variant.needs_order
        ],
        "limits": {"agents": MAX_AGENTS, "anchors": MAX_ANCHORS, "seed": MAX_SEED},
        "example": example(models),
    }


def density_grid(models: PlanningModels) -> dict[str, Any]:
    """Log-density as bytes: 0 where there is no support, 1…255 from the thinnest to the densest place.

    `values` is base64 of ny rows of nx bytes, from the top of the picture to its bottom.
    """
    support = models.support
    places = support.origin + support.cell * np.indices(support.mask.shape).transpose(1, 2, 0)
    heights = models.density.log_density(places)
    block = -(-max(support.mask.shape) // LONGEST_SIDE)
    mask, heights = support.mask[::block, ::block], heights[::block, ::block]
    low, high = np.quantile(heights[mask], [0.02, 0.995]) if mask.any() else (0.0, 1.0)
    shade = 1 + 254 * np.clip((heights - low) / max(high - low, 1e-9), 0.0, 1.0)
    picture = np.where(mask, shade, 0).astype(np.uint8).T[::-1]
    values = base64.b64encode(np.ascontiguousarray(picture).tobytes()).decode()
    return {"nx": picture.shape[1], "ny": picture.shape[0], "values": values}


def example(models: PlanningModels, num_agents: int = 2, num_waypoints: int = 4) -> dict[str, Any]:
    """A first problem: places with room around them, far apart by the learned distance."""
    places = _far_apart(models, 2 * num_agents + num_waypoints).round(1).tolist()
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
