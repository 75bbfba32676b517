"""Where the recordings went: a Gaussian kernel density on a grid, and the room around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter, maximum_filter

from chronoforest.errors import BadCheckpoint, BadDataset, require_positive, require_within
from chronoforest.models.grid import between_cells
from chronoforest.types import BoolArray, FloatArray, IntArray

MOST_CELLS = 50_000_000

SUPPORT_QUANTILE = 0.0001
"""Of the data's own density values: the edge of the supported region. Recordings park at their goals, so only
low quantiles mean anything."""

USUAL_GAP, LARGEST_GAP = 0.9, 0.99
"""Of the gaps between recordings: the usual one is what the density blends, and hardly one is larger than the
largest."""

WIDEST = 2.0
"""Steps of the recordings at full speed that a wider bandwidth has at most: wider, few recordings would reach
through walls."""

STEP_QUANTILE = 0.999
"""Of the recorded steps: what hardly any exceeded."""

NUM_HEADINGS = 16
"""Sectors in which the directions of motion are tabulated. A recorded one counts for those beside it, so that
half-way through a turn that nobody makes there is no direction to follow."""

HEADING_BLUR = 3.0
"""Bandwidths over which directions blend at the edge of a lane, where few recordings tell."""

HEADING_AROUND = 0.01
"""What a recording counts so far around, of what it counts where it passed: in the middle of a lane, where
many did, one may be beside it that leads back."""

HEADING_SHARE = 0.01
"""Of the motion at a place that a direction must have to count."""

STRAY_SHARE = 0.05
"""Of the motion at the busiest place beside it that a lane has at least."""

LANE_REACH = 4.0
"""Bandwidths within which a place is compared with the busiest one: beyond them there may be another lane."""


@dataclass(frozen=True)
class DensityParams:
    """The table of where recordings went.

    cell: world units of a grid cell; bandwidth: world units of the kernel; hazard_radius: places so near to a
    jump in the recordings count as unsupported; lane_share: of the density of the busiest place beside it
    that a place must have; a lane is then as wide as recordings lie side by side, however many there are.
    """

    cell: float = 0.1
    bandwidth: float = 0.3
    hazard_radius: float = 0.5
    lane_share: float = 0.0

    def __post_init__(self) -> None:
        require_positive(self, "cell", "bandwidth")
        require_within(self, 0, 1, "lane_share")

    def widened(self, gaps: FloatArray, step_length: float) -> DensityParams:
        """As wide as the usual one of the gaps [n] between recordings, where that is wider."""
        usual = min(float(np.quantile(gaps, USUAL_GAP)), WIDEST * step_length)
        return replace(self, bandwidth=max(self.bandwidth, usual))


@dataclass(frozen=True)
class GridDensity:
    """The planner's `Density`: tables on a grid whose first cell centre is `origin`.

    log_table: [nx, ny] natural logarithm of the density per square unit; support: [nx, ny] bool;
    step_length: units that hardly any recording exceeded in one step; headings: [sectors, nx, ny] bool, the
    directions in which recordings moved, the first sector east and counter-clockwise from there, or None;
    gap: units that hardly any recorded place is farther from another recording, 0 where nobody measured it.
    """

    origin: FloatArray
    cell: float
    log_table: FloatArray
    support: BoolArray
    step_length: float
    headings: BoolArray | None = None
    gap: float = 0.0

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

    @cached_property
    def _lowest(self) -> tuple[float, float]:
        """The least of the log densities and of the margins, which hold outside the grid."""
        return float(self.log_table.min()), float(self._margin.min())  # type: ignore[attr-defined]

    def log_density(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...]; places outside the grid get the table's lowest value."""
        return self._lookup(self.log_table, points, self._lowest[0])

    def margin(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] world units to unsupported space, negative outside the support."""
        table: FloatArray = self._margin  # type: ignore[attr-defined]
        return self._lookup(table, points, self._lowest[1])

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
        # One coordinate after the other: pairs of them, as points lie in memory, take four times as long.
        x, y = (((points[..., k] - low) / self.cell).ravel() for k, low in enumerate(self.origin))
        return between_cells(table, x, y, outside).reshape(points.shape[:-1])


def fit_density(
    tracks: FloatArray, params: DensityParams, jump: float, heading_steps: int = 0
) -> GridDensity:
    """Gaussian kernel density of recordings [E, T, 2], tabulated once; a step longer than `jump` is one.

    heading_steps: over how many of them directions of motion are measured, 0 where they do not matter.
    """
    points = between_rows(tracks, params.bandwidth, jump)[0]
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
    whole = np.ones(log_table.shape, dtype=bool)
    draft = GridDensity(low, params.cell, log_table, whole, full_step(tracks, jump))
    edge = np.quantile(draft.log_density(points), SUPPORT_QUANTILE)
    is_hazard = _near(jump_starts(tracks, jump), edges, params.hazard_radius / params.cell)
    support = (log_table >= edge) & ~is_hazard
    if not heading_steps:
        return replace(draft, support=support)
    motion = Motion.of(tracks, heading_steps, params.bandwidth, jump)
    support &= _is_on_lane(motion, edges, params)
    return replace(draft, support=support, headings=_headings(motion, edges, params))


def full_step(tracks: FloatArray, jump: float) -> float:
    """Units that hardly any step of recordings [E, T, 2] exceeds, jumps left out."""
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    return float(np.quantile(hops[hops <= jump], STEP_QUANTILE))


def between_rows(tracks: FloatArray, spacing: float, jump: float) -> tuple[FloatArray, IntArray]:
    """[n, 2] places along recordings [E, T, 2], more than the rows where these lie farther apart than
    `spacing`, but none within a jump; and [n] the row of all E · T that each follows."""
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    count = np.where(hops <= jump, np.ceil(hops / spacing), 1).astype(np.int64)
    count = np.concatenate([np.maximum(count, 1), np.ones((len(tracks), 1), dtype=np.int64)], axis=1)
    first = np.repeat(np.arange(count.size), count.reshape(-1))
    rank = np.arange(len(first)) - np.repeat(np.cumsum(count) - count.reshape(-1), count.reshape(-1))
    ahead = np.diff(tracks, axis=1, append=tracks[:, -1:]).reshape(-1, tracks.shape[-1])
    share = rank / count.reshape(-1)[first]
    return tracks.reshape(-1, tracks.shape[-1])[first] + share[:, None] * ahead[first], first


def jump_starts(tracks: FloatArray, jump: float) -> FloatArray:
    """[n, 2]: where recordings were one step before they jumped farther than `jump`."""
    is_jump = np.linalg.norm(np.diff(tracks, axis=1), axis=-1) > jump
    return tracks[:, :-1][is_jump]


def _blurred(points: FloatArray, edges: list[FloatArray], params: DensityParams) -> FloatArray:
    """[nx, ny] points [n, 2] per cell, blurred by the kernel."""
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    return np.asarray(gaussian_filter(counts, params.bandwidth / params.cell))


@dataclass(frozen=True, eq=False)
class Motion:
    """places: [n, 2] where recordings moved; sectors: [n] in which direction."""

    places: FloatArray
    sectors: IntArray

    @classmethod
    def of(cls, tracks: FloatArray, num_steps: int, spacing: float, jump: float) -> Motion:
        """Of recordings [E, T, 2].

        The direction at a row is measured over `num_steps` around it, so that noise does not turn it, but
        counts where the recording was, not in the middle of the chord, which cuts corners.
        """
        moves = moves_around(tracks, num_steps)
        length = np.linalg.norm(moves, axis=-1)
        is_moving = ((length > 0.3 * np.median(length)) & (length <= num_steps * jump)).reshape(-1)
        places, rows = between_rows(tracks, spacing, jump)
        sectors = _sectors(moves.reshape(-1, 2), NUM_HEADINGS)[rows]
        return cls(places[is_moving[rows]], sectors[is_moving[rows]])

    def tables(self, edges: list[FloatArray], params: DensityParams) -> FloatArray:
        """[sectors, nx, ny]: motion in each sector or one beside it."""
        own = np.stack([_blurred(self.places[self.sectors == k], edges, params) for k in range(NUM_HEADINGS)])
        return np.asarray(own + np.roll(own, 1, axis=0) + np.roll(own, -1, axis=0))


def _is_on_lane(motion: Motion, edges: list[FloatArray], params: DensityParams) -> BoolArray:
    """[nx, ny]: in some direction there is enough of what moves that way at the busiest place within reach,
    so that a lane keeps its width where it joins a busier one; but not next to nothing of all that moves
    there: that is a stray."""
    if params.lane_share == 0:
        return np.ones([len(edge) - 1 for edge in edges], dtype=np.bool_)
    size = 2 * round(LANE_REACH * params.bandwidth / params.cell) + 1
    tables = motion.tables(edges, params)
    busiest = np.stack([maximum_filter(table, size=size) for table in tables])
    least = STRAY_SHARE * maximum_filter(tables.sum(axis=0) / 3.0, size=size)
    return np.asarray(((tables >= params.lane_share * busiest) & (tables > least)).any(axis=0))


def _headings(motion: Motion, edges: list[FloatArray], params: DensityParams) -> BoolArray:
    """[sectors, nx, ny]: whether enough of the motion near a cell goes in a sector or one beside it."""
    around = motion.tables(edges, replace(params, bandwidth=HEADING_BLUR * params.bandwidth))
    tables = motion.tables(edges, params) + HEADING_AROUND * around
    return np.asarray(tables > HEADING_SHARE / 3.0 * tables.sum(axis=0))


def moves_around(tracks: FloatArray, num_steps: int) -> FloatArray:
    """[E, T, 2] what recordings move over `num_steps` around the step after each row; fewer at their ends."""
    row = np.arange(tracks.shape[1])
    first = np.maximum(row - (num_steps - 1) // 2, 0)
    last = np.minimum(row + 1 + num_steps // 2, tracks.shape[1] - 1)
    return np.asarray(tracks[:, last] - tracks[:, first])


def _sectors(moves: FloatArray, count: int) -> IntArray:
    """[...] the sector of each move [..., 2]."""
    angle = np.arctan2(moves[..., 1], moves[..., 0])
    return np.rint(angle * count / (2.0 * np.pi)).astype(np.int64) % count


def _near(points: FloatArray, edges: list[FloatArray], radius: float) -> BoolArray:
    """Grid cells within `radius` cells of any of the points."""
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    near: BoolArray = distance_transform_edt(counts == 0) <= radius
    return near & bool(len(points))
