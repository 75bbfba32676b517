import numpy as np
import pytest

from benchmarks.experiments import thin
from benchmarks.problems import random_problem
from benchmarks.suite import Request
from chronoforest.data.episodes import Episodes, flat_arrays, load, write_arrays
from chronoforest.errors import BadDataset

CASES = thin.cases(Request(episodes=2))


def recordings(path, count):
    rows = np.arange(count * 3 * 2, dtype=np.float32).reshape(count, 3, 2)
    write_arrays(path / f"{thin.PRESET}.npz", flat_arrays(Episodes(rows, np.zeros_like(rows))))
    return rows


def test_the_first_recordings_are_kept(tmp_path):
    rows = recordings(tmp_path, 5)
    folder = thin.keep_first(3, tmp_path, tmp_path / "out")
    np.testing.assert_array_equal(load(folder / f"{thin.PRESET}.npz").xy, rows[:3])


def test_more_recordings_than_there_are_cannot_be_kept(tmp_path):
    recordings(tmp_path, 5)
    with pytest.raises(BadDataset, match="has 5 recordings, asked for the first 40"):
        thin.keep_first(40, tmp_path, tmp_path / "out")


PART_CASES = thin.part_cases(Request(episodes=2))


def test_every_row_sees_the_same_pairs_on_every_count_and_they_are_those_of_suite_thin():
    first, *others = thin.cases(Request(episodes=2))
    wanted = {case.seeds for case in (first, *others)}
    for count in thin.COUNTS:
        own = [case for case in PART_CASES if case.change == f"recordings={count}"]
        assert {case.seeds for case in own} == wanted
        assert {case.choice.weights for case in own} == {thin.FOLDER / str(count)}
    same = next(case for case in PART_CASES if case.seeds == first.seeds)
    assert (random_problem(same).anchors == random_problem(first).anchors).all()
