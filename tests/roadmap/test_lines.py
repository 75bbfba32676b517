import numpy as np
from fakes import BLOCK, SIDE, SquareDensity
from road_cases import grid_density

from chronoforest.roadmap.lines import goes_with_traffic, keeps_room


def test_a_line_is_open_exactly_where_samples_along_it_keep_the_room():
    rng, density = np.random.default_rng(0), SquareDensity(BLOCK)
    starts, ends = rng.uniform(0.5, SIDE - 0.5, (2, 400, 2))
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    room = density.margin(starts + share * (ends - starts)).min(axis=0)
    least = np.minimum(np.minimum(density.margin(starts), density.margin(ends)), 0.2)
    is_open = keeps_room(starts, ends, density, 0.2)
    assert is_open[room >= least].all()
    # Between two looks a line may come at most half a look nearer to the edge.
    assert (room[is_open] >= least[is_open] - 0.11).all()
    assert 50 < is_open.sum() < 350


def test_a_line_from_outside_the_support_strays_no_farther_than_its_ends():
    density = SquareDensity(BLOCK)
    outside = np.array([[-0.3, 5.0], [-0.3, 5.0]])
    assert keeps_room(outside, np.array([[3.0, 5.0], [19.0, 10.0]]), density, 0.2).tolist() == [True, False]


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
