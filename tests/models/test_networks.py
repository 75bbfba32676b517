import pytest
import torch
from torch.nn import functional

from chronoforest.models.networks import Captured, StackedMLP, filled, padded_rows


@pytest.mark.parametrize("activation", [functional.gelu, functional.mish])
@pytest.mark.parametrize("has_norm", [True, False])
def test_stacked_networks_are_what_they_would_be_alone(activation, has_norm):
    torch.manual_seed(0)
    stack = StackedMLP(3, [5, 16, 16, 2], activation, has_norm)
    inputs = torch.randn(7, 5)
    together = stack(inputs)
    assert together.shape == (3, 7, 2)
    for member in range(3):
        hidden = inputs
        for layer in range(2):
            hidden = activation(hidden @ stack.weights[layer][member] + stack.biases[layer][member])
            hidden = functional.layer_norm(hidden, hidden.shape[-1:]) if has_norm else hidden
        alone = hidden @ stack.weights[-1][member] + stack.biases[-1][member]
        torch.testing.assert_close(together[member], alone, atol=1e-5, rtol=1e-4)


def test_a_batch_is_padded_to_the_next_size_so_that_few_graphs_serve_all():
    assert [padded_rows(n) for n in (1, 24, 25, 48, 100)] == [24, 24, 48, 48, 192]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_captured_function_gives_the_same_rows_for_every_batch():
    function = Captured(lambda a, b: a.sin() + 2.0 * b)
    for num_rows in (3, 30, 7):
        a, b = torch.randn(2, num_rows, 5, device="cuda")
        assert torch.allclose(function(a, b), a.sin() + 2.0 * b)


def test_few_rows_are_filled_up_with_the_last():
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert len(filled(rows)) == 8
    assert filled(rows)[:2].equal(rows)
    assert filled(rows)[2:].equal(rows[-1:].expand(8 - 2, 2))


def test_many_rows_and_none_stay_as_they_are():
    rows = torch.zeros(8, 2)
    assert filled(rows) is rows
    assert len(filled(rows[:0])) == 0
