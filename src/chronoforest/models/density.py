"""Where the recordings went: a Gaussian kernel density on a grid, and the room around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, maximum_filter

from chronoforest.errors import BadCheckpoint, require_positive
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class DensityParams:
    """The table of where recordings went; bandwidth: world units of the kernel."""

    bandwidth: float = 0.3

    def __post_init__(self) -> None:
        require_positive(self, "bandwidth")

    def widened(
        self, gaps: FloatArray, step_length: float, usual: float = 0.9, widest: float = 2.0
    ) -> DensityParams:
        """As wide as the usual one (a quantile) of the gaps [n] between recordings, where that is wider;
        widest: steps at full speed; wider, few recordings would reach through walls."""
        gap = min(float(np.quantile(gaps, usual)), widest * step_length)
        return replace(self, bandwidth=max(self.bandwidth, gap))


@dataclass(frozen=True)
class GridParams:
    """How recordings are tabulated, whatever the world.

    per_bandwidth, per_lane: cells in a bandwidth, without and with lanes; most_cells, most_lane_cells: of a
    table; most_strays: share of the places that a table too large with them may leave out; support: quantile
    of the data's own density at which the supported region ends, low because recordings park at their goals;
    full_step: quantile of the recorded steps; hazard: full steps around a jump within which nothing counts as
    supported; num_headings: sectors of direction; a recorded one counts for those beside it, so that half-way
    through a turn that no recording makes there is none to follow; heading_blur: bandwidths over which
    directions blend at the edge of a lane, where few recordings tell; heading_around: weight of a recording
    that far around, since beside the middle of a lane another may lead back; heading_share: of the motion at
    a place that a direction must have to count; lane_share: fraction of the busiest neighbour's density that
    a lane place has; stray_share: fraction of its motion; lane_reach: bandwidths to that neighbour, at most.
    """

    per_bandwidth: float = 3.0
    per_lane: float = 2.0
    most_cells: int = 50_000_000
    most_lane_cells: int = 8_000_000
    most_strays: float = 0.05
    support: float = 0.0001
    full_step: float = 0.999
    hazard: float = 1.75
    num_headings: int = 16
    heading_blur: float = 3.0
    heading_around: float = 0.01
    heading_share: float = 0.01
    lane_share: float = 0.1
    stray_share: float = 0.05
    lane_reach: float = 4.0


@dataclass(frozen=True)
class GridDensity:
    """The planner's `Density`: tables on a grid whose first cell centre is `origin`.

    log_table: [nx, ny] natural logarithm of the density per square unit; support: [nx, ny] bool;
    step_length: units that hardly any recording exceeded in one step; heading_bits: [sectors / 8, nx, ny] a
    bit for each direction in which recordings moved, counter-clockwise from east, or None; gap: units that
    hardly any recorded place is farther from another recording, 0 where it was not measured.
    """

    origin: FloatArray
    cell: float
    log_table: FloatArray
    support: BoolArray
    step_length: float
    heading_bits: NDArray[np.uint8] | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        shapes = self.log_table.shape, self.support.shape
        if self.log_table.ndim != 2 or shapes[0] != shapes[1]:
            raise BadCheckpoint(f"density tables must share one 2-D shape, got {shapes[0]} and {shapes[1]}")

    @property
    def is_one_way(self) -> bool:
        """Whether there is a table of headings."""
        return self.heading_bits is not None

    @cached_property
    def _margin(self) -> FloatArray:
        """[nx, ny] units to the edge of the support, and the negative of it outside."""
        inside, outside = distance_transform_edt(self.support), distance_transform_edt(~self.support)
        return np.asarray((inside - outside) * self.cell)

    @cached_property
    def _lowest(self) -> tuple[float, float]:
        """The least of the log densities and of the margins, which hold outside the grid."""
        return float(self.log_table.min()), float(self._margin.min())

    def log_density(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...]; places outside the grid get the table's lowest value."""
        return self._lookup(self.log_table, points, self._lowest[0])

    def margin(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] world units to unsupported space, negative outside the support."""
        return self._lookup(self._margin, points, self._lowest[1])

    def follows(self, points: FloatArray, moves: FloatArray) -> BoolArray:
        """[..., 2] places and moves → [...]; true everywhere without a table of headings, and for moves of
        less than half a step, which have no direction."""
        points, moves = np.broadcast_arrays(points, moves)
        if self.heading_bits is None:
            return np.ones(points.shape[:-1], dtype=bool)
        rows = np.rint((points - self.origin) / self.cell).astype(np.int64)
        is_inside = np.asarray(((rows >= 0) & (rows < self.support.shape)).all(axis=-1))
        x, y = np.moveaxis(np.where(is_inside[..., None], rows, 0), -1, 0)
        sector = _sectors(moves, 8 * len(self.heading_bits))
        is_recorded = (self.heading_bits[sector // 8, x, y] >> (7 - sector % 8) & 1).astype(bool) & is_inside
        return np.asarray(is_recorded | (np.linalg.norm(moves, axis=-1) < 0.5 * self.step_length))

    def _lookup(self, table: FloatArray, points: FloatArray, outside: float) -> FloatArray:
        points = np.asarray(points, dtype=np.float64)
        # One coordinate after the other: pairs of them, as points lie in memory, take four times as long.
        x, y = (((points[..., k] - low) / self.cell).ravel() for k, low in enumerate(self.origin))
        return between_cells(table, x, y, outside).reshape(points.shape[:-1])


def fit_density(
    tracks: FloatArray,
    params: DensityParams,
    jump: float,
    heading_steps: int = 0,
    grid: GridParams | None = None,
) -> GridDensity:
    """Gaussian kernel density of recordings [E, T, 2], tabulated once; a step longer than `jump` is one.

    heading_steps: over how many of them directions of motion are measured, 0 where they do not matter; then
    ways are lanes, as wide as recordings lie side by side, however many there are.
    """
    grid = grid or GridParams()
    points = between_rows(tracks, params.bandwidth, jump)[0]
    points, cell, edges = _table(points, params.bandwidth, grid, heading_steps > 0)
    density = _blurred(points, edges, params.bandwidth / cell) / (len(points) * cell**2)
    log_table = np.log(density + 1e-12).astype(np.float16).astype(np.float64)
    whole = np.ones(log_table.shape, dtype=bool)
    low = np.array([edge[0] + 0.5 * cell for edge in edges])
    draft = GridDensity(low, cell, log_table, whole, full_step(tracks, jump, grid.full_step))
    edge = np.quantile(draft.log_density(points), grid.support)
    jumps = jump_starts(tracks, jump)
    is_far = np.histogram2d(jumps[:, 0], jumps[:, 1], bins=edges)[0] == 0
    is_hazard = distance_transform_edt(is_far) <= grid.hazard * draft.step_length / cell
    support = (log_table >= edge) & ~(is_hazard & bool(len(jumps)))
    if not heading_steps:
        return replace(draft, support=support)
    is_lane, headings = _lanes(tracks, heading_steps, jump, edges, cell, params.bandwidth, grid)
    return replace(draft, support=support & is_lane, heading_bits=np.packbits(headings, axis=0))


def _table(
    points: FloatArray, bandwidth: float, grid: GridParams, has_lanes: bool
) -> tuple[FloatArray, float, list[FloatArray]]:
    """The points [n, 2] within a table, its cell and the edges of its cells along each axis.

    Where it would have too many cells, the points farthest out are left out, and then cells are larger.
    """
    cell = bandwidth / (grid.per_lane if has_lanes else grid.per_bandwidth)
    most = grid.most_lane_cells if has_lanes else grid.most_cells
    for strays in (0.0, *np.geomspace(grid.most_strays / 64, grid.most_strays, 7)):
        low, high = np.quantile(points, (strays / 2, 1.0 - strays / 2), axis=0)
        size = high - low + 12.0 * max(bandwidth, cell)
        if np.prod(size / cell + 2.0) <= most:
            break
    else:
        cell = float(np.sqrt(np.prod(size) / most) + 2.0 * size.max() / most)
    inside = points[((points >= low) & (points <= high)).all(axis=1)]
    low = low - 6.0 * max(bandwidth, cell)
    shape = np.ceil((high + 6.0 * max(bandwidth, cell) - low) / cell).astype(int) + 1
    return inside, cell, [low[k] + cell * (np.arange(shape[k] + 1) - 0.5) for k in range(2)]


def full_step(tracks: FloatArray, jump: float, quantile: float = 0.999) -> float:
    """Units that hardly any step of recordings [E, T, 2] exceeds, jumps left out."""
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    return float(np.quantile(hops[hops <= jump], quantile))


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


def _lanes(
    tracks: FloatArray,
    num_steps: int,
    jump: float,
    edges: list[FloatArray],
    cell: float,
    bandwidth: float,
    grid: GridParams,
) -> tuple[BoolArray, BoolArray]:
    """[nx, ny] where lanes are, and [sectors, nx, ny] in which directions recordings moved there.

    The direction at a row is measured over `num_steps` around it, so that noise does not turn it, but counts
    where the recording was, not in the middle of the chord, which cuts corners.
    """
    row = np.arange(tracks.shape[1])
    first = np.maximum(row - (num_steps - 1) // 2, 0)
    last = np.minimum(row + 1 + num_steps // 2, tracks.shape[1] - 1)
    moves = tracks[:, last] - tracks[:, first]
    length = np.linalg.norm(moves, axis=-1)
    is_moving = ((length > 0.3 * np.median(length)) & (length <= num_steps * jump)).reshape(-1)
    places, rows = between_rows(tracks, bandwidth, jump)
    sectors = _sectors(moves.reshape(-1, 2), grid.num_headings)[rows]

    def in_sectors(bandwidth: float) -> FloatArray:
        """[sectors, nx, ny] motion in each sector or one beside it, in single precision: there are many."""
        found = (places[is_moving[rows] & (sectors == k)] for k in range(grid.num_headings))
        own = np.stack([_blurred(some, edges, bandwidth / cell).astype(np.float32) for some in found])
        both = own + np.roll(own, 1, axis=0)
        return np.asarray(both + np.roll(own, -1, axis=0), dtype=np.float32)

    moving = in_sectors(bandwidth)
    # A lane keeps its width where it joins a busier one, and next to nothing of all motion there is a stray.
    size = 2 * round(grid.lane_reach * bandwidth / cell) + 1
    least = grid.stray_share * maximum_filter(moving.sum(axis=0) / 3.0, size=size)
    is_lane = np.zeros(least.shape, dtype=np.bool_)
    for one in moving:
        is_lane |= (one >= grid.lane_share * maximum_filter(one, size=size)) & (one > least)
    around = in_sectors(grid.heading_blur * bandwidth)
    around *= grid.heading_around
    around += moving
    return is_lane, np.asarray(around > grid.heading_share / 3.0 * around.sum(axis=0))


def _blurred(points: FloatArray, edges: list[FloatArray], width: float) -> FloatArray:
    """[nx, ny] points [n, 2] per cell, blurred by a kernel of `width` cells."""
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    return np.asarray(gaussian_filter(counts, width))


def _sectors(moves: FloatArray, count: int) -> IntArray:
    """[...] the sector of each move [..., 2]."""
    angle = np.arctan2(moves[..., 1], moves[..., 0])
    return np.rint(angle * count / (2.0 * np.pi)).astype(np.int64) % count


def between_cells(table: FloatArray, x: FloatArray, y: FloatArray, outside: float) -> FloatArray:
    """[n] what a table [nx, ny] has at places x, y [n], counted in cells, linear between them; `outside`
    beyond its first and last cells.

    To the last bit what `scipy.ndimage.map_coordinates` says (order 1, mode constant), in a third of its
    time: a plan asks this millions of times.
    """
    is_inside = (x >= 0) & (x <= table.shape[0] - 1) & (y >= 0) & (y <= table.shape[1] - 1)
    if not is_inside.all():
        values = np.full(x.shape, outside)
        values[is_inside] = between_cells(table, x[is_inside], y[is_inside], outside)
        return values
    left, low = np.floor(x), np.floor(y)
    is_left, is_low = 1.0 - (x - left), 1.0 - (y - low)
    cells = left.astype(np.int64)
    cells *= table.shape[1]
    cells += low.astype(np.int64)

    def weighted(cells: IntArray, along: FloatArray, across: FloatArray) -> FloatArray:
        values = table.take(cells, mode="clip")  # what lies beyond the last row or column has no weight
        values *= along
        values *= across
        return values

    values = weighted(cells, is_left, is_low)
    values += weighted(cells + 1, is_left, 1.0 - is_low)
    cells += table.shape[1]
    values += weighted(cells, 1.0 - is_left, is_low)
    values += weighted(cells + 1, 1.0 - is_left, 1.0 - is_low)
    return values
