"""Hops of a row of three places that four recordings pass."""

import numpy as np

from chronoforest.roadmap.states import Cover, Samples, StateSpace
from chronoforest.roadmap.transitions import HopParams, Passes, transitions_of

SPACE = StateSpace(("x", "y", "heading_x", "heading_y"), 10.0, 30.0)
NUM_TRIPS = 4


def hops(*passes):
    """The hops, by their ends and what they cost, of passes that every recording makes: source, target and
    units that these lie farther off it at one end than at the other."""
    place = np.tile(np.arange(3), NUM_TRIPS)
    owner = np.repeat(np.arange(NUM_TRIPS), 3)
    position = 10.0 * np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    heading = np.tile([1.0, 0.0], (3, 1))
    samples = Samples(position[place], heading[place], place.astype(float), owner, owner)
    source, target, aside = np.repeat(passes, NUM_TRIPS, axis=0).T
    made = Passes(
        source.astype(np.int64),
        target.astype(np.int64),
        np.tile(np.arange(NUM_TRIPS), len(passes)),
        np.ones(len(source)),
        aside.astype(float),
    )
    found = transitions_of(samples, Cover(position, heading, place), SPACE, made, HopParams())
    ends = zip(found.source.tolist(), found.target.tolist(), strict=True)
    return dict(zip(ends, found.cost.tolist(), strict=True))


def test_a_hop_against_the_headings_of_its_ends_is_noise():
    assert hops((0, 1, 0), (1, 2, 0), (2, 1, 0)) == {(0, 1): 10.0, (1, 2): 10.0}


def test_a_hop_far_off_its_recordings_stays_only_where_no_other_leads_on_and_costs_more():
    dear = 10.0 * HopParams().last_factor
    assert hops((0, 1, 0), (1, 2, 50)) == {(0, 1): 10.0, (1, 2): dear}
    assert hops((0, 1, 0), (1, 2, 0), (0, 2, 50)) == {(0, 1): 10.0, (1, 2): 10.0}
