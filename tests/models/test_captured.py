import pytest
import torch

from chronoforest.models.captured import Captured, padded_rows, repeat_rows


def test_a_batch_is_padded_to_the_next_size_so_that_few_graphs_serve_all():
    assert [padded_rows(n) for n in (1, 24, 25, 48, 100)] == [24, 24, 48, 48, 192]


def test_padding_repeats_the_last_row():
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert repeat_rows(rows, 4).tolist() == [[1, 2], [3, 4], [3, 4], [3, 4]]
    assert repeat_rows(rows, 2).equal(rows)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_captured_function_gives_the_same_rows_for_every_batch():
    function = Captured(lambda a, b: a.sin() + 2.0 * b)
    for num_rows in (3, 30, 7):
        a, b = torch.randn(2, num_rows, 5, device="cuda")
        assert torch.allclose(function(a, b), a.sin() + 2.0 * b)
