"""Our own directed trial: every turn that ships make in a strait with two one-way lanes is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.case import Case
from benchmarks.experiments.directed import WayFigures, over, timed_plan, total, ways_sheet
from benchmarks.report.tables import Entry, Sheet
from benchmarks.suite import CONTENDERS, Request, Suite
from benchmarks.trials import Trial
from benchmarks.worlds.lanes import turn_chains
from benchmarks.worlds.strait import STRAIT
from chronoforest.errors import InvalidParameter
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import Problem, path_length

PRESET = "strait"
EPISODES = 3  # problems of every turn: the farther apart start and goal lie, the later they are asked for
LIMIT = 1.05  # times the shortest recorded way that a plan may be long


@dataclass(frozen=True, kw_only=True)
class StraitFigures(WayFigures):
    """A plan in the strait: its pieces, those against a lane and those off all lanes, and changes from
    lane to lane that no ship makes; only of complete plans."""

    num_pieces: int = 0
    num_against: int = 0
    num_off: int = 0
    num_unrecorded: int = 0


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
        raise InvalidParameter(f"a turn is three places or more, as e0>e1>w3, got {case.instance!r}")
    start = (names[0], names[1]), 0.4 - 0.1 * case.episode
    end = (names[-2], names[-1]), 0.6 + 0.1 * case.episode
    way = STRAIT.shortest(start, end)
    result, known = timed_plan(case, planner, Problem([STRAIT.place(start)], [STRAIT.place(end)]))
    known["shortest"] = path_length(way) if way is not None else float("inf")
    if result.complete:
        path = result.routes[0].path
        changes = STRAIT.unrecorded_changes(path, start[0], end[0])
        known |= {**asdict(STRAIT.judge(path)), "num_unrecorded": len(changes)}
    return Trial(case, plan=None, figures=StraitFigures(**known))


def strait_table(trials: Sequence[Trial]) -> list[Sheet]:
    """Turns found, lengths, and pieces against lanes."""
    notes = ("Every turn that ships make, and every way from a lane over a crossing to another.",)
    columns = {
        f"within {LIMIT} ×, %": lambda found: Entry.of_share(
            one.length <= LIMIT * one.shortest for one in found
        ),
        "÷ shortest recorded way": lambda found: over(found, "shortest"),
        "pieces against a lane": lambda found: total(found, "num_against"),
        "pieces off all lanes": lambda found: total(found, "num_off"),
        "changes no ship makes": lambda found: total(found, "num_unrecorded"),
        "plans with one, %": lambda found: Entry.of_share(one.num_unrecorded > 0 for one in found),
    }
    return [ways_sheet("strait", "A strait with two one-way lanes", trials, StraitFigures, columns, notes)]


SUITE = Suite(
    "strait",
    "one-way lanes, crossings and T-junctions",
    cases,
    plan_turn,
    strait_table,
    figures=(StraitFigures,),
)
