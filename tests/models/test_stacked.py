import pytest
import torch
from torch.nn import functional

from chronoforest.models.stacked import StackedMLP


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


def test_members_start_apart():
    torch.manual_seed(0)
    one, other = StackedMLP(2, [5, 16, 2])(torch.randn(7, 5))
    assert not torch.allclose(one, other)
