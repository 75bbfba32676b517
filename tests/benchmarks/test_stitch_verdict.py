from benchmarks.report.sheets import Entry, Row
from benchmarks.report.stitch import verdict
from chronoforest.bench.metrics import Estimate


def row(label, value, spread=0.1):
    estimate = None if value is None else Estimate(value, value - spread, value + spread)
    return Row(label, {"length": Entry(estimate, 5)})


def test_a_peer_that_is_better_is_named():
    rows = [row("ours", 1.0), row("close", 0.9), row("better", 0.5), row("worse", 2.0), row("not run", None)]
    assert verdict(rows, {"length": False}) == "Better than ours, with intervals apart: better in length."
    assert verdict(rows, {"length": True}).endswith("worse in length.")


def test_nothing_better_is_said_too():
    assert verdict([row("ours", 1.0), row("close", 0.9)], {"length": False}).endswith("apart: none.")
    assert verdict([row("ours", None), row("peer", 0.9)], {"length": False}).endswith("apart: none.")
