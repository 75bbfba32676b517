"""Table 2 and Table 7: route lengths by bin and by pair of tasks, and their ratios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import MARGINS
from benchmarks.report.sheets import Entry, Row, Sheet, by, ratio
from benchmarks.suites.hamiltonian import COMPARED
from chronoforest.bench.metrics import Estimate, is_sound
from chronoforest.bench.trials import PlanFigures, Trial
from chronoforest.report.contents import Exhibit

if TYPE_CHECKING:
    pass


BINS = (*MARGINS, "total")
SAVED = "saved against temporal-fixed, %"
RATIOS = (
    "online ÷ graph-fixed",
    SAVED,
    "online ÷ geodesic optimum",
    "its order ÷ best order",
    "pairs improved",
    "sound plans",
)

PUBLISHED: dict[int, dict[str, tuple[str, ...]]] = {
    1: {
        "high": ("174.0", "193.7", "172.8"),
        "medium": ("167.6", "175.6", "164.9"),
        "low": ("175.0", "176.2", "172.9"),
        "total": ("172.2", "181.8", "170.2"),
    },
    2: {
        "high": ("216.0", "236.6", "212.5"),
        "medium": ("213.3", "226.0", "206.4"),
        "low": ("219.6", "225.4", "211.5"),
        "total": ("216.3", "229.3", "210.1"),
    },
}
"""Table 2: units by number of agents, bin and variant."""

PUBLISHED_PAIRS: dict[str, tuple[str, ...]] = {
    "1-2": ("226.3", "229.2", "218.4", "1.3"),
    "1-3": ("234.9", "253.2", "233.4", "7.2"),
    "1-4": ("237.5", "256.5", "232.6", "7.4"),
    "1-5": ("204.3", "216.2", "198.4", "5.5"),
    "2-3": ("230.9", "246.7", "221.4", "6.4"),
    "2-4": ("224.5", "236.7", "219.4", "5.2"),
    "2-5": ("189.8", "197.0", "181.8", "3.7"),
    "3-4": ("228.9", "239.1", "225.1", "4.3"),
    "3-5": ("201.2", "218.3", "193.6", "7.8"),
    "4-5": ("184.6", "200.4", "177.0", "7.9"),
    "total": ("216.3", "229.3", "210.1", "5.7"),
}
"""Table 7: units of the three variants, and per cent saved against temporal-fixed."""

PUBLISHED_RATIOS = {1: ("1.012", "5.3"), 2: ("1.030", "5.7")}
"""Online ÷ graph-fixed and per cent saved, by number of agents, from the totals of Table 2."""


@dataclass(frozen=True)
class Group:
    """One instance under all variants: means over the repeats in which every variant found a sound plan."""

    agents: int
    team: str
    margin: str
    lengths: tuple[float, ...]
    geodesic: float
    order_lengths: tuple[float, ...]


def matched_groups(trials: Sequence[Trial], variants: Sequence[str] = COMPARED) -> list[Group]:
    """The instances that all variants solved, each counted once however often it was repeated."""
    found: dict[str, dict[int, dict[str, PlanFigures]]] = {}
    sizes: dict[str, int] = {}
    for trial in trials:
        case = trial.case
        if trial.plan is not None and is_sound(trial.plan):
            sizes[case.instance] = case.num_agents
            repeats = found.setdefault(case.instance, {})
            repeats.setdefault(case.episode, {})[case.variant] = trial.plan
    groups = (_group(name, sizes[name], list(found[name].values()), variants) for name in found)
    return [group for group in groups if group is not None]


def _group(
    name: str, agents: int, repeats: Sequence[dict[str, PlanFigures]], variants: Sequence[str]
) -> Group | None:
    whole = [[plans[variant] for variant in variants] for plans in repeats if {*variants} <= {*plans}]
    if not whole:
        return None
    *team, margin, _ = name.split("-")
    lengths = np.mean([[plan.length for plan in plans] for plans in whole], axis=0)
    orders = np.mean([[plan.order_length for plan in plans] for plans in whole], axis=0)
    return Group(agents, "-".join(team), margin, tuple(lengths), whole[0][0].geodesic, tuple(orders))


def length_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """Per distance: lengths by bin, by pair, and the ratios that the comparison is about."""
    return [
        sheet
        for distance, some in by(trials, lambda trial: trial.case.choice.distance).items()
        for sheet in _sheets(distance, matched_groups(some), _completeness(some))
    ]


def _sheets(distance: str, groups: Sequence[Group], complete: Row) -> Iterator[Sheet]:
    whose = "our distance" if distance == "own" else f"the {distance}'s distance"
    notes = (
        f"Instances and plans with {whose}; only those that every variant solved, repeats averaged first.",
        "Graph-fixed is privileged: its order is solved on the maze's grid.",
    )
    for agents in (1, 2):
        own = [group for group in groups if group.agents == agents]
        title = f"Route length, M = {agents}, {whose}"
        rows = tuple(_bin_row(own, margin, PUBLISHED[agents][margin]) for margin in BINS)
        yield Sheet(f"hamiltonian-{distance}-{agents}", title, "Table 2", COMPARED, rows, notes)
    double = [group for group in groups if group.agents == 2]
    pairs = tuple(_pair_row(double, team, printed) for team, printed in PUBLISHED_PAIRS.items())
    columns = (*COMPARED, SAVED)
    yield Sheet(f"hamiltonian-{distance}-pairs", f"Task pairs, {whose}", "Table 7", columns, pairs, notes)
    ratios = (*(_ratio_row(groups, agents) for agents in (1, 2)), complete)
    yield Sheet(
        f"hamiltonian-{distance}-ratios",
        f"Online against the fixed orders, {whose}",
        "Table 2, Table 7",
        RATIOS,
        ratios,
        (*notes, "The geodesic optimum is that of the best order, any angle, clearance 1.0."),
    )


def _bin_row(groups: Sequence[Group], margin: str, published: Sequence[str]) -> Row:
    some = [group for group in groups if margin in (group.margin, "total")]
    return Row(margin, _length_entries(some, published))


def _pair_row(groups: Sequence[Group], team: str, published: Sequence[str]) -> Row:
    some = [group for group in groups if team in (group.team, "total")]
    return Row(team, {**_length_entries(some, published[:3]), SAVED: _saved(some, published[3])})


def _length_entries(groups: Sequence[Group], published: Sequence[str]) -> dict[str, Entry]:
    return {
        variant: Entry.of_mean((group.lengths[k] for group in groups), published[k])
        for k, variant in enumerate(COMPARED)
    }


def _saved(groups: Sequence[Group], published: str = "") -> Entry:
    """Per cent by which online is shorter than temporal-fixed."""
    if not groups:
        return Entry.only_published(published)
    found = ratio([group.lengths[0] for group in groups], [group.lengths[1] for group in groups])
    saved = Estimate(100 * (1 - found.value), 100 * (1 - found.high), 100 * (1 - found.low))
    return Entry(saved, len(groups), published)


def _ratio_row(groups: Sequence[Group], agents: int) -> Row:
    own = [group for group in groups if group.agents == agents]
    online, _, graph = ([group.lengths[k] for group in own] for k in range(3))
    printed, saved = PUBLISHED_RATIOS[agents]
    entries = {
        RATIOS[0]: Entry.of_ratio(online, graph, printed),
        RATIOS[1]: _saved(own, saved),
        RATIOS[2]: Entry.of_mean((g.lengths[0] / g.geodesic for g in own), digits=3),
        RATIOS[3]: Entry.of_mean((g.order_lengths[0] / g.geodesic for g in own), digits=3),
    }
    if agents == 2:
        entries[RATIOS[4]] = _improved(own)
    return Row(f"M = {agents}", entries)


def _improved(groups: Sequence[Group]) -> Entry:
    """The pairs on which online is shorter than temporal-fixed, in the mean."""
    teams: dict[str, list[Group]] = {}
    for group in groups:
        teams.setdefault(group.team, []).append(group)
    is_better = [sum(g.lengths[0] - g.lengths[1] for g in some) < 0 for some in teams.values()]
    return Entry.of_share(is_better, "10 of 10")


def _completeness(trials: Sequence[Trial]) -> Row:
    is_good = (trial.plan is not None and is_sound(trial.plan) for trial in trials)
    return Row("all trials", {RATIOS[5]: Entry.of_share(is_good)})
