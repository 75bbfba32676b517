"""Worlds of any size, and any number of recordings in them: corridors between the cells of a grid.

Nothing is trained in them. Recordings are random walks, the density is fitted to them as always, and the time
between two places is that of a straight line, so that what a roadmap and its ways cost can be measured at any
size; what the denoiser costs grows with the pieces that it is asked for, not with the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from benchmarks.mazes import NEIGHBOURS, Maze
from benchmarks.problems import open_cells
from chronoforest.envs.maps import CELL_SIZE, cell_centre
from chronoforest.models.density import DensityParams, GridDensity, fit_density
from chronoforest.types import Calibration, FloatArray, IntArray, Sampler, Support

STEPS_PER_CELL = 20
"""Steps from the centre of a cell to that of the next."""

JITTER = 0.5
"""Units by which a recording runs beside the centres at most."""

LOOPS = 0.3
"""Share of the walls between corridors that are open, beside those that make all cells one world."""

CALIBRATION = Calibration(
    alpha=0.0,
    local_scale=1.0,
    local_ratios=(0.9, 1.1),
    all_ratios=(0.9, 1.1),
    local_window=100.0,
    local_error=((100.0, 10.0),),
)


@dataclass(frozen=True, eq=False)
class Corridors:
    """centres: [c, 2] of the cells; source, target: [l] cells that a corridor joins, both ways."""

    centres: FloatArray
    source: IntArray
    target: IntArray

    def __len__(self) -> int:
        return len(self.centres)

    @classmethod
    def of_maze(cls, maze: Maze) -> Corridors:
        """Those of a maze, its portals left out."""
        cells = open_cells(maze)
        gap = cells[:, None] - cells
        source, target = np.nonzero((gap[..., None, :] == np.array(NEIGHBOURS)).all(axis=-1).any(axis=-1))
        return cls(cell_centre(cells), source, target)

    @classmethod
    def grown(cls, side: int, seed: int) -> Corridors:
        """A random world of side × side cells, all of them joined, with loops."""
        rng = np.random.default_rng(seed)
        number = np.arange(side * side).reshape(side, side)
        walls = np.concatenate(
            [
                np.stack([number[1:].ravel(), number[:-1].ravel()]),
                np.stack([number[:, 1:].ravel(), number[:, :-1].ravel()]),
            ],
            axis=1,
        )
        weight = rng.uniform(1.0, 2.0, walls.shape[1])
        tree = minimum_spanning_tree(csr_matrix((weight, walls), shape=(number.size,) * 2)).tocoo()
        loops = walls[:, rng.uniform(size=walls.shape[1]) < LOOPS]
        links = np.unique(np.concatenate([np.stack([tree.row, tree.col]), loops], axis=1), axis=1)
        both = np.concatenate([links, links[::-1]], axis=1).astype(np.int64)
        centres = CELL_SIZE * np.stack(np.divmod(np.arange(number.size), side), axis=1)
        return cls(centres.astype(np.float64), both[0], both[1])

    @cached_property
    def _doors(self) -> tuple[IntArray, IntArray]:
        """[c, 4] the cells beside each, and [c] how many there are."""
        order = np.argsort(self.source, kind="stable")
        count = np.bincount(self.source, minlength=len(self))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        beside = np.zeros((len(self), len(NEIGHBOURS)), dtype=np.int64)
        beside[self.source[order], rank] = self.target[order]
        return beside, count

    def recordings(self, count: int, num_cells: int, rng: np.random.Generator) -> FloatArray:
        """[count, num_cells · 20 + 1, 2] random walks over so many cells, a little beside the centres."""
        beside, num_doors = self._doors
        cells = np.empty((count, num_cells + 1), dtype=np.int64)
        cells[:, 0] = rng.integers(0, len(self), count)
        for step in range(num_cells):
            here = cells[:, step]
            cells[:, step + 1] = beside[here, rng.integers(0, num_doors[here])]
        places = self.centres[cells] + rng.uniform(-JITTER, JITTER, (count, num_cells + 1, 2))
        share = np.arange(STEPS_PER_CELL)[:, None] / STEPS_PER_CELL
        between = places[:, :-1, None] + share * np.diff(places, axis=1)[:, :, None]
        walks = between.reshape(count, num_cells * STEPS_PER_CELL, 2)
        return np.concatenate([walks, places[:, -1:]], axis=1)


@dataclass
class Straight:
    """Time as a straight line takes it; step_length: units in a step."""

    step_length: float
    reach: float = np.inf

    def encode(self, points: FloatArray) -> FloatArray:
        """The places themselves."""
        return np.asarray(points, dtype=np.float64)

    def between(self, source_codes: FloatArray, target_codes: FloatArray) -> FloatArray:
        """Elementwise."""
        return np.asarray(np.linalg.norm(source_codes - target_codes, axis=-1) / self.step_length)

    def pairwise(self, source_codes: FloatArray, target_codes: FloatArray) -> FloatArray:
        """All against all."""
        return self.between(source_codes[:, None], target_codes[None])


@dataclass(frozen=True)
class GrownModels:
    """`PlanningModels` of a world in which nothing was trained; sampler: another world's, never asked."""

    density: GridDensity
    sampler: Sampler
    calibration: Calibration = CALIBRATION
    has_networks: bool = True

    @property
    def step_length(self) -> float:
        """Of the recordings."""
        return self.density.step_length

    @property
    def gap(self) -> float:
        """Between recordings, which are many here."""
        return self.density.gap

    @property
    def distance(self) -> Straight:
        """Straight lines at full speed."""
        return Straight(self.step_length)

    @property
    def support(self) -> Support:
        """Where recordings went."""
        return Support(self.density.origin, self.density.cell, self.density.support)


def fitted(tracks: FloatArray) -> GridDensity:
    """The density of recordings, with the usual parameters."""
    return fit_density(tracks, DensityParams(), jump=CELL_SIZE)
