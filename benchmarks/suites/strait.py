"""Our own directed trial: every turn that ships make in a strait with two one-way lanes is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.suites.directed import CONTENDERS, about, plan
from benchmarks.worlds.lanes import turn_chains
from benchmarks.worlds.strait import STRAIT
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.errors import InvalidParameter
from chronoforest.types import Problem, path_length

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "strait"
EPISODES = 3
"""Problems of every turn: the farther apart start and goal lie, the later they are asked for."""


def cases(request: Request) -> list[Case]:
    """Every recorded turn, and every way from a lane over a crossing to another, for every contender."""
    return [
        contender.case("strait", PRESET, instance=">".join(chain), episode=episode)
        for contender in CONTENDERS
        for episode in range(request.episodes or EPISODES)
        for chain in turn_chains(STRAIT)
    ]


def plan_turn(case: Case, planner: PresetPlanner) -> Trial:
    """Plan from one link to another and look at the lanes."""
    names = case.instance.split(">")
    if len(names) < 3 or any(name not in STRAIT.places for name in names):
        raise InvalidParameter(f"a turn is told by three places or more, as e0>e1>w3, got {case.instance!r}")
    start = (names[0], names[1]), 0.4 - 0.1 * case.episode
    end = (names[-2], names[-1]), 0.6 + 0.1 * case.episode
    way = STRAIT.shortest(start, end)
    timed = plan(case, planner, Problem([STRAIT.place(start)], [STRAIT.place(end)]))
    result, measures = timed.result, about(timed, path_length(way) if way is not None else float("inf"))
    path = result.routes[0].path
    if result.complete:
        verdict = STRAIT.judge(path)
        measures |= {
            "num_pieces": verdict.num_pieces,
            "num_against": verdict.num_against,
            "num_off": verdict.num_off,
            "num_unrecorded": len(STRAIT.unrecorded_turns(path)),
        }
    return Trial(case, plan=None, measures=measures)


SUITE = Suite("strait", "one-way lanes, crossings and T-junctions", cases, plan_turn, seconds=1.0)
