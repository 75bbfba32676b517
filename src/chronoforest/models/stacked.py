"""Several small networks of one shape, evaluated as one batch of matrix products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional


class StackedMLP(nn.Module):
    """Networks with layers of the given sizes: [n, sizes[0]] → [members, n, sizes[-1]].

    Inputs [members, n, sizes[0]] give each network its own. Every layer but the last is linear, activation
    and, with has_norm, LayerNorm.
    """

    def __init__(
        self,
        members: int,
        sizes: Sequence[int],
        activation: Callable[[torch.Tensor], torch.Tensor] = functional.gelu,
        has_norm: bool = True,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.weights = nn.ParameterList(_uniform(members, a, b, a) for a, b in pairwise(sizes))
        self.biases = nn.ParameterList(_uniform(members, 1, b, a) for a, b in pairwise(sizes))
        normed = sizes[1:-1] if has_norm else ()
        self.scales = nn.ParameterList(torch.ones(members, 1, size) for size in normed)
        self.shifts = nn.ParameterList(torch.zeros(members, 1, size) for size in normed)

    def forward(self, inputs: torch.Tensor, is_frozen: bool = False) -> torch.Tensor:
        """Shapes as the class says; with is_frozen gradients reach the inputs but not the parameters."""

        def read(parameters: nn.ParameterList) -> list[torch.Tensor]:
            return [value.detach() if is_frozen else value for value in parameters]

        weights, biases, scales, shifts = map(read, (self.weights, self.biases, self.scales, self.shifts))
        hidden = inputs if inputs.ndim == 3 else inputs.expand(len(weights[0]), *inputs.shape)
        for layer, (weight, bias) in enumerate(zip(weights[:-1], biases[:-1], strict=True)):
            hidden = self.activation(torch.baddbmm(bias, hidden, weight))
            if scales:
                normed = functional.layer_norm(hidden, hidden.shape[-1:])
                hidden = torch.addcmul(shifts[layer], normed, scales[layer])
        return torch.baddbmm(biases[-1], hidden, weights[-1])


def _uniform(members: int, rows: int, columns: int, fan_in: int) -> torch.Tensor:
    return torch.empty(members, rows, columns).uniform_(-(fan_in**-0.5), fan_in**-0.5)
