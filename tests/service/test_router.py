import numpy as np
import pytest
import shapely
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from town import FRAME, NETWORK, ROUTER, places, town

from chronoforest.errors import BadCheckpoint
from chronoforest.service.router import Router
from chronoforest.service.search import apart

COUNT = len(NETWORK.position)
GRAPH = csr_matrix((NETWORK.seconds, (NETWORK.source, NETWORK.target)), shape=(COUNT, COUNT))


def snapped(count, seed=0):
    return [ROUTER.snap(place) for place in FRAME.to_local(places(count, seed))]


def joins(route, network=NETWORK):
    """Whether hops follow each other, within and across legs, and begin and end in the stops' states."""
    hops = np.concatenate(route.legs)
    ends = [network.target[leg[-1]] for leg in route.legs if len(leg)]
    return (network.target[hops[:-1]] == network.source[hops[1:]]).all() and ends[-1] == route.states[-1]


def test_tables_are_dijkstras():
    states = np.random.default_rng(1).integers(0, COUNT, 40)
    single = apart(states, np.zeros(len(states)))
    seconds, length = ROUTER.search.tables(single, single)
    expected = dijkstra(GRAPH, indices=states)[:, states]
    np.testing.assert_allclose(seconds, expected, atol=1e-9)
    assert (np.isfinite(length) == np.isfinite(expected)).all()


def test_routes_are_as_long_as_tables_say():
    stops = snapped(40)
    for start, goal in zip(stops[::2], stops[1::2], strict=True):
        route = ROUTER.route([start, goal])
        seconds, length = ROUTER.table([start], [goal])
        assert (route is None) == (not np.isfinite(seconds))
        if route is not None:
            hops = route.legs[0]
            assert NETWORK.seconds[hops].sum() == pytest.approx(seconds[0, 0])
            assert NETWORK.length[hops].sum() == pytest.approx(length[0, 0])


@pytest.mark.parametrize("closed", [False, True])
def test_a_stop_is_left_in_the_state_in_which_it_was_reached(closed):
    around = ROUTER.closure([]) if closed else None
    for seed in range(20):
        route = ROUTER.route(snapped(4, seed), around)
        if route is not None:
            assert joins(route)
            assert all(
                NETWORK.source[leg[0]] == state
                for leg, state in zip(route.legs, route.states, strict=False)
                if len(leg)
            )


def test_routes_that_may_turn_at_stops_are_no_slower():
    for seed in range(10):
        stops = snapped(4, seed)
        strict, free = ROUTER.route(stops), ROUTER.route(stops, may_turn=True)
        if strict is not None:
            assert free is not None
            cost = [sum(NETWORK.seconds[leg].sum() for leg in route.legs) for route in (free, strict)]
            slack = 4 * NETWORK.reach / NETWORK.speed * len(stops)  # of the ways beside the streets
            assert cost[0] <= cost[1] + slack


def test_a_bearing_keeps_the_other_direction_out():
    for place in FRAME.to_local(places(20)):
        for bearing in (0.0, 90.0, 180.0, 270.0):
            snap = ROUTER.snap(place, bearing=(bearing, 20.0))
            if snap is not None:
                own = np.degrees(NETWORK.heading[snap.states])
                assert (np.abs((90.0 - own - bearing + 180.0) % 360.0 - 180.0) <= 20.0).all()


def test_nothing_is_snapped_beyond_the_radius():
    far = np.array([-500.0, -500.0])
    assert ROUTER.snap(far, radius=100.0) is None
    assert ROUTER.snap(far) is not None


def test_no_way_enters_a_closure():
    rng = np.random.default_rng(2)
    angles = np.linspace(0.0, 2 * np.pi, 7)[:-1]
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    polygons = [rng.uniform(0, 400, 2) + rng.uniform(3, 25) * ring for _ in range(100)]
    closure = ROUTER.closure(polygons)
    assert 0 < closure.is_open.sum() < NETWORK.num_hops
    found = 0
    for seed in range(40):
        stops = [ROUTER.snap(place, closure=closure) for place in FRAME.to_local(places(2, seed))]
        route = ROUTER.route([stop for stop in stops if stop is not None], closure) if all(stops) else None
        if route is not None and len(route.legs[0]):
            found += 1
            line = NETWORK.line(route.legs[0])
            ticks = np.linspace(0, len(line) - 1, 20 * len(line))
            dense = np.stack([np.interp(ticks, np.arange(len(line)), axis) for axis in line.T], axis=1)
            areas = [shapely.polygons(polygon) for polygon in polygons]
            assert not any(shapely.contains_xy(area, *dense.T).any() for area in areas)
    assert found


def test_a_thin_polygon_between_two_states_closes_the_hop():
    start, end = (NETWORK.position[side[0]] for side in (NETWORK.source, NETWORK.target))
    along, middle = (end - start) / np.linalg.norm(end - start), (start + end) / 2
    across = np.array([-along[1], along[0]])
    corners = [middle + 0.5 * a * along + b * across for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    closure = ROUTER.closure([np.array(corners)])
    assert not closure.is_open[0]
    assert not closure.is_closed.any()


@pytest.mark.parametrize("closed", [False, True])
def test_alternatives_are_other_routes_that_cost_little_more(closed):
    stops, closure = snapped(30), None
    if closed:
        closure = ROUTER.closure([NETWORK.position[0] + 30.0 * np.array([[-1, -1], [1, -1], [0, 1]])])
    numbers = []
    for start, goal in zip(stops[::2], stops[1::2], strict=True):
        routes = ROUTER.alternatives(start, goal, 3, closure)
        assert closure is None or all(closure.is_open[route.legs[0]].all() for route in routes)
        numbers.append(len(routes))
        cost = [NETWORK.seconds[route.legs[0]].sum() for route in routes]
        assert all(value <= ROUTER.params.stretch * cost[0] for value in cost)
        assert len({tuple(route.legs[0]) for route in routes}) == len(routes)
    assert max(numbers) > 1


def test_a_noisy_drive_is_matched_to_its_way():
    rng = np.random.default_rng(3)
    for seed in range(5):
        stops = snapped(2, seed + 7)
        route = ROUTER.route(stops)
        if route is None or len(route.legs[0]) < 20:
            continue
        line = NETWORK.line(route.legs[0])
        fixes = line[::3] + rng.normal(0.0, 2.0, (len(line[::3]), 2))
        ((rows, matched),) = ROUTER.match(fixes, np.full(len(fixes), 30.0), np.zeros(len(fixes), dtype=bool))
        assert len(rows) == len(fixes)
        shared = np.isin(np.concatenate(matched.legs), route.legs[0])
        assert shared.mean() > 0.9


def test_routers_load_as_they_were_saved(tmp_path):
    path = tmp_path / "roads.npz"
    ROUTER.save(path)
    again = Router.load(path)
    stops = snapped(10)
    np.testing.assert_array_equal(again.table(stops, stops), ROUTER.table(stops, stops))
    assert again.network.frame == FRAME
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(BadCheckpoint, match=str(path)):
        Router.load(path)


def test_towns_apart_are_not_joined():
    one = town(1)
    assert len(np.unique(one.component)) == 1
