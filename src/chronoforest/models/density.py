"""Where the recordings went: a Gaussian kernel density on a grid, and the room around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter, map_coordinates

from chronoforest.errors import BadCheckpoint, BadDataset, InvalidParameter
from chronoforest.types import BoolArray, FloatArray

MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class DensityParams:
    """Grid cell and kernel bandwidth in world units; `support_quantile` of the data's own density values
    marks the edge of the supported region (recordings park at their goals, so only low quantiles mean
    anything). Places within `hazard_radius` of a jump in the recordings count as unsupported."""

    cell: float = 0.1
    bandwidth: float = 0.3
    support_quantile: float = 0.0001
    jump: float = 1.5
    step_quantile: float = 0.999
    hazard_radius: float = 0.5

    def __post_init__(self) -> None:
        if self.cell <= 0 or self.bandwidth <= 0:
            raise InvalidParameter(
                f"cell and bandwidth must be positive, got {self.cell} and {self.bandwidth}"
            )
        if not 0.0 <= self.support_quantile < 1.0:
            raise InvalidParameter(f"support_quantile must lie in [0, 1), got {self.support_quantile}")


@dataclass(frozen=True)
class GridDensity:
    """The planner's `Density`: tables on a grid whose first cell centre is `origin`.

    log_table: [nx, ny] natural logarithm of the density per square unit; support: [nx, ny] bool;
    step_length: units that hardly any recording exceeded in one step.
    """

    origin: FloatArray
    cell: float
    log_table: FloatArray
    support: BoolArray
    step_length: float

    def __post_init__(self) -> None:
        if self.log_table.ndim != 2 or self.log_table.shape != self.support.shape:
            raise BadCheckpoint(
                "density tables must share one 2-D shape, "
                f"got {self.log_table.shape} and {self.support.shape}"
            )
        inside, outside = distance_transform_edt(self.support), distance_transform_edt(~self.support)
        object.__setattr__(self, "_margin", (inside - outside) * self.cell)

    def log_density(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...]; places outside the grid get the table's lowest value."""
        return self._lookup(self.log_table, points, float(self.log_table.min()))

    def margin(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] world units to unsupported space, negative outside the support."""
        table: FloatArray = self._margin  # type: ignore[attr-defined]
        return self._lookup(table, points, float(table.min()))

    def _lookup(self, table: FloatArray, points: FloatArray, outside: float) -> FloatArray:
        points = np.asarray(points, dtype=np.float64)
        rows = ((points - self.origin) / self.cell).reshape(-1, 2).T
        values: FloatArray = map_coordinates(table, rows, order=1, mode="constant", cval=outside)
        return values.reshape(points.shape[:-1])


def fit_density(tracks: FloatArray, params: DensityParams) -> GridDensity:
    """Gaussian kernel density of recordings [E, T, 2], tabulated once."""
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
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    density = gaussian_filter(counts, params.bandwidth / params.cell) / (len(points) * params.cell**2)
    log_table = np.log(density + 1e-12).astype(np.float16).astype(np.float64)
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    step_length = float(np.quantile(hops[hops <= params.jump], params.step_quantile))
    draft = GridDensity(low, params.cell, log_table, np.ones(log_table.shape, dtype=bool), step_length)
    edge = np.quantile(draft.log_density(points), params.support_quantile)
    is_hazard = _near(jump_starts(tracks, params.jump), edges, params.hazard_radius / params.cell)
    return replace(draft, support=(log_table >= edge) & ~is_hazard)


def jump_starts(tracks: FloatArray, jump: float) -> FloatArray:
    """[n, 2]: where recordings were one step before they jumped farther than `jump`."""
    is_jump = np.linalg.norm(np.diff(tracks, axis=1), axis=-1) > jump
    return tracks[:, :-1][is_jump]


def _near(points: FloatArray, edges: list[FloatArray], radius: float) -> BoolArray:
    """Grid cells within `radius` cells of any of the points."""
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    near: BoolArray = distance_transform_edt(counts == 0) <= radius
    return near & bool(len(points))
