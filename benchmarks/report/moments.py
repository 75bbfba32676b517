"""The recorded moments of a search as maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.report.panels import Panel, Way
from chronoforest.types import Problem


def moment_panels(recorded: Mapping[str, Any], problem: Problem) -> tuple[Panel, ...]:
    """A map for every recorded moment."""
    moments = recorded["moments"]
    before = [None, *(moment["orders"] for moment in moments[:-1])]
    return tuple(
        _panel(moment, recorded["trees"], problem, is_new=previous not in (None, moment["orders"]))
        for moment, previous in zip(moments, before, strict=True)
    )


def _panel(moment: Mapping[str, Any], trees: Sequence[Any], problem: Problem, is_new: bool) -> Panel:
    grown = [
        Way("tree", np.array(segment))
        for segments, count in zip(trees, moment["num_segments"], strict=True)
        for segment in segments[:count]
    ]
    legs = [
        Way("route" if is_met else "tentative", np.array(points), agent)
        for agent, is_met, points in moment["legs"]
    ]
    meetings = np.array(moment["meetings"]).reshape(-1, 2)
    return Panel(_title(moment, is_new), arrows(moment["orders"]), problem, (*grown, *legs), meetings)


def _title(moment: Mapping[str, Any], is_new: bool) -> str:
    if moment["length"] is not None:
        return f"plan after {moment['round']} rounds, {moment['length']:.1f} units"
    if moment["round"] == 0:
        return "before the first round"
    return f"round {moment['round']}" + (", another order" if is_new else "")


def arrows(orders: Iterable[Sequence[str]]) -> str:
    """Who visits what, in words: S1 → W2 → G1."""
    return "    ".join(" → ".join(order) for order in orders)
