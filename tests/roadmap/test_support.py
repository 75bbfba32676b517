"""Roadmaps over a support: places in it, and hops along lines that stay inside it."""

import numpy as np
import pytest
from fakes import BLOCK, CALIBRATION, SIDE, SPEED, EuclideanDistance, SquareDensity, WindDistance
from road_cases import EDGE, gate_road, grid_density, ground, square_road, support_of, ways_between

from chronoforest.roadmap.support import SupportParams, keeps_room, roadmap_of_support
from chronoforest.types import Pair


class Lucky(EuclideanDistance):
    """A portal near the origin makes everything there look near."""

    def between(self, source, target):
        steps = super().between(source, target)
        return np.where(np.linalg.norm(source, axis=-1) < 6.0, 0.1 * steps, steps)


def lines(road):
    return road.position[road.hops.source], road.position[road.hops.target]


def lengths(road):
    starts, ends = lines(road)
    return np.linalg.norm(ends - starts, axis=1)


def test_hops_stay_inside_the_support_within_reach_and_trust():
    road, known = square_road()
    assert (known.density.margin(road.position) > 0).all()
    starts, ends = lines(road)
    for share in np.linspace(0.0, 1.0, 50):
        assert (known.density.margin(starts + share * (ends - starts)) > 0).all()
    params = SupportParams()
    assert (lengths(road) <= params.reach * params.spacing * EDGE + 1e-9).all()
    trusted = params.trusted * CALIBRATION.local_window
    assert (CALIBRATION.local_ratios[0] * lengths(road) / SPEED <= trusted).all()


def test_no_recording_made_a_hop_and_states_are_positions():
    road, _ = square_road()
    assert not road.has_recorded_hops
    assert road.space.angle is None
    way = ways_between(road, [[3.0, 3.0], [17.0, 3.0]]).way(Pair(0, 1))
    assert (way.is_recorded, way.took) == (False, None)


@pytest.mark.parametrize("distance", [EuclideanDistance(), Lucky()])
def test_a_hop_takes_the_usual_pace_and_luck_makes_none_cheaper(distance):
    road, _ = square_road(distance=distance)
    np.testing.assert_allclose(road.hops.steps, lengths(road) / SPEED, rtol=1e-3)
    assert road.pace == pytest.approx(1 / SPEED, rel=1e-3)


def test_a_hop_against_the_wind_costs_more_than_the_way_back():
    road, _ = square_road(distance=WindDistance())
    starts, ends = lines(road)
    pace, heading = road.hops.steps / lengths(road), (ends - starts)[:, 0] / lengths(road)
    assert np.median(pace[heading < -0.9]) > 1.3 * np.median(pace[heading > 0.9])


def test_what_the_distance_cannot_mean_to_be_near_is_no_hop():
    class TwoRooms(EuclideanDistance):
        def between(self, source, target):
            is_across = (source[..., 0] < 10) != (target[..., 0] < 10)
            return super().between(source, target) + 100.0 * is_across

    road, _ = square_road(block=None, distance=TwoRooms())
    starts, ends = lines(road)
    assert ((starts[:, 0] < 10) == (ends[:, 0] < 10)).all()


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_gate_of_a_few_cells_is_found(width):
    road, _ = gate_road(width)
    assert len(np.unique(road.parts)) == 1


def test_a_narrow_street_with_curves_holds_together_where_a_step_is_longer_than_they_are():
    """Driven both ways, 1 unit wide, with a bend every 6 units; vehicles cover 12 in a step."""
    x, y = np.meshgrid(np.arange(0, 60, 0.1), np.arange(0, 12, 0.1), indexing="ij")
    density = grid_density(np.abs(y - 6.0 - 3.0 * np.sin(x / 2.0)) < 1.2, cell=0.1)
    road = roadmap_of_support(support_of(density), ground(density, step_length=12.0))
    ends = [[2.0, 6.0 + 3.0 * np.sin(1.0)], [58.0, 6.0 + 3.0 * np.sin(29.0)]]
    assert np.isfinite(ways_between(road, ends).cost).all()


def test_an_anchor_is_joined_to_what_it_sees_on_its_side_of_a_thin_wall():
    mask = np.zeros((60, 60), dtype=bool)
    mask[4:56, 4:56] = True
    mask[4:50, 30:32] = False
    density = grid_density(mask)
    road = roadmap_of_support(support_of(density), ground(density))
    doors = road.doors(np.array([[4.0, 7.0]]))
    assert len(doors.place) > 3
    assert (road.position[doors.place, 1] < 7.5).all()


def test_a_line_is_open_exactly_where_samples_along_it_keep_the_room():
    rng, density = np.random.default_rng(0), SquareDensity(BLOCK)
    starts, ends = rng.uniform(0.5, SIDE - 0.5, (2, 600, 2))
    is_inside = (density.margin(starts) > 0) & (density.margin(ends) > 0)
    starts, ends = starts[is_inside], ends[is_inside]
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    room = density.margin(starts + share * (ends - starts)).min(axis=0)
    least = np.minimum(np.minimum(density.margin(starts), density.margin(ends)), 0.2)
    is_open = keeps_room(starts, ends, density, 0.2)
    assert is_open[room >= least].all()
    # Between two looks a line may come at most half a look nearer to the edge.
    assert (room[is_open] >= least[is_open] - 0.11).all()
    assert 50 < is_open.sum() < len(is_open) - 50


def test_a_line_from_outside_the_support_leads_in_by_about_the_shortest_way():
    density = SquareDensity(BLOCK)
    ends = np.array([[3.0, 5.0], [1.0, 6.5], [1.0, 9.0], [19.0, 10.0]])
    outside = np.tile([-0.9, 5.0], (4, 1))
    assert keeps_room(outside, ends, density, 0.2).tolist() == [True, True, False, False]
    assert keeps_room(ends, outside, density, 0.2).tolist() == [True, True, False, False]


def test_a_line_does_not_cross_what_nobody_recorded_because_one_end_lies_outside():
    density = SquareDensity(((9.5, 0.0), (10.5, SIDE)))
    outside, across = np.array([[-0.6, 5.0]]), np.array([[12.0, 5.0]])
    assert not keeps_room(outside, across, density, 0.2).any()
    assert keeps_room(outside, np.array([[9.0, 5.0]]), density, 0.2).all()
