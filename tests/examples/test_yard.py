"""The yard's recordings are legal, and its judge tells legal paths from others."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "yard"))
yard = pytest.importorskip("yard")

RING = ("sw", "s1", "s2", "se", "e1", "e2", "ne")


def way(*names):
    return yard.rounded(np.array([yard.PLACES[name] for name in names], dtype=float))


def test_a_legal_way_is_good_and_its_reverse_is_against_the_lanes():
    path = way(*RING)
    stops = np.array([yard.PLACES["s1"], yard.PLACES["e2"]], dtype=float)
    assert yard.judge([path], stops).is_good
    verdict = yard.judge([path[::-1]], stops)
    assert verdict.num_wrong_way > 0.7 * verdict.num_pieces
    assert "against a one-way lane" in str(verdict)


def test_the_apron_may_be_driven_either_way_and_the_tank_not_at_all():
    path = way("a1", "a2", "a3", "a4", "a1")
    assert yard.judge([path], np.zeros((0, 2))).is_good
    assert yard.judge([path[::-1]], np.zeros((0, 2))).is_good
    through = np.array([yard.PLACES["a1"], yard.PLACES["a3"]], dtype=float)
    assert yard.judge([through], np.zeros((0, 2))).num_off_road > 0


def test_a_stop_that_no_path_passes_is_missed():
    assert yard.judge([way(*RING)], np.array([[20.0, 33.0]])).num_missed == 1


def test_recordings_respect_the_lanes_differ_in_length_and_have_faults(tmp_path):
    (path,) = yard.record(tmp_path, yard.Traffic(num_days=1, num_recordings=40, dropout_share=1.0, seed=1))
    trips = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            trips.setdefault(row["trip"], []).append(row)
    assert len(trips) == 40
    assert len({len(rows) for rows in trips.values()}) > 10
    gaps = [np.diff([float(row["time"]) for row in rows]).max() for rows in trips.values()]
    assert min(gaps) > 2.0
    clean = yard.record(tmp_path, yard.Traffic(num_days=1, num_recordings=10, dropout_share=0, spike_share=0))
    with clean[0].open() as file:
        rows = [row for row in csv.DictReader(file) if row["y"]]
    paths = [
        np.array([(float(row["x"]), float(row["y"])) for row in rows if row["trip"] == f"d1-{k + 1}"])[::3]
        for k in range(10)
    ]
    verdict = yard.judge(paths, np.zeros((0, 2)))
    assert verdict.num_wrong_way + verdict.num_off_road < 0.01 * verdict.num_pieces
