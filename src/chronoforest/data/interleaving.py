"""Rows of several bodies in one recording: noticed, and refused where a column tells them apart."""

from __future__ import annotations

import numpy as np

from chronoforest.data.columns import LEAST_ROWS_EACH, Columns
from chronoforest.data.tables import Table
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray, IntArray

MANY_ROWS = 20_000
"""Enough to tell whether rows of several bodies are interleaved."""

SHUFFLED = 0.2
"""Share of their extent that rows of many bodies lie apart; those that are drawn by chance are at a third."""

CLEARLY_SHORTER = 0.3
"""What the way through all rows shrinks to when bodies that were interleaved are told apart."""


def interleaved(table: Table, columns: Columns, places: FloatArray, time: FloatArray | None) -> str:
    """What speaks for rows of several bodies in one recording; refused where a column tells them apart.

    places: [N, 2]; time: [N] or None. Empty where nothing does.
    """
    order = np.arange(len(places)) if time is None else np.argsort(time, kind="stable")
    rows = order[np.isfinite(places[order]).all(axis=1)][:MANY_ROWS]
    way = _way(places, rows, np.zeros(len(rows), dtype=np.int64))
    names = [name for name in table.columns if name not in (*columns.values, columns.time)]
    ways = {
        name: _way(places, rows, codes) for name in names if (codes := _codes(table, name, rows)) is not None
    }
    best = min(ways, key=lambda name: ways[name], default="")
    if best and ways[best] < CLEARLY_SHORTER * way:
        raise BadDataset(
            f"{table.source}: rows of several bodies seem to be interleaved, and no column was named that "
            f"tells them apart; {best!r} does: --episode {best}"
        )
    return "" if best or not _alternates(places[rows]) else "rows of several bodies seem to be interleaved"


def _way(places: FloatArray, rows: IntArray, codes: IntArray) -> float:
    """Length of the way through rows, each code on its own."""
    order = np.argsort(codes, kind="stable")
    hops = np.linalg.norm(np.diff(places[rows[order]], axis=0), axis=1)
    return float(hops[np.diff(codes[order]) == 0].sum())


def _codes(table: Table, name: str, rows: IntArray) -> IntArray | None:
    """[n] a number for each different value of a column; None where it cannot be an id."""
    column = table.columns[name][rows]
    if column.dtype.kind == "f" and not (np.isfinite(column).all() and (column == np.rint(column)).all()):
        return None
    values, codes = np.unique([str(cell) for cell in column.tolist()], return_inverse=True)
    return codes if 2 <= len(values) <= len(rows) / LEAST_ROWS_EACH else None


def _alternates(places: FloatArray) -> bool:
    """Whether a row's next of kin is rarely the next row, or rows lie as far apart as if shuffled."""
    if len(places) <= 10:
        return False
    extent = float(np.linalg.norm(np.ptp(places, axis=0)))
    if float(np.median(np.linalg.norm(np.diff(places, axis=0), axis=1))) > SHUFFLED * extent:
        return True
    hops = np.stack(
        [np.linalg.norm(places[k:-5] - places[: -5 - k], axis=1)[: len(places) - 10] for k in range(1, 6)]
    )
    usual = np.median(hops, axis=1)
    return bool(usual[0] > 5 * usual[1:].min() > 0)
