"""How far a reader must go to follow one plan."""

import sys

from chronoforest import Problem, load_planner

MOST = 39
"""Modules; of these 25 belong to models, roadmap, types and what lies under them."""


def test_one_plan_visits_few_modules():
    planner, problem, seen = (
        load_planner("point-medium"),
        Problem([0, 0], [20, 20], [[4, 4], [16, 12]]),
        set(),
    )
    planner.plan(problem)  # the roadmap is laid by the first plan

    def note(frame, event, _):
        seen.add(frame.f_globals.get("__name__", ""))

    sys.setprofile(note)
    try:
        result = planner.plan(problem)
    finally:
        sys.setprofile(None)
    visited = sorted(name for name in seen if name.startswith("chronoforest."))
    assert result.complete
    assert len(visited) <= MOST, visited
