"""What the numbers on the pages come from: `FILE; CONDITIONS; COLUMNS` of records, with `by FIELD` a table
with a row for each value; `records/paper/SUITE; TABLE; ROW; COLUMN`, a cell of the paper's tables; `weights;
figures` and `weights; commands`, tables of the cards; `preset; ant-giant; FIELD`; and `parameters; NAMES`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from benchmarks import metrics
from benchmarks.experiments.protocol import COLUMNS
from benchmarks.metrics import complete_plans
from benchmarks.parameters import parameter_table
from benchmarks.registry import SUITES
from benchmarks.report.tables import Sheet, TextTable, by, shown
from benchmarks.run import read_records, read_trials
from benchmarks.trials import Trial
from chronoforest.errors import BadResult, InvalidParameter, UnknownName
from chronoforest.models.store import KINDS, STUDENT, Card, Stored, files_of
from chronoforest.names import PRESETS, full_name
from chronoforest.presets.named import PRESETS as NAMED
from chronoforest.presets.named import get_preset

ROOT = Path(__file__).parents[1]
Found = TypeVar("Found")
SHORT = {name: short.replace("-", " ") for short, name in PRESETS.items()}


def _first_seconds(trials: Sequence[Trial]) -> str:
    """When a complete plan was there for the first time; a dash for records that do not tell it."""
    told = [plan.first_seconds for plan in complete_plans(trials) if plan.first_seconds is not None]
    return f"{metrics.median(told):.2f}" if told else "–"


MORE: dict[str, Callable[[Sequence[Trial]], str]] = {
    "trials": lambda trials: str(len(trials)),
    "success": lambda trials: f"{100 * metrics.success(trials).value:.1f} %",
    "complete share": lambda trials: f"{100 * metrics.completeness(trials).value:.1f} %",
    "complete plans through walls": lambda trials: str(metrics.num_wall_crossings(trials)),
    "first plan s (median)": _first_seconds,
}
"""Columns that every suite has, beside those of its own tables."""


def content(source: str) -> str:
    """A number or a table, as the pages show it."""
    parts = tuple(part.strip() for part in source.split(";"))
    if parts in WEIGHTS:
        return WEIGHTS[parts]().to_pipes()
    if parts[0] == "parameters" and len(parts) == 2:
        return parameter_table(parts[1]).to_pipes()
    if len(parts) == 4:
        path, name, label, column = parts
        rows = {row.label: row.entries for row in _known("table", _sheets(path), name).rows}
        cells = {f"{row}; {c}": entry for row, entries in rows.items() for c, entry in entries.items()}
        return shown(_known("column", cells, f"{label}; {column}"))
    if len(parts) != 3:
        raise InvalidParameter(f"a source is FILE; CONDITIONS; COLUMNS, got {source!r}")
    if parts[0].endswith(".json"):  # with three digits that count
        value = json.loads((ROOT / parts[0]).read_text(encoding="utf-8"))[parts[1]][parts[2]]
        return str(round(value)) if value >= 100 else f"{value:.3g}"
    if parts[0] == "preset":  # as in `preset; ant-giant; planner.challenge.doubt`, or of `ant-giant fast`
        preset, _, mode = parts[1].partition(" ")
        chosen = get_preset(preset).fast() if mode == "fast" else get_preset(preset)
        try:
            return f"{attrgetter(parts[2])(chosen):g}"
        except AttributeError as error:
            raise InvalidParameter(f"preset {preset} has no {parts[2]}: {error}") from error
    return _figures(*parts)


def _figures(file: str, conditions: str, names: str) -> str:
    """Figures of the trials that fulfil the conditions, or a table of them."""
    wanted, columns = _conditions(conditions), [name.strip() for name in names.split(",")]
    trials = _chosen(_trials(file), wanted.conditions)
    known = {**COLUMNS.get(trials[0].case.suite, COLUMNS["stitch"]), **MORE}  # the paper's suites walk tasks
    cells = [_known("column", known, name) for name in columns]
    if wanted.rows is None:
        return ", ".join(cell(trials) for cell in cells)
    groups = by(trials, lambda trial: _field(trial, wanted.rows or ""))
    values = wanted.values or tuple(groups)  # in the order that was told or else the file's
    rows = tuple((SHORT.get(value, value), *(cell(groups[value]) for cell in cells)) for value in values)
    return TextTable("", (wanted.rows, *columns), rows).to_pipes()


def _known(kind: str, values: Mapping[str, Found], name: str) -> Found:
    """A table or a column by its name."""
    if name not in values:
        raise UnknownCell(kind, name, values)
    return values[name]


@cache
def _trials(path: str) -> tuple[Trial, ...]:
    return tuple(read_trials(ROOT / path))


class UnknownCell(UnknownName):
    """A suite or a table has no column of that name, or a suite no such table."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind = kind
        super().__init__(name, choices)


@dataclass(frozen=True)
class Wanted:
    """Which trials, and what of them makes the rows of a table; values: of the rows, in their order."""

    conditions: Mapping[str, tuple[str, ...]]
    rows: str | None
    values: tuple[str, ...]


def _conditions(text: str) -> Wanted:
    """Conditions such as `preset=ant-giant seed=0,1`, and `by preset=ant-medium,ant-large` for the rows."""
    words, rows = text.split(), None
    conditions: dict[str, tuple[str, ...]] = {}
    for before, word in zip(["", *words], words, strict=False):
        if word == "by":
            continue
        name, sign, values = word.partition("=")
        if before == "by":
            rows = name
        if sign:
            conditions[name] = tuple(full_name(value) for value in values.split(","))
    return Wanted(conditions, rows, conditions.get(rows or "", ()))


def _chosen(trials: Sequence[Trial], conditions: Mapping[str, tuple[str, ...]]) -> list[Trial]:
    """The trials whose case or choice has one of the values told for each field."""
    found = [t for t in trials if all(_field(t, name) in values for name, values in conditions.items())]
    if not found:
        raise BadResult(f"no trial has {dict(conditions)}")
    return found


def _field(trial: Trial, name: str) -> str:
    holder = trial.case if hasattr(trial.case, name) else trial.case.choice
    return str(getattr(holder, name))


@cache
def _sheets(path: str) -> dict[str, Sheet]:
    """The tables of one suite by name, from the path FOLDER/SUITE."""
    folder, _, suite = path.rpartition("/")
    trials = read_records(ROOT / folder, SUITES[suite])
    return {found.name: found for found in SUITES[suite].show(trials) if isinstance(found, Sheet)}


def _cards(kind: str) -> Iterator[tuple[str, str, Card]]:
    """Preset as a reader knows it, file and card of every model of a kind that is in the repository."""
    for name, preset in NAMED.items():
        for file in files_of(preset.weights, kind):
            yield SHORT[name], file, Stored.read(preset.weights, kind, file).card


def _card_figures() -> TextTable:
    """What held-out recordings say about each preset's own models."""
    cards = {(preset, file): card["figures"] for kind in KINDS for preset, file, card in _cards(kind)}
    rows = []
    for preset in dict.fromkeys(preset for preset, _ in cards):
        denoiser = cards[preset, "denoiser"]
        sampled = [
            f"{100 * denoiser[f'{way}_unsupported_share']:.1f} %, {100 * denoiser[f'{way}_jump_share']:.1f} %"
            for way in ("leaving", "arriving")
        ]
        rows.append(
            (
                preset,
                f"{cards[preset, 'distance']['held_out_rank_correlation']:.3f}",
                f"{denoiser['held_out_loss']:.4f}",
                *sampled,
                f"{cards[preset, 'tracker']['held_out_action_error']:.3f}",
                f"{100 * cards[preset, 'density']['held_out_unsupported_share']:.2f} %",
            )
        )
    return TextTable("", CARD_HEADER, tuple(rows))


def _card_commands() -> TextTable:
    """What made each network, and how long it took."""
    rows = [
        (preset, file, f"`{card['command']}`", f"{card['seconds']:.0f} s, {card['device']}")
        for kind in (*KINDS[1:], STUDENT)
        for preset, file, card in _cards(kind)
    ]
    return TextTable("", ("preset", "model", "command", "time, device"), tuple(sorted(rows)))


CARD_HEADER = (
    "preset",
    "distance: rank correlation with held-out steps",
    "denoiser: held-out loss",
    "leaving: unsupported frames, segments that jump",
    "arriving: unsupported frames, segments that jump",
    "tracker: held-out action error",
    "density: held-out states outside",
)

WEIGHTS = {("weights", "figures"): _card_figures, ("weights", "commands"): _card_commands}
"""Tables of the weights' cards, by their sources."""
