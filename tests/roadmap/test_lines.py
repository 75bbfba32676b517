import numpy as np
from fakes import BLOCK, SIDE, SquareDensity
from road_cases import grid_density

from chronoforest.roadmap.lines import goes_with_traffic, keeps_room


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


def test_no_lines_are_no_answer():
    nothing = np.zeros((0, 2))
    assert len(keeps_room(nothing, nothing, SquareDensity(), 0.2)) == 0
    assert len(goes_with_traffic(nothing, nothing, SquareDensity(), 0.2)) == 0


def test_a_line_must_go_with_the_traffic_all_along():
    mask = np.ones((80, 40), dtype=bool)
    headings = np.zeros((4, 80, 40), dtype=bool)
    headings[0] = True
    headings[2, :20] = True
    density = grid_density(mask, headings=headings)
    west, middle, east = [2.0, 5.0], [4.0, 5.0], [15.0, 5.0]
    starts, ends = np.array([west, east, middle]), np.array([east, west, west])
    assert goes_with_traffic(starts, ends, density, 0.4).tolist() == [True, False, True]
