"""Columns of a file without a header get the names that their values suggest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from chronoforest.data.axes import coordinate_axes
from chronoforest.data.clocks import DATE, HOURS, are_dates, are_epochs
from chronoforest.data.maps import NAMELESS, lists_places
from chronoforest.data.tables import number_of, shortened
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray


def holds_value(cell: str) -> bool:
    """Whether a cell is a number, a date or a list, which no column is called."""
    cell = cell.strip()
    return np.isfinite(_number(cell)) or cell.startswith("[[") or DATE.fullmatch(cell) is not None


def names_without_header(path: Path, rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Names for the columns of a file whose first row names nothing; refused, with what would name them, if
    values do not show it.

    width: cells of a row that count.
    """
    sample = [[cell.strip() for cell in row[:width]] for row in rows[:500] if len(row) >= width]
    names, is_certain = Sample(list(zip(*sample, strict=True))).names()
    if _are_timed(names) and is_certain:
        return names
    if names:
        doubt = "" if is_certain else " (both orders of lon and lat would fit)"
        advice = f"if these are {', '.join(names)}, add --header {','.join(names)}{doubt}"
    else:
        advice = f"name all its {width} columns in their order, such as --header id,time,lon,lat"
    got = shortened(", ".join(map(repr, rows[0])))
    raise BadDataset(f"{path}: the first row must name every column once, got {got}; {advice}")


@dataclass(frozen=True, eq=False)
class Sample:
    """Some cells of every column, [columns][n]."""

    texts: Sequence[Sequence[str]]

    @cached_property
    def numbers(self) -> list[FloatArray]:
        """[columns][n] cells as numbers with a point or a comma, NaN where they are none."""
        return [np.array([_number(text) for text in texts]) for texts in self.texts]

    @cached_property
    def times(self) -> dict[int, str]:
        """Which column is the time, or which two are the date and the time."""
        for k, (texts, numbers) in enumerate(zip(self.texts, self.numbers, strict=True)):
            if are_dates(texts) or are_epochs(numbers):
                return {k: "time"}
        found: dict[int, str] = {}
        for name, pattern in (("time", HOURS), ("date", DATE)):
            known = [k for k, texts in enumerate(self.texts) if all(map(pattern.fullmatch, texts))]
            found |= dict.fromkeys(known[:1], name)
        return found

    @cached_property
    def bodies(self) -> list[int]:
        """Columns in which most cells are like others, as those are that tell recordings apart; past the
        first, a mere yes or no names no body."""
        kinds = [len(set(texts)) for texts in self.texts]
        few = [k for k, count in enumerate(kinds) if count <= max(1, len(self.texts[k]) // 3)]
        return [k for k in few if k not in self.times and (k == 0 or not set(self.texts[k]) <= {"0", "1"})]

    def steps(self, k: int, body: int | None = None) -> FloatArray:
        """From a cell to the next, of the same body where its column is given."""
        codes = (
            np.unique(self.texts[body], return_inverse=True)[1] if body is not None else 0 * self.numbers[k]
        )
        order = np.argsort(codes, kind="stable")
        return np.asarray(np.diff(self.numbers[k][order])[np.diff(codes[order]) == 0])

    def rises(self, k: int, body: int | None = None) -> bool:
        """Whether every cell is a larger number than the one before."""
        steps = self.steps(k, body)
        return len(steps) > 0 and bool((steps > 0).all())

    def names(self) -> tuple[list[str], bool]:
        """A name for every column, from what it holds, and whether degrees can only be in that order; no
        names where nothing looks like coordinates."""
        places, is_certain = self._places()
        if not places:
            return [], True
        names = {**self.times, **places}
        if not _are_timed(names.values()):
            names |= self._order([k for k in range(len(self.texts)) if k not in names])
        if "id" not in names.values():
            names |= dict.fromkeys([k for k in self.bodies if k not in names][:1], "id")
        return [names.get(k, f"column{k + 1}") for k in range(len(self.texts))], is_certain

    def _places(self) -> tuple[dict[int, str], bool]:
        """Which two columns are coordinates, or which one holds places, and whether the order is certain."""
        listing = (k for k, texts in enumerate(self.texts) if lists_places(np.array(texts, dtype=object)))
        if (listed := next(listing, None)) is not None:
            return {listed: NAMELESS}, True
        spans = [float(np.ptp(numbers)) for numbers in self.numbers]
        free = [k for k, span in enumerate(spans) if k not in self.times and span > 0]
        fine = {k for k in free if (self.numbers[k] != np.rint(self.numbers[k])).any()}
        whole = {k for k in free if k not in fine and self._are_pixels(k)}
        # Columns beside each other; one that never changes, such as a height, may stand between.
        pairs = [(k, k + 1) for k in range(len(spans) - 1)]
        pairs += [(k - 1, k + 1) for k in range(1, len(spans) - 1) if spans[k] == 0]
        known = sorted(pair for pair in pairs if fine.issuperset(pair) or whole.issuperset(pair))
        # A time in seconds lies beside the coordinates and looks like one, but for rising all the way.
        best = min(known, key=lambda pair: sum(map(self.rises, pair)), default=None)
        if best is None:
            return {}, True
        values = np.stack([self.numbers[k] for k in best], axis=1)
        axes = coordinate_axes(values, steps=np.diff(values, axis=0), is_named=False)
        names = (("lat", "lon") if axes.is_swapped else ("lon", "lat")) if axes.is_degrees else ("x", "y")
        return dict(zip(best, names, strict=True)), axes.is_certain

    def _are_pixels(self, k: int) -> bool:
        """Whether whole numbers rise here and fall there, as coordinates in pixels do and no count of a
        body's rows does."""
        steps = self.steps(k)
        if k in self.bodies or not ((steps > 0).any() and (steps < 0).any()):
            return False
        # Ids come first in files, so of thousands of columns not all pairs are looked at.
        return not any(self.rises(k, body) for body in self.bodies[:20])

    def _order(self, free: Sequence[int]) -> dict[int, str]:
        """The column that rises from row to row, or from row to row of each body that another one names: a
        count of rows or pictures where nearly every step is the same whole number, else a time in seconds."""
        ids = [k for k in self.bodies if k in free][:20]
        for body, k in [*product([None], free), *((body, k) for k, body in product(free, ids) if body != k)]:
            if self.rises(k, body):
                steps = np.diff(np.unique(self.numbers[k])) if body is None else self.steps(k, body)
                usual = np.median(steps)
                counts = usual == np.rint(usual) and (steps == usual).mean() > (
                    0.9 if body is not None else 0.999999
                )
                name = ("seq" if body is None else "frame") if counts else "time"
                return {k: name} if body is None else {k: name, body: "id"}
        return {}


def _are_timed(names: Collection[str]) -> bool:
    """Whether columns of these names say when or in which order rows were recorded."""
    return bool({"time", "seq", "frame"} & set(names))


def _number(text: str) -> float:
    """A cell as a number, with a point or a comma; NaN where it is none."""
    return number_of(text) if text[-1:].isdigit() or text.endswith(".") else float("nan")
