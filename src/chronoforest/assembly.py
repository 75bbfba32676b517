"""From bridges to a path: join the halves, cut corners where the data supports it, keep room to its edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.errors import InvalidParameter
from chronoforest.search.tree import Forest
from chronoforest.types import Density, Distance, FloatArray, Meeting


@dataclass(frozen=True)
class AssemblyParams:
    """Post-processing, in world units.

    cut_margin: a first corner may be cut where the chord stays this far inside the data's support;
    keep_margin: the room the tube then tries to keep, and later cuts must leave; tube_width, tube_step: how
    far and how finely a point may move sideways; crowding: how much more a unit costs at the edge of the
    support; slack: a cut may take this much longer, by the temporal distance, than the way it replaces.
    """

    spacing: float = 0.25
    cut_margin: float = 0.3
    keep_margin: float = 0.5
    longest_cut: float = 16.0
    tube_width: float = 1.2
    tube_step: float = 0.1
    num_passes: int = 3
    crowding: float = 4.0
    slack: float = 1.1

    def __post_init__(self) -> None:
        if min(self.spacing, self.tube_step, self.longest_cut) <= 0:
            raise InvalidParameter(
                "spacing, tube_step and longest_cut must be positive, "
                f"got {self.spacing}, {self.tube_step} and {self.longest_cut}"
            )
        if min(self.cut_margin, self.keep_margin) < 0:
            raise InvalidParameter(
                f"margins must not be negative, got {self.cut_margin} and {self.keep_margin}"
            )


def bridge_path(forest: Forest, meeting: Meeting) -> FloatArray:
    """[t, 2]: out of the source to where the trees touch, then in to the target."""
    source, target = forest.sides(meeting.pair)
    return np.concatenate([source.path_to(meeting.source_frame), target.path_to(meeting.target_frame)[::-1]])


def shorten(path: FloatArray, density: Density, distance: Distance, params: AssemblyParams) -> FloatArray:
    """A shorter way with the same ends, by density and temporal distance alone."""
    path = resample(path, 2 * params.spacing)
    path = cut_corners(path, density, distance, params.cut_margin, params)
    for _ in range(params.num_passes):
        path = settle(resample(path, 2 * params.spacing), density, params)
    path = cut_corners(resample(path, 2 * params.spacing), density, distance, params.keep_margin, params)
    return resample(path, params.spacing)


def resample(path: FloatArray, spacing: float) -> FloatArray:
    """The same polyline with points at most `spacing` apart; ends are kept."""
    hops = np.linalg.norm(np.diff(path, axis=0), axis=1)
    keep = np.concatenate([[True], hops > 1e-9])
    path, along = path[keep], np.concatenate([[0.0], np.cumsum(hops[hops > 1e-9])])
    if len(path) == 1:
        return path
    ticks = np.linspace(0.0, along[-1], max(2, int(np.ceil(along[-1] / spacing)) + 1))
    return np.stack([np.interp(ticks, along, path[:, k]) for k in range(path.shape[1])], axis=1)


def cut_corners(
    path: FloatArray, density: Density, distance: Distance, margin: float, params: AssemblyParams
) -> FloatArray:
    """The shortest way over the path's own points [n, 2] along chords the data supports.

    A chord must keep `margin` inside the support (or what the way it replaces kept, if that was less) and
    must not take longer by the temporal distance.
    """
    if len(path) < 3:
        return path
    rows, columns = np.triu_indices(len(path), k=2)
    length = np.linalg.norm(path[rows] - path[columns], axis=1)
    short = length <= params.longest_cut
    rows, columns, length = rows[short], columns[short], length[short]
    needed = np.minimum(_least_between(density.margin(path))[rows, columns], margin)
    is_open = _least_on_chords(path[rows], path[columns], density, params) >= needed - 1e-6
    is_open &= _is_no_detour(path, rows, columns, distance, params.slack)
    return path[_shortest_chain(path, rows[is_open], columns[is_open], length[is_open])]


def settle(path: FloatArray, density: Density, params: AssemblyParams) -> FloatArray:
    """Move every inner point sideways to the cheapest polyline: length, dearer where room is short."""
    if len(path) < 3:
        return path
    tangent = path[2:] - path[:-2]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    offsets = np.arange(-params.tube_width, params.tube_width + 1e-9, params.tube_step)
    inner = path[1:-1, None] + offsets[None, :, None] * normal[:, None]
    ends = np.repeat(path[[0, -1], None], len(offsets), axis=1)
    places = np.concatenate([ends[:1], inner, ends[1:]])
    return _cheapest_chain(places, _dearness(places, density, params))


def _least_between(values: FloatArray) -> FloatArray:
    """[n, n]: the least of values[i..j] for i ≤ j."""
    table = np.where(np.tri(len(values), k=-1, dtype=bool), np.inf, values[None, :])
    return np.minimum.accumulate(table, axis=1)


def _least_on_chords(
    starts: FloatArray, ends: FloatArray, density: Density, params: AssemblyParams
) -> FloatArray:
    """[c] least margin along straight chords."""
    share = np.linspace(0.0, 1.0, max(3, int(params.longest_cut / 0.4)))
    points = starts[:, None] + share[None, :, None] * (ends - starts)[:, None]
    return np.asarray(density.margin(points).min(axis=1))


def _is_no_detour(
    path: FloatArray, rows: np.ndarray, columns: np.ndarray, distance: Distance, slack: float
) -> np.ndarray:
    """[c]: the chord takes no longer than the way along the path, in steps."""
    codes = distance.encode(path)
    clock = np.concatenate([[0.0], np.cumsum(distance.between(codes[:-1], codes[1:]))])
    straight = distance.between(codes[rows], codes[columns])
    return np.asarray(straight <= slack * (clock[columns] - clock[rows]))


def _shortest_chain(path: FloatArray, rows: np.ndarray, columns: np.ndarray, length: FloatArray) -> list[int]:
    """Indices of the shortest way from the first to the last point; neighbours are always linked."""
    count = len(path)
    best = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    came = np.arange(-1, count - 1)
    order = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[order], np.arange(count + 1))
    for column in range(1, count):
        step = float(np.linalg.norm(path[column] - path[column - 1]))
        best[column], came[column] = best[column - 1] + step, column - 1
        links = order[starts[column] : starts[column + 1]]
        if len(links):
            total = best[rows[links]] + length[links]
            winner = int(np.argmin(total))
            if total[winner] < best[column]:
                best[column], came[column] = total[winner], rows[links[winner]]
    chain = [count - 1]
    while chain[-1] > 0:
        chain.append(int(came[chain[-1]]))
    return chain[::-1]


def _dearness(places: FloatArray, density: Density, params: AssemblyParams) -> FloatArray:
    """[n, o] price of a unit at each place: 1 with room to spare, infinite outside the support."""
    margin = density.margin(places)
    lack = np.maximum(0.0, 1.0 - margin / max(params.keep_margin, 1e-9))
    price = 1.0 + params.crowding * lack
    price[1:-1][margin[1:-1] <= 0] = 1e6
    return np.asarray(price)


def _cheapest_chain(places: FloatArray, price: FloatArray) -> FloatArray:
    """Viterbi over one place per row: places [n, o, 2], price [n, o] → [n, 2]."""
    total = np.zeros(places.shape[1])
    came: list[np.ndarray] = []
    for k in range(1, len(places)):
        hop = np.linalg.norm(places[k - 1][:, None] - places[k][None, :], axis=2)
        cost = total[:, None] + hop * 0.5 * (price[k - 1][:, None] + price[k][None, :])
        came.append(np.argmin(cost, axis=0))
        total = cost.min(axis=0)
    choice = [int(np.argmin(total))]
    for back in reversed(came):
        choice.append(int(back[choice[-1]]))
    return places[np.arange(len(places)), choice[::-1]]


def joined(parts: Sequence[FloatArray]) -> tuple[FloatArray, tuple[int, ...]]:
    """Legs that share their ends as one path, and the row where each leg's end lies."""
    path = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
    stops = np.cumsum([0, *(len(part) - 1 for part in parts)])
    return path, tuple(int(stop) for stop in stops)
