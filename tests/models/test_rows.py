import torch

from chronoforest.models.rows import FEWEST_ROWS, filled


def test_few_rows_are_filled_up_with_the_last():
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert len(filled(rows)) == FEWEST_ROWS
    assert filled(rows)[:2].equal(rows)
    assert filled(rows)[2:].equal(rows[-1:].expand(FEWEST_ROWS - 2, 2))


def test_many_rows_and_none_stay_as_they_are():
    rows = torch.zeros(FEWEST_ROWS, 2)
    assert filled(rows) is rows
    assert len(filled(rows[:0])) == 0
