"""Tables of the worlds with one-way lanes, and of what verification refutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.directed import CONTENDERS
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

Measures = Sequence[Any]

LIMIT = 1.05
"""Times the shortest recorded way that a plan may be long."""


def strait_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """Turns found, lengths, and pieces against lanes."""
    columns: dict[str, Callable[[Measures], Entry]] = {
        "found, %": lambda found: Entry.of_share(one["is_complete"] for one in found),
        f"within {LIMIT} ×, %": lambda found: Entry.of_share(
            _ratio(one) <= LIMIT for one in _complete(found)
        ),
        "÷ shortest recorded way": lambda found: Entry.of_mean(map(_ratio, _complete(found)), digits=3),
        "pieces against a lane": lambda found: _total(_complete(found), "num_against"),
        "pieces off all lanes": lambda found: _total(_complete(found), "num_off"),
        "turns nobody makes": lambda found: _total(_complete(found), "num_unrecorded"),
        **_SECONDS,
    }
    notes = ("Every turn that ships make, and every way from a lane over a crossing to another.",)
    return [_sheet("strait", "A strait with two one-way lanes", trials, columns, notes)]


def city_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """What plans do in the city."""
    columns: dict[str, Callable[[Measures], Entry]] = {
        "complete, %": lambda found: Entry.of_share(one["is_complete"] for one in found),
        "÷ shortest recorded way": lambda found: Entry.of_mean(map(_ratio, _complete(found)), digits=3),
        "÷ shortest, with held-out trips": lambda found: _over(_complete(found), "shortest_of_all"),
        "÷ shortest that goes on through stops": lambda found: _over(_complete(found), "shortest_onward"),
        "off streets, % of the way": lambda found: _of_way(_complete(found), "off_street"),
        "against, % of the way": lambda found: _of_way(_complete(found), "against"),
        "turns": lambda found: _total(_complete(found), "num_turns"),
        "turns no trip makes": lambda found: _total(_complete(found), "num_unrecorded"),
        "K = 3: first, processor s": lambda found: _mean_of(_with_stops(found, 3), "first_work"),
        "K = 3: final, processor s": lambda found: _mean_of(_with_stops(found, 3), "work"),
        **_SECONDS,
    }
    notes = (
        "More than 20 m from a street; against every direction recorded within 20 m.",
        "The shortest way leads over what at least two trips drove, in their direction and with their turns.",
        "Nothing was learned from held-out trips, so nobody can know what only they drove.",
        "One that goes on through stops leaves each in about the direction in which it reached it.",
    )
    return [_sheet("city", "A real city from its GPS traces", trials, columns, notes)]


def verification_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """Shares of hops that are refuted."""
    kinds = ("driven", "held out", "across", "reversed")
    presets = dict.fromkeys(trial.case.preset for trial in trials)
    rows = tuple(
        Row(preset, {kind: _refuted([t for t in trials if t.case.preset == preset], kind) for kind in kinds})
        for preset in presets
    )
    notes = (
        "Driven hops are from held-out recordings; nobody goes across or in reverse.",
        "In the city three trips or more went the way of a driven hop; held-out ones may be anywhere.",
    )
    return [Sheet("verification", "Hops that are refuted, %", "", kinds, rows, notes)]


def _refuted(trials: Sequence[Trial], kind: str) -> Entry:
    own = [trial.measures for trial in trials if trial.measures.get("kind") == kind]
    is_refuted = [k < one["num_refuted"] for one in own for k in range(one["num_hops"])]
    return Entry.of_share(is_refuted)


def _sheet(
    name: str,
    title: str,
    trials: Sequence[Trial],
    columns: dict[str, Callable[[Measures], Entry]],
    notes: tuple[str, ...],
) -> Sheet:
    rows = []
    for contender in CONTENDERS:
        own = [{"is_complete": False, **t.measures} for t in trials if contender.is_of(t.case)]
        rows.append(Row(contender.label, {label: column(own) for label, column in columns.items()}))
    return Sheet(name, title, "", tuple(columns), tuple(rows), notes)


def _complete(found: Measures) -> Measures:
    return [one for one in found if one["is_complete"]]


def _ratio(one: Any) -> float:
    return float(one["length"] / one["shortest"])


def _over(found: Measures, name: str) -> Entry:
    """Length over another shortest way, where there is one; older records do not have all of them."""
    return Entry.of_mean((one["length"] / one[name] for one in found if one.get(name)), digits=3)


def _total(found: Measures, name: str) -> Entry:
    if not found:
        return Entry(None)
    return Entry.of_value(float(sum(one[name] for one in found)), len(found), digits=0)


def _with_stops(found: Measures, count: int) -> Measures:
    """Of problems with so many stops."""
    return [one for one in found if one.get("num_stops") == count]


def _mean_of(found: Measures, name: str) -> Entry:
    """The mean of a measure over complete plans; older records do not have all of them."""
    return Entry.of_mean((one[name] for one in _complete(found) if name in one), digits=2)


def _of_way(found: Measures, name: str) -> Entry:
    """Per cent of the whole way of all plans."""
    length = sum(one["length"] for one in found)
    if length == 0:
        return Entry(None)
    return Entry.of_value(100.0 * sum(one[name] for one in found) / length, len(found), digits=2)


_SECONDS: dict[str, Callable[[Measures], Entry]] = {
    "first plan, processor s": lambda found: _mean_of(found, "first_work"),
    "final plan, processor s": lambda found: _mean_of(found, "work"),
    "first plan, s": lambda found: _mean_of(found, "first_seconds"),
    "final plan, s": lambda found: _mean_of(found, "seconds"),
}
