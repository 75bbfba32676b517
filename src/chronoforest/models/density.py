"""Where the recordings went: a Gaussian kernel density on a grid, and the room around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter, map_coordinates

from chronoforest.errors import BadCheckpoint, BadDataset, require_positive
from chronoforest.types import BoolArray, FloatArray, IntArray

MOST_CELLS = 50_000_000

SUPPORT_QUANTILE = 0.0001
"""Of the data's own density values: the edge of the supported region. Recordings park at their goals, so only
low quantiles mean anything."""

STEP_QUANTILE = 0.999
"""Of the recorded steps: what hardly any exceeded."""

NUM_HEADINGS = 8
"""Sectors in which the directions of motion are tabulated."""

HEADING_SHARE = 0.03
"""Of the motion at a place that a direction must have to count."""


@dataclass(frozen=True)
class DensityParams:
    """Grid cell and kernel bandwidth in world units; places within `hazard_radius` of a jump in the
    recordings count as unsupported."""

    cell: float = 0.1
    bandwidth: float = 0.3
    hazard_radius: float = 0.5

    def __post_init__(self) -> None:
        require_positive(self, "cell", "bandwidth")


@dataclass(frozen=True)
class GridDensity:
    """The planner's `Density`: tables on a grid whose first cell centre is `origin`.

    log_table: [nx, ny] natural logarithm of the density per square unit; support: [nx, ny] bool;
    step_length: units that hardly any recording exceeded in one step; headings: [sectors, nx, ny] bool, the
    directions in which recordings moved, the first sector east and counter-clockwise from there, or None.
    """

    origin: FloatArray
    cell: float
    log_table: FloatArray
    support: BoolArray
    step_length: float
    headings: BoolArray | None = None

    def __post_init__(self) -> None:
        if self.log_table.ndim != 2 or self.log_table.shape != self.support.shape:
            raise BadCheckpoint(
                "density tables must share one 2-D shape, "
                f"got {self.log_table.shape} and {self.support.shape}"
            )
        inside, outside = distance_transform_edt(self.support), distance_transform_edt(~self.support)
        object.__setattr__(self, "_margin", (inside - outside) * self.cell)

    @property
    def is_one_way(self) -> bool:
        """Whether there is a table of headings."""
        return self.headings is not None

    def log_density(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...]; places outside the grid get the table's lowest value."""
        return self._lookup(self.log_table, points, float(self.log_table.min()))

    def margin(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] world units to unsupported space, negative outside the support."""
        table: FloatArray = self._margin  # type: ignore[attr-defined]
        return self._lookup(table, points, float(table.min()))

    def follows(self, points: FloatArray, moves: FloatArray) -> BoolArray:
        """[..., 2] places and moves → [...]; true everywhere without a table of headings, and for moves of
        less than half a step, which have no direction."""
        points, moves = np.broadcast_arrays(points, moves)
        if self.headings is None:
            return np.ones(points.shape[:-1], dtype=bool)
        rows = np.rint((points - self.origin) / self.cell).astype(np.int64)
        is_inside = np.asarray(((rows >= 0) & (rows < self.support.shape)).all(axis=-1))
        x, y = np.moveaxis(np.where(is_inside[..., None], rows, 0), -1, 0)
        is_recorded = self.headings[_sectors(moves, len(self.headings)), x, y] & is_inside
        return np.asarray(is_recorded | (np.linalg.norm(moves, axis=-1) < 0.5 * self.step_length))

    def _lookup(self, table: FloatArray, points: FloatArray, outside: float) -> FloatArray:
        points = np.asarray(points, dtype=np.float64)
        rows = ((points - self.origin) / self.cell).reshape(-1, 2).T
        values: FloatArray = map_coordinates(table, rows, order=1, mode="constant", cval=outside)
        return values.reshape(points.shape[:-1])


def fit_density(
    tracks: FloatArray, params: DensityParams, jump: float, heading_steps: int = 0
) -> GridDensity:
    """Gaussian kernel density of recordings [E, T, 2], tabulated once; a step longer than `jump` is one.

    heading_steps: over how many of them directions of motion are measured, 0 where they do not matter.
    """
    points = tracks.reshape(-1, 2)
    pad = 6 * max(params.bandwidth, params.cell)
    low = points.min(axis=0) - pad
    shape = np.ceil((points.max(axis=0) + pad - low) / params.cell).astype(int) + 1
    if shape.prod() > MOST_CELLS:
        raise BadDataset(
            f"a density of {shape[0]} × {shape[1]} cells of {params.cell:g} units is too large; "
            "use a larger cell, or check the units of the recordings"
        )
    edges = [low[k] + params.cell * (np.arange(shape[k] + 1) - 0.5) for k in range(2)]
    density = _blurred(points, edges, params) / (len(points) * params.cell**2)
    log_table = np.log(density + 1e-12).astype(np.float16).astype(np.float64)
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    step_length = float(np.quantile(hops[hops <= jump], STEP_QUANTILE))
    draft = GridDensity(low, params.cell, log_table, np.ones(log_table.shape, dtype=bool), step_length)
    edge = np.quantile(draft.log_density(points), SUPPORT_QUANTILE)
    is_hazard = _near(jump_starts(tracks, jump), edges, params.hazard_radius / params.cell)
    headings = _headings(tracks, edges, params, jump, heading_steps) if heading_steps else None
    return replace(draft, support=(log_table >= edge) & ~is_hazard, headings=headings)


def jump_starts(tracks: FloatArray, jump: float) -> FloatArray:
    """[n, 2]: where recordings were one step before they jumped farther than `jump`."""
    is_jump = np.linalg.norm(np.diff(tracks, axis=1), axis=-1) > jump
    return tracks[:, :-1][is_jump]


def _blurred(points: FloatArray, edges: list[FloatArray], params: DensityParams) -> FloatArray:
    """[nx, ny] points [n, 2] per cell, blurred by the kernel."""
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    return np.asarray(gaussian_filter(counts, params.bandwidth / params.cell))


def _headings(
    tracks: FloatArray, edges: list[FloatArray], params: DensityParams, jump: float, num_steps: int
) -> BoolArray:
    """[sectors, nx, ny]: whether enough of the motion near a cell goes in a sector or one beside it."""
    first, last = tracks[:, :-num_steps], tracks[:, num_steps:]
    moves = last - first
    length = np.linalg.norm(moves, axis=-1)
    is_moving = (length > 0.3 * np.median(length)) & (length <= num_steps * jump)
    places, sectors = (0.5 * (first + last))[is_moving], _sectors(moves[is_moving], NUM_HEADINGS)
    tables = np.stack([_blurred(places[sectors == k], edges, params) for k in range(NUM_HEADINGS)])
    around = tables + np.roll(tables, 1, axis=0) + np.roll(tables, -1, axis=0)
    return np.asarray(around > HEADING_SHARE * tables.sum(axis=0))


def _sectors(moves: FloatArray, count: int) -> IntArray:
    """[...] the sector of each move [..., 2]."""
    angle = np.arctan2(moves[..., 1], moves[..., 0])
    return np.rint(angle * count / (2.0 * np.pi)).astype(np.int64) % count


def _near(points: FloatArray, edges: list[FloatArray], radius: float) -> BoolArray:
    """Grid cells within `radius` cells of any of the points."""
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    near: BoolArray = distance_transform_edt(counts == 0) <= radius
    return near & bool(len(points))
