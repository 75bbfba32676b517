"""What a world looks like: where the recordings went, what is built there where that is known, and a first
problem. Needs neither torch nor a planner, so that the page is there before they are."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.frames import Frame
from chronoforest.envs.mazes import CELL_SIZE
from chronoforest.envs.tasks import WORLDS
from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading
from chronoforest.names import DEFAULT_VARIANT, VARIANTS
from chronoforest.types import Density, FloatArray, Support
from chronoforest.view.requests import MAX_AGENTS, MAX_ANCHORS, MAX_SEED

LONGEST_SIDE = 640
"""Cells of the picture, at most."""

EXAMPLES = Path(__file__).parent / "examples.json"

NEED_AN_ORDER = ("graph-fixed",)
"""Variants that cannot be chosen on the page, because the order has to be given."""

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
class Scene:
    """A world without its networks; heights: [nx, ny] log-density in the cells of the support; has_tracker:
    whether somebody has learned to walk there."""

    name: str
    frame: Frame
    heights: FloatArray
    support: Support
    has_tracker: bool

    @property
    def why_no_walk(self) -> str | None:
        """None where the environment is there and can be walked."""
        if self.name not in WORLDS:
            return "no environment is known for these recordings"
        if find_spec("ogbench") is None:
            return "OGBench is not installed, so there is no environment to walk in"
        if not self.has_tracker:
            return "these weights have no tracker, so nobody can walk"
        return None

    def describe(self, example: dict[str, Any], modes: tuple[str, ...]) -> dict[str, Any]:
        """Everything the page has to know before it can ask for a plan."""
        walls = WORLDS[self.name].maze.wall_centres.tolist() if self.name in WORLDS else []
        return {
            "preset": self.name,
            "frame": self.frame.to_dict(),
            "extent": self.support.extent,
            "grid": density_grid(self.heights, self.support),
            "walls": {"size": CELL_SIZE, "centres": walls},
            "why_no_walk": self.why_no_walk,
            "modes": modes,
            "variants": [
                {"name": name, "summary": SUMMARIES.get(name, "")}
                for name in VARIANTS
                if name not in NEED_AN_ORDER
            ],
            "default_variant": DEFAULT_VARIANT,
            "limits": {"agents": MAX_AGENTS, "anchors": MAX_ANCHORS, "seed": MAX_SEED},
            "example": example,
        }


def read_scene(name: str, folder: Path) -> Scene:
    """A world as the density of its weights shows it, read without torch."""
    from safetensors import safe_open

    path = folder / "density.safetensors"
    if not path.is_file():
        raise BadCheckpoint(f"no checkpoint at {path}; `chronoforest train` writes one")
    with reading(path, "a density", BadCheckpoint), safe_open(path, framework="numpy") as stored:
        card = json.loads(stored.metadata()["about"])
        mask, heights = stored.get_tensor("support"), stored.get_tensor("log_table")
        origin, cell = stored.get_tensor("origin"), float(stored.get_tensor("cell"))
        frame = Frame.from_dict(card["frame"]) if "frame" in card else Frame()
    support = Support(origin, cell, mask.astype(np.bool_))
    return Scene(name, frame, heights.astype(np.float64), support, bool(card.get("has_actions", True)))


@cache
def _examples() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return values


def stored_example(name: str) -> dict[str, Any] | None:
    """A problem of a preset that ships, chosen because it shows something; `note` says what."""
    found: dict[str, Any] | None = _examples().get(name)
    return found


def cell_heights(density: Density, support: Support) -> FloatArray:
    """[nx, ny] log-density in the cells of a support."""
    return density.log_density(
        support.origin + support.cell * np.indices(support.mask.shape).transpose(1, 2, 0)
    )


def density_grid(heights: FloatArray, support: Support) -> dict[str, Any]:
    """Log-density [nx, ny] as bytes: 0 without support, 1…255 from the thinnest to the densest place.

    `values` is base64 of ny rows of nx bytes, from the top of the picture to its bottom; `extent` is the
    picture's, which may end beyond the support's by a part of a cell of the picture.
    """
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
