"""Table 1: success at either cap, and what the plans behind it are like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.stitch import CONTENDERS, SPLITS, preset
from chronoforest.bench.metrics import CAPS, Estimate, complete_plans, is_within
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

IS_MORE_BETTER = {
    "complete plans": True,
    "÷ geodesic": False,
    "steps to the goal": False,
    "new plans per walk": False,
    "planning s": False,
}
"""Columns about the plans, and whether a larger figure is the better one."""


PUBLISHED = {
    "ChronoForest": ("99.8 ± 0.4", "99.3 ± 1.3", "99.5 ± 0.5"),
    "ChronoForest-single": ("94 ± 1", "72 ± 4", "18 ± 3"),
    "diffusion-replan": (
        "46 ± 18 (Diffuser-Replan), 60 ± 13 (Diffusion Forcing)",
        "12 ± 10 (Diffuser-Replan), 26 ± 9 (Diffusion Forcing)",
        "0 ± 0 (Diffuser-Replan), 0 ± 0 (Diffusion Forcing)",
    ),
    "compositional": (
        "97 ± 2 (GSC), 96 ± 2 (CompDiffuser)",
        "66 ± 2 (GSC), 86 ± 2 (CompDiffuser)",
        "20 ± 1 (GSC), 65 ± 3 (CompDiffuser), 84 ± 3 (CDGS)",
    ),
    "tree-single": ("94 ± 9 (C-MCTD-Preplan)", "94 ± 9 (C-MCTD-Preplan)", "75 ± 18 (C-MCTD-Preplan)"),
}
"""What the paper prints for the splits, by contender."""


def success_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """Success at either cap, and what the plans cost."""
    return [*(_success(trials, cap) for cap in CAPS), _plans(trials)]


def _success(trials: Sequence[Trial], cap: int) -> Sheet:
    rows = []
    for contender in CONTENDERS:
        own = [trial for trial in trials if contender.is_of(trial)]
        entries = {
            split: Entry.of_share((is_within(t, cap) for t in own if t.case.preset == preset(split)), printed)
            for split, printed in zip(SPLITS, PUBLISHED.get(contender.label, ("", "", "")), strict=True)
        }
        rows.append(Row(contender.label, entries))
    notes = (
        "The official cap is 1000 steps; the paper does not say which cap it used.",
        "The peers stand beside the published planners they are closest to; the peers' page says what "
        "they lack against them.",
        verdict(rows, dict.fromkeys(SPLITS, True)),
    )
    title = f"Success within {cap} steps, AntMaze-Stitch, %"
    return Sheet(f"stitch-{cap}", title, "Table 1", SPLITS, tuple(rows), notes)


def _plans(trials: Sequence[Trial]) -> Sheet:
    """What a plan is like, over all splits together."""
    rows = []
    for contender in CONTENDERS:
        own = [trial for trial in trials if contender.is_of(trial)]
        plans = complete_plans(own)
        steps = [t.walk.steps for t in own if t.walk is not None and t.walk.cause == "none"]
        replans = [t.walk.num_replans for t in own if t.walk is not None]
        entries = {
            "complete plans": Entry.of_share(t.plan is not None and t.plan.is_complete for t in own),
            "÷ geodesic": Entry.of_mean((plan.length / plan.geodesic for plan in plans), digits=3),
            "steps to the goal": Entry.of_mean(steps, digits=0),
            "new plans per walk": Entry.of_mean(replans, digits=2),
            "planning s": Entry.of_mean((plan.seconds for plan in plans), digits=2),
        }
        rows.append(Row(contender.label, entries))
    notes = (verdict(rows, IS_MORE_BETTER),)
    return Sheet(
        "stitch-plans", "The plans behind these walks", "", tuple(IS_MORE_BETTER), tuple(rows), notes
    )


def verdict(rows: Sequence[Row], is_more_better: Mapping[str, bool]) -> str:
    """Where another row beats the first one; the intervals must lie apart."""
    ours, *others = rows
    wins = [
        f"{other.label} in {column}"
        for column, more in is_more_better.items()
        for other in others
        if _beats(other.entries[column].ours, ours.entries[column].ours, more)
    ]
    return f"Better than {ours.label}, with intervals apart: {', '.join(wins) or 'none'}."


def _beats(other: Estimate | None, ours: Estimate | None, more_is_better: bool) -> bool:
    if other is None or ours is None:
        return False
    return other.low > ours.high if more_is_better else other.high < ours.low
