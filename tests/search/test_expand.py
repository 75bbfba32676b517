"""One round at a time on fakes, and small forests against stored ones.

`python tests/search/test_expand.py` writes the stored forests anew, after a change that means to.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from fakes import BLOCK, CALIBRATION, FakeModels, SquareDensity, WindDistance, scattered_problem

from chronoforest.errors import InvalidParameter
from chronoforest.search.expand import SearchParams, expand, revisit, root_leaves
from chronoforest.search.junction import EXEC_SCALE, JunctionParams
from chronoforest.search.scoring import bridge_cost
from chronoforest.search.tree import plant
from chronoforest.types import Pair, Problem, Witness

GOLDEN = Path(__file__).parent / "golden"
PARAMS = SearchParams()
PROBLEM = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]], waypoints=[[10.0, 16.0]])
LEGS = (Pair(0, 1), Pair(1, 2))


def new_search(is_reversible=True, params=PARAMS, legs=LEGS):
    distance = WindDistance() if not is_reversible else FakeModels().distance
    models = FakeModels(distance=distance, density=SquareDensity(BLOCK)).for_search()
    forest = plant(PROBLEM, models.sampler.horizon, distance, is_reversible)
    rng = np.random.default_rng(7)
    waiting = root_leaves(forest, legs)
    while True:
        found = expand(forest, legs, waiting, models, params, rng)
        waiting = found.new_leaves
        yield forest, models, found


def rounds(count, **options):
    search = new_search(**options)
    return [next(search) for _ in range(count)]


def planted(is_reversible=True):
    """A forest of bare roots and models whose sampler remembers what it was asked."""
    models = FakeModels(density=SquareDensity(BLOCK)).for_search()
    return plant(PROBLEM, models.sampler.horizon, models.distance, is_reversible), models


def grow(forest, models, pairs, waiting=(), seed=0, **params):
    """One round."""
    return expand(forest, pairs, list(waiting), models, SearchParams(**params), np.random.default_rng(seed))


def without_representatives(tree):
    tree.representatives = tree.representatives.where(np.zeros(len(tree.representatives), dtype=bool))


def cheapest_bridges(forest, tree, cost, codes):
    """What some rows of a tree bear witness to, pair by pair."""
    found = set()
    for pair, partner in forest.partners(tree):
        bridges = bridge_cost(tree, cost, codes, partner, CALIBRATION)
        row, column = np.argwhere(bridges.cost == bridges.cost.min())[0]
        found.add(Witness(pair, float(bridges.cost.min()), float(bridges.gap[row, column])))
    return found


def test_roots_look_toward_their_neighbours_on_the_route():
    forest = plant(PROBLEM, 12, FakeModels().distance, is_reversible=True)
    targets = {leaf.tree.anchor: leaf.targets.tolist() for leaf in root_leaves(forest, LEGS)}
    start, waypoint, goal = PROBLEM.anchors.tolist()
    assert targets == {0: [waypoint], 1: [start, goal], 2: [waypoint]}


def test_roots_that_have_grown_need_no_first_lookahead():
    forest, _, _ = rounds(1)[0]
    assert root_leaves(forest, LEGS) == []


def test_a_round_promotes_one_leaf_per_ordered_pair_and_each_only_once():
    """Both legs want the waypoint's root: three roots grow, not four."""
    _, _, found = rounds(1)[0]
    assert found.num_expanded == 3
    assert {leaf.tree.anchor for leaf in found.new_leaves} == {0, 1, 2}
    assert all(leaf.tree.parent[leaf.node] == 0 for leaf in found.new_leaves)


def test_new_leaves_aim_at_the_best_counterpart_node_of_every_pair_that_wanted_their_parent():
    """The goal's tree is promoted last, so its leaves see the waypoint's tree as the round leaves it."""
    forest, _, found = rounds(1)[0]
    partner = forest.outgoing[1]
    last = [leaf for leaf in found.new_leaves if leaf.tree.anchor == 2]
    assert last
    for leaf in last:
        row = slice(leaf.node, leaf.node + 1)
        best = bridge_cost(leaf.tree, leaf.tree.cost[row], leaf.tree.codes[row], partner, CALIBRATION).best
        np.testing.assert_array_equal(leaf.targets, partner.state[best])
    assert {len(leaf.targets) for leaf in found.new_leaves if leaf.tree.anchor == 1} == {2}


@pytest.mark.parametrize("is_reversible", [True, False])
def test_witnesses_are_never_below_the_true_distance_and_carry_their_gap(is_reversible):
    for forest, models, found in rounds(3, is_reversible=is_reversible):
        assert found.evidence.witnesses
        for witness in found.evidence.witnesses:
            ends = (PROBLEM.anchors[end] for end in (witness.pair.source, witness.pair.target))
            assert witness.cost >= models.distance.between(*ends) - 1e-6
            assert 0 <= witness.gap <= witness.cost + 1e-9
            assert forest.has(witness.pair)


@pytest.mark.parametrize("is_reversible", [True, False])
def test_meetings_name_frames_that_touch_and_what_the_way_over_them_costs(is_reversible):
    meetings = [(f, m, x) for f, m, e in rounds(8, is_reversible=is_reversible) for x in e.evidence.meetings]
    assert meetings
    for forest, models, meeting in meetings:
        source, target = forest.sides(meeting.pair)
        u, v = meeting.source_frame, meeting.target_frame
        gap = models.distance.between(source.frame_codes[u], target.frame_codes[v])
        np.testing.assert_allclose(meeting.gap, gap)
        np.testing.assert_allclose(meeting.cost, source.frame_cost[u] + gap + target.frame_cost[v])
        assert meeting.gap <= PARAMS.meeting_steps


def test_start_tree_only_grows_the_sources_of_the_pairs():
    forest, _, _ = rounds(3, params=SearchParams(grows_target=False), legs=(Pair(0, 2),))[-1]
    assert forest.outgoing[0].num_nodes > 1
    assert forest.outgoing[2].num_nodes == 1


def test_roots_that_a_pair_wants_to_grow_and_nobody_has_looked_ahead_from_are_looked_ahead_from():
    """Nothing waits, and both ends of the pair still look toward each other and grow."""
    forest, models = planted()
    found = grow(forest, models, (Pair(0, 2),))
    (query,) = models.sampler.queries
    start, _, goal = PROBLEM.anchors
    half = PARAMS.junction.num_samples
    np.testing.assert_array_equal(query.boundary, np.repeat([start, goal], half, axis=0))
    np.testing.assert_array_equal(query.target, np.repeat([goal, start], half, axis=0))
    assert [forest.outgoing[anchor].num_nodes > 1 for anchor in (0, 1, 2)] == [True, False, True]
    assert found.num_expanded == 2


def test_a_root_looks_toward_its_partners_root_also_when_the_partner_has_grown():
    forest, models = planted()
    grow(forest, models, (Pair(0, 1),), grows_target=False)
    assert forest.outgoing[0].num_nodes > 2
    grow(forest, models, (Pair(1, 0),), grows_target=False)
    targets = models.sampler.queries[-1].target
    np.testing.assert_array_equal(targets, np.repeat(PROBLEM.anchors[:1], len(targets), axis=0))


def test_a_root_is_looked_ahead_from_once():
    """Neither what waits already, nor what holds lookaheads, nor what two pairs want is asked for twice."""
    forest, models = planted()
    pairs = (Pair(0, 1), Pair(0, 2))
    waiting = [leaf for leaf in root_leaves(forest, LEGS) if leaf.tree.anchor == 0]
    grow(forest, models, (), waiting)
    assert len(forest.outgoing[0].representatives) > 0
    grow(forest, models, pairs, num_expand=1)
    assert [len(query) for query in models.sampler.queries] == [
        PARAMS.junction.num_samples * n for n in (1, 2)
    ]
    forest, models = planted()
    grow(forest, models, pairs, root_leaves(forest, LEGS))
    assert [len(query) for query in models.sampler.queries] == [3 * PARAMS.junction.num_samples]


@pytest.mark.parametrize("num_nodes", [2, 3])
def test_a_grown_tree_without_representatives_is_no_bare_root(num_nodes):
    forest, models = planted()
    grow(forest, models, (Pair(0, 2),))
    tree = forest.outgoing[0]
    for name in ("parent", "state", "cost", "codes"):
        setattr(tree, name, getattr(tree, name)[:num_nodes])
    without_representatives(tree)
    assert [leaf for leaf in root_leaves(forest, (Pair(0, 2),)) if leaf.tree is tree] == []
    asked = len(models.sampler.queries)
    grow(forest, models, (Pair(0, 2),), grows_target=False)
    assert len(models.sampler.queries) == asked


@pytest.mark.parametrize("is_reversible", [True, False])
def test_lookaheads_are_witnesses_before_anything_is_promoted(is_reversible):
    forest, models = planted(is_reversible)
    waiting = root_leaves(forest, LEGS)
    found = grow(forest, models, (), waiting)
    wanted = set()
    for leaf in waiting:
        held = leaf.tree.representatives
        wanted |= cheapest_bridges(forest, leaf.tree, held.cost, held.tail_codes)
    assert set(found.evidence.witnesses) == wanted
    assert (found.num_expanded, found.new_leaves) == (0, [])


def test_only_the_lookaheads_of_the_waiting_leaf_are_witnesses():
    """The same leaf again: what its tree holds elsewhere was reported when it was found."""
    forest, models = planted()
    (leaf, *_) = grow(forest, models, (Pair(0, 2),)).new_leaves
    found = grow(forest, models, (), [leaf]).evidence
    held = leaf.tree.representatives.where(leaf.tree.representatives.node == leaf.node)
    assert set(found.witnesses) == cheapest_bridges(forest, leaf.tree, held.cost, held.tail_codes)


def test_promoted_nodes_are_witnesses():
    """No leaf waits in this round, so that all it finds comes from the nodes it adds."""
    forest, models = planted()
    waiting = root_leaves(forest, LEGS)
    grow(forest, models, (), waiting)
    found = grow(forest, models, (Pair(0, 1),), grows_target=False)
    tree = forest.outgoing[0]
    assert set(found.evidence.witnesses) == cheapest_bridges(forest, tree, tree.cost[1:], tree.codes[1:])


def test_a_leaf_with_a_single_representative_is_promoted():
    forest, models = planted()
    grow(forest, models, (), root_leaves(forest, LEGS))
    tree = forest.outgoing[0]
    tree.representatives = tree.representatives.where(np.arange(len(tree.representatives)) == 0)
    assert grow(forest, models, (Pair(0, 1),), grows_target=False).num_expanded == 1
    assert tree.num_nodes == 2


def test_more_expansions_per_pair_promote_more_leaves():
    one, two = (rounds(3, params=SearchParams(num_expand=count))[-1][2] for count in (1, 2))
    assert two.num_expanded > one.num_expanded


def test_a_tree_with_nothing_left_to_promote_is_sampled_again():
    """All of a tree's representatives are taken away: its most promising node asks for new ones."""
    forest, models, _ = rounds(2)[-1]
    tree, partner = forest.outgoing[0], forest.outgoing[1]
    without_representatives(tree)
    without_representatives(partner)
    again = expand(forest, (Pair(0, 1),), [], models, PARAMS, np.random.default_rng(0))
    (leaf,) = [leaf for leaf in again.new_leaves if leaf.tree is tree]
    bridges = bridge_cost(tree, tree.cost, tree.codes, partner, CALIBRATION)
    node, counterpart = np.argwhere(bridges.cost == bridges.cost.min())[0]
    assert leaf.node == node != 0
    np.testing.assert_array_equal(leaf.targets, partner.state[[counterpart]])
    before = tree.num_nodes
    expand(forest, (Pair(0, 1),), [leaf], models, PARAMS, np.random.default_rng(0))
    assert tree.num_nodes > before


def test_revisiting_a_forest_finds_the_best_of_what_its_rounds_found():
    seen = rounds(8)
    forest, models, _ = seen[-1]
    found = [x for _, _, e in seen for x in e.evidence.meetings]
    again = revisit(forest, models, PARAMS).meetings
    for pair in {meeting.pair for meeting in found}:
        first = min(x.cost for x in found if x.pair == pair or x.pair == pair.reversed)
        second = min(x.cost for x in again if x.pair == pair or x.pair == pair.reversed)
        np.testing.assert_allclose(second, first)


def test_revisiting_takes_every_node_of_a_grown_tree_for_a_witness_and_no_bare_root():
    forest, models = planted()
    grow(forest, models, (Pair(0, 2),), grows_target=False)
    tree = forest.outgoing[0]
    assert set(revisit(forest, models, PARAMS).witnesses) == cheapest_bridges(
        forest, tree, tree.cost, tree.codes
    )


def test_a_tree_of_two_nodes_has_grown():
    forest, models = planted()
    grow(forest, models, (), root_leaves(forest, LEGS))
    tree = forest.outgoing[0]
    tree.representatives = tree.representatives.where(np.arange(len(tree.representatives)) == 0)
    grow(forest, models, (Pair(0, 1),), grows_target=False)
    assert tree.num_nodes == 2
    assert {witness.pair.source for witness in revisit(forest, models, PARAMS).witnesses} == {0}


@pytest.mark.parametrize("values", [{"num_expand": 0}, {"meeting_radius": 0.0}, {"uncertainty_weight": -0.5}])
def test_parameters_out_of_range_are_refused_with_the_value(values):
    with pytest.raises(InvalidParameter, match=str(next(iter(values.values())))):
        SearchParams(**values)


def test_parameters_at_the_edge_are_taken():
    edge = SearchParams(num_expand=1, meeting_radius=0.5, uncertainty_weight=0.0)
    assert edge.junction == JunctionParams()


def test_the_meeting_radius_counts_steps_that_the_executor_takes_for_one():
    assert SearchParams(meeting_radius=1.5).meeting_steps == pytest.approx(1.5 / EXEC_SCALE)


def test_every_frame_of_a_grown_forest_is_supported():
    forest, models, _ = rounds(8)[-1]
    for tree in forest.trees:
        assert models.density.margin(tree.frame_state).min() > 0


def as_stored(forest):
    """What identifies a forest: its structure exactly, its numbers to a millionth."""
    return [
        {
            "anchor": tree.anchor,
            "is_incoming": tree.is_incoming,
            "parent": tree.parent.tolist(),
            "state": np.round(tree.state, 6).tolist(),
            "cost": np.round(tree.cost, 6).tolist(),
            "open_leaves": tree.open_leaves().tolist(),
            "mass": tree.representatives.mass.tolist(),
        }
        for tree in forest.trees
    ]


def stored_path(is_reversible):
    return GOLDEN / f"{'reversible' if is_reversible else 'directed'}.json"


@pytest.mark.parametrize("is_reversible", [True, False])
def test_a_fixed_seed_grows_the_stored_forest(is_reversible):
    forest, _, _ = rounds(3, is_reversible=is_reversible)[-1]
    wanted = json.loads(stored_path(is_reversible).read_text())
    found = as_stored(forest)
    assert len(found) == len(wanted)
    for tree, stored in zip(found, wanted, strict=True):
        for key in ("anchor", "is_incoming", "parent", "open_leaves", "mass"):
            assert tree[key] == stored[key]
        for key in ("state", "cost"):
            np.testing.assert_allclose(tree[key], stored[key], atol=2e-6)


def test_scattered_problems_are_what_they_promise():
    """The fakes' own promise: distinct anchors with room, the same for the same numbers."""
    first, again = (scattered_problem(3, 4, BLOCK) for _ in range(2))
    np.testing.assert_array_equal(first.anchors, again.anchors)
    assert SquareDensity(BLOCK).margin(first.anchors).min() > 1.5


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for flag in (True, False):
        stored_path(flag).write_text(json.dumps(as_stored(rounds(3, is_reversible=flag)[-1][0])) + "\n")


@pytest.mark.parametrize("broken", [{"num_expand": 0}, {"meeting_radius": 0.0}, {"uncertainty_weight": -1.0}])
def test_search_parameters_out_of_range_are_refused_with_the_value(broken):
    with pytest.raises(InvalidParameter, match=str(next(iter(broken.values())))):
        SearchParams(**broken)
