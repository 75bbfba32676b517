"""Whatever is asked, the planner plans or says why not."""

import numpy as np
from damage import cases, ends_well, numbers, odd
from fakes import BLOCK, SIDE, make_planner
from hypothesis import given
from hypothesis import strategies as st

from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds
from chronoforest.types import Problem

PLANNER = make_planner(BLOCK, max_rounds=1, rounds_per_leg=1)

inside = st.floats(0.0, SIDE)
near = st.sampled_from([3.0, 3.0 + 1e-9, 3.0 + 1e-6, 3.0001])
coordinates = st.one_of(inside, inside, inside, numbers, near)
points = st.lists(st.lists(coordinates, min_size=2, max_size=2), max_size=3)
sound = st.tuples(inside, inside)
asked = st.one_of(points, points, odd)
names = st.sampled_from(["S1", "S2", "W1", "W2", "G1", "G2", "X", 3])
options = st.fixed_dictionaries(
    {},
    optional={
        "seed": st.one_of(st.integers(0, 3), odd),
        "variant": st.sampled_from(["online", "temporal-fixed", "graph-fixed", "l2", "", None]),
        "order": st.one_of(st.none(), odd, st.lists(st.lists(names, max_size=4), max_size=2)),
        "stop": st.tuples(st.sampled_from([MaxRounds, MaxSeconds, MaxExpansions]), st.one_of(numbers, odd)),
    },
)


@st.composite
def questions(draw):
    """Mostly sound problems, so that most get past the first check."""
    if draw(st.integers(0, 3)):
        return draw(asked), draw(asked), draw(asked)
    num_agents = draw(st.integers(1, 2))
    exactly = st.lists(sound, min_size=num_agents, max_size=num_agents)
    return draw(exactly), draw(exactly), draw(st.lists(sound, max_size=2))


def ask(question, options):
    options = dict(options)
    if "stop" in options:
        make, value = options["stop"]
        options["stop"] = make(value)
        if not isinstance(options["stop"], MaxRounds):
            options["stop"] = None
        elif options["stop"].count > 1:
            options["stop"] = MaxRounds(1)
    return PLANNER.plan(Problem(*question), **options)


@cases(400)
@given(questions(), options)
def test_a_problem_is_planned_or_refused(question, options):
    result = ends_well(ask, question, options)
    if result is not None:
        assert np.isfinite(result.length)
        assert all(np.isfinite(route.path).all() for route in result.routes)
