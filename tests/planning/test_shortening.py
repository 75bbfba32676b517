"""Shortening against every way there is, on paths short enough to try them all."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from fakes import BLOCK, EuclideanDistance, SquareDensity

from chronoforest.errors import InvalidParameter
from chronoforest.planning.shortening import (
    CROWDING,
    SLACK,
    AssemblyParams,
    cut_corners,
    settle,
    shorten_all,
)
from chronoforest.roadmap.straight import finely
from chronoforest.types import path_length

PARAMS = AssemblyParams()
DISTANCE = EuclideanDistance()


def unit_price(room, params=PARAMS):
    """1 with enough room, 1 + CROWDING at the edge, in between in proportion."""
    return 1.0 + CROWDING * np.clip(1.0 - room / params.keep_margin, 0.0, None)


class Clock(EuclideanDistance):
    """Where x is beyond 5, everything takes three times as long."""

    def between(self, source, target):
        slow = np.maximum(source[..., 0], target[..., 0]) > 5.0
        return super().between(source, target) * np.where(slow, 3.0, 1.0)


def chord_price(path, first, last, density, distance, params):
    """What the chord between two points of a path costs; infinite where it may not be taken."""
    start, end = path[first], path[last]
    length = np.linalg.norm(end - start)
    num_places = max(3, int(params.longest_cut / (1.6 * params.spacing)))
    room = density.margin(np.linspace(start, end, num_places))
    price = length * unit_price(room, params).mean()
    if last == first + 1:
        return price
    needed = min(density.margin(path[first : last + 1]).min(), params.edge)
    clock = sum(distance.between(a, b) for a, b in pairwise(path[first : last + 1]))
    is_allowed = (
        length <= params.longest_cut
        and room.min() >= needed - 1e-6
        and distance.between(start, end) <= SLACK * clock
    )
    return price if is_allowed else np.inf


def cheapest_by_trying_all(path, density, distance, params):
    inner = range(1, len(path) - 1)
    ways = [
        (0, *some, len(path) - 1) for count in range(len(path) - 1) for some in combinations(inner, count)
    ]
    return min(
        ways,
        key=lambda way: sum(chord_price(path, a, b, density, distance, params) for a, b in pairwise(way)),
    )


@pytest.mark.parametrize("distance", [DISTANCE, Clock()], ids=["even", "slow beyond"])
@pytest.mark.parametrize("longest_cut", [4.0, 16.0])
@pytest.mark.parametrize("seed", range(6))
def test_cut_corners_is_the_cheapest_of_all_ways_over_the_paths_points(seed, longest_cut, distance):
    """A walk round the corner of the block, some of its points hardly inside the support."""
    rng = np.random.default_rng(seed)
    density, params = SquareDensity(BLOCK), AssemblyParams(longest_cut=longest_cut)
    xs, ys = [5.0, 6.9, 6.5, 6.0, 8.0, 10.0, 12.0], [8.0, 10.0, 12.0, 14.0, 13.1, 14.0, 13.2]
    corners = np.stack([xs, ys], axis=1)
    path = corners + rng.uniform(-0.6, 0.6, corners.shape)
    path[density.margin(path) <= 0] += [-0.7, 0.7]
    (chosen,) = cut_corners([path], density, distance, params)
    best = cheapest_by_trying_all(path, density, distance, params)
    np.testing.assert_array_equal(chosen, path[list(best)])


@pytest.mark.parametrize(("longest_cut", "num_points"), [(2.0, 2), (1.9, 3)])
def test_a_cut_may_be_as_long_as_the_longest(longest_cut, num_points):
    path = np.array([[5.0, 5.0], [6.0, 6.0], [7.0, 5.0]])
    params = AssemblyParams(longest_cut=longest_cut)
    assert len(cut_corners([path], SquareDensity(), DISTANCE, params)[0]) == num_points


def test_a_thin_wall_is_not_overlooked():
    path = np.array([[5.0, 2.0], [7.0, 6.0], [9.0, 2.0]])
    thin = SquareDensity(((6.85, -1.0), (7.15, 5.0)))
    assert len(cut_corners([path], thin, DISTANCE, PARAMS)[0]) == 3
    assert len(cut_corners([path], SquareDensity(), DISTANCE, PARAMS)[0]) == 2


@pytest.mark.parametrize(("steps", "num_points"), [(21.9, 2), (22.1, 3)])
def test_a_cut_may_take_a_tenth_longer_than_the_way_it_replaces(steps, num_points):
    class Timed(EuclideanDistance):
        """Ten steps from each point to the next, and so many for the cut."""

        def between(self, source, target):
            return np.where(np.abs(source - target).max(axis=-1) > 1.5, steps, 10.0)

    path = np.array([[5.0, 5.0], [6.0, 6.0], [7.0, 5.0]])
    assert len(cut_corners([path], SquareDensity(), Timed(), PARAMS)[0]) == num_points
    longer, short_cuts = np.concatenate([[[4.0, 5.0]], path]), AssemblyParams(longest_cut=2.5)
    assert len(cut_corners([longer], SquareDensity(), Timed(), short_cuts)[0]) == num_points + 1


@pytest.mark.parametrize(("edge", "num_points"), [(0.4, 2), (0.5, 2), (0.6, 3)])
def test_a_cut_leaves_the_room_that_every_cut_must_leave(edge, num_points):
    """The chord runs half a unit above a block; the way over it keeps more."""
    path = np.array([[5.0, 1.5], [6.5, 3.0], [8.0, 1.5]])
    density = SquareDensity(((6.0, -1.0), (7.0, 1.0)))
    params = AssemblyParams(edge=edge, keep_margin=0.1)
    assert len(cut_corners([path], density, DISTANCE, params)[0]) == num_points


def test_a_cut_may_leave_an_anchor_that_lies_outside_the_support():
    path = np.array([[5.0, -0.3], [6.5, 1.5], [8.0, 2.0]])
    (cut,) = cut_corners([path], SquareDensity(), DISTANCE, AssemblyParams(keep_margin=100.0))
    np.testing.assert_array_equal(cut, path[[0, 2]])


def test_a_cut_further_on_is_not_excused_by_an_anchor_outside_the_support():
    """The chord from the second to the last point grazes a block, which the way over the third does not."""
    path = np.array([[5.0, -0.3], [5.0, 1.5], [6.5, 3.0], [8.0, 1.5]])
    density = SquareDensity(((6.0, -1.0), (7.0, 1.4)))
    (cut,) = cut_corners([path], density, DISTANCE, AssemblyParams(keep_margin=100.0))
    np.testing.assert_array_equal(cut, path[[0, 2, 3]])


def test_where_directions_count_a_way_is_pulled_tight_within_its_room_and_no_corner_is_cut():
    path = np.array([[5.0, 5.0], [10.0, 5.0], [10.0, 10.0]])
    (tight,) = shorten_all([path], SquareDensity(is_one_way=True), DISTANCE, PARAMS)
    (cut,) = shorten_all([path], SquareDensity(), DISTANCE, PARAMS)
    np.testing.assert_array_equal(tight[[0, -1]], path[[0, -1]])
    assert np.linalg.norm(tight[:, None] - finely(path, 0.05), axis=-1).min(axis=1).max() <= PARAMS.edge
    assert path_length(cut) < 9.0 < path_length(tight) < path_length(path)


def settled_by_trying_all(path, density, params):
    """Every inner point moved sideways by every offset of the tube; the cheapest polyline."""
    offsets = np.arange(-params.tube_width, params.tube_width + 1e-9, params.tube_step)
    choices = [path[:1]]
    for before, here, after in zip(path, path[1:], path[2:], strict=False):
        east, north = (after - before) / np.linalg.norm(after - before)
        choices.append(np.array([here + offset * np.array([-north, east]) for offset in offsets]))
    choices.append(path[-1:])

    def price(places):
        room = density.margin(np.array(places))
        if (room[1:-1] <= 0).any():
            return np.inf
        each = unit_price(room, params)
        hops = np.linalg.norm(np.diff(np.array(places), axis=0), axis=1)
        return float((hops * (each[:-1] + each[1:]) / 2).sum())

    return np.array(min(product(*choices), key=price))


@pytest.mark.parametrize("count", [3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_settling_is_the_cheapest_of_all_sideways_moves(seed, count):
    rng = np.random.default_rng(seed)
    density, params = SquareDensity(BLOCK), AssemblyParams(tube_width=0.6, tube_step=0.3)
    along_the_block = np.array([[6.5, 9.0], [6.6, 10.0], [6.3, 11.0], [6.5, 12.0], [6.6, 13.0]])
    path = along_the_block[:count] + rng.uniform(-0.4, 0.4, (count, 2))
    np.testing.assert_allclose(
        settle([path], density, params)[0], settled_by_trying_all(path, density, params)
    )


@pytest.mark.parametrize("top", [5.0, 5.25])
def test_no_point_settles_outside_the_support_or_on_its_edge(top):
    """Room is so dear everywhere that only the ban keeps the middle from staying where it is."""
    path = np.array([[5.0, 5.0], [6.0, 5.0], [7.0, 5.0]])
    density = SquareDensity(((5.5, 3.0), (6.5, top)))
    (settled,) = settle([path], density, AssemblyParams(keep_margin=100.0))
    assert density.margin(settled[1]) > 0


@pytest.mark.parametrize("name", ["spacing", "keep_margin", "tube_step", "longest_cut"])
def test_sizes_must_be_positive(name):
    with pytest.raises(InvalidParameter, match="got"):
        AssemblyParams(**{name: 0.0})
    AssemblyParams(**{name: 0.5})


def test_a_filled_path_has_the_same_corners():
    path = np.array([[1.0, 1.0], [1.0, 3.1], [1.0, 3.1], [4.0, 3.1]])
    kept = finely(path, PARAMS.spacing)
    hops = np.linalg.norm(np.diff(kept, axis=0), axis=1)
    np.testing.assert_allclose(kept[[0, 9, -1]], path[[0, 1, 3]])
    assert 0 < hops.min() <= hops.max() <= PARAMS.spacing + 1e-9
    assert hops.sum() == pytest.approx(5.1)


def test_many_ways_are_shortened_as_each_alone_would_be():
    """Ways of different lengths, two of them with nothing to cut, more than are taken at once."""
    rng, density = np.random.default_rng(0), SquareDensity(BLOCK)
    bent = [rng.uniform(1.0, 5.0, (count, 2)) for count in (3, 9, 5, 7, 4) * 4]
    ways = [*bent, np.array([[1.0, 1.0], [1.2, 1.0]]), np.array([[2.0, 2.0], [2.0, 2.0]])]
    for way, found in zip(ways, shorten_all(ways, density, DISTANCE, PARAMS), strict=True):
        np.testing.assert_array_equal(found, shorten_all([way], density, DISTANCE, PARAMS)[0])
    assert shorten_all([], density, DISTANCE, PARAMS) == []
