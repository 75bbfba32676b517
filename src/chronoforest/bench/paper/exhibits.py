"""What a suite shows: tables of figures with the published ones beside them, charts and pictures of routes.

Only values; `chronoforest.report` draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from chronoforest.bench.metrics import Estimate, mean, wilson
from chronoforest.bench.trials import Trial
from chronoforest.types import FloatArray, Problem, Support


@dataclass(frozen=True)
class Entry:
    """One figure: ours over so many trials, and the paper's as it is printed there ("" where it has none)."""

    ours: Estimate | None
    num_trials: int = 0
    published: str = ""
    digits: int = 1
    is_share: bool = False

    @classmethod
    def of_mean(cls, values: Iterable[float], published: str = "", digits: int = 1) -> Entry:
        """A mean with Student's interval; without values there is no figure."""
        data = list(values)
        return cls(mean(data) if data else None, len(data), published, digits)

    @classmethod
    def of_value(cls, value: float, num_trials: int, published: str = "", digits: int = 3) -> Entry:
        """A fitted figure, which has no interval."""
        return cls(Estimate(value, value, value), num_trials, published, digits)

    @classmethod
    def of_share(cls, is_good: Iterable[bool], published: str = "") -> Entry:
        """A share with Wilson's interval."""
        data = [bool(good) for good in is_good]
        return cls(wilson(sum(data), len(data)) if data else None, len(data), published, is_share=True)

    @classmethod
    def of_ratio(
        cls, tops: Sequence[float], bottoms: Sequence[float], published: str = "", digits: int = 3
    ) -> Entry:
        """The ratio of two means over the same problems, with the interval that their matching allows."""
        if len(tops) == 0:
            return cls(None, 0, published, digits)
        return cls(ratio(tops, bottoms), len(tops), published, digits)

    @classmethod
    def only_published(cls, published: str) -> Entry:
        """What the paper copied from others and we did not run."""
        return cls(None, 0, published)


@dataclass(frozen=True)
class Row:
    """A name and its entries by column; a missing one stays empty."""

    label: str
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class Sheet:
    """A table; name: of its files; source: where the paper has it; notes: what a reader must know."""

    name: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Series:
    """One line or cloud of a chart."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """Lines or points over two axes; marks: vertical lines by name."""

    name: str
    title: str
    source: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["line", "scatter"] = "line"
    marks: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


Role = Literal["tree", "tentative", "route", "reference", "planned", "walked"]
"""What a line on a map is, which decides how it is drawn."""


@dataclass(frozen=True, eq=False)
class Way:
    """A line across the world; points: [T, 2]; agent: whose colour it has, where its role has one."""

    role: Role
    points: FloatArray
    agent: int = 0


@dataclass(frozen=True, eq=False)
class Panel:
    """One map; note: a line under its title; meetings: [n, 2] where trees touched."""

    title: str
    note: str
    problem: Problem
    ways: tuple[Way, ...]
    meetings: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))


@dataclass(frozen=True, eq=False)
class Panels:
    """Maps side by side, row by row; headings: of the columns.

    They lie on the data's support where it is given, else on the walls of the world of that name.
    """

    name: str
    title: str
    source: str
    world: str
    panels: tuple[Panel, ...]
    num_columns: int = 3
    headings: tuple[str, ...] = ()
    support: Support | None = None
    notes: tuple[str, ...] = ()


Exhibit = Sheet | Chart | Panels


def ratio(tops: Sequence[float], bottoms: Sequence[float]) -> Estimate:
    """mean(tops) / mean(bottoms) over matched values; the interval comes from their linearised difference."""
    above, below = np.array(tops, dtype=np.float64), np.array(bottoms, dtype=np.float64)
    value = float(above.mean() / below.mean())
    spread = mean((above - value * below) / below.mean())
    return Estimate(value, value + spread.low, value + spread.high)


def by(trials: Iterable[Trial], key: Callable[[Trial], str]) -> dict[str, list[Trial]]:
    """Trials in groups, in the order in which their keys first come up."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(key(trial), []).append(trial)
    return groups
