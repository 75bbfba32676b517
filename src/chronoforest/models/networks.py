"""What the networks share: stacked layers, moving averages, and batches that CUDA or the CPU handle well."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import nn
from torch.nn import functional

Function = Callable[..., torch.Tensor]
Network = TypeVar("Network", bound=nn.Module)


class StackedMLP(nn.Module):
    """Several networks of one shape, evaluated as one batch of matrix products.

    Inputs [n, sizes[0]] are shared by all, inputs [members, n, sizes[0]] give each network its own; outputs
    are [members, n, sizes[-1]]. Every layer but the last is linear, activation and, with has_norm, LayerNorm.
    """

    def __init__(
        self,
        members: int,
        sizes: Sequence[int],
        activation: Function = functional.gelu,
        has_norm: bool = True,
    ) -> None:
        super().__init__()
        self.activation = activation
        edges = [(a, b, a**-0.5) for a, b in pairwise(sizes)]
        self.weights = nn.ParameterList(torch.empty(members, a, b).uniform_(-c, c) for a, b, c in edges)
        self.biases = nn.ParameterList(torch.empty(members, 1, b).uniform_(-c, c) for _, b, c in edges)
        normed = sizes[1:-1] if has_norm else ()
        self.scales = nn.ParameterList(torch.ones(members, 1, size) for size in normed)
        self.shifts = nn.ParameterList(torch.zeros(members, 1, size) for size in normed)

    def forward(self, inputs: torch.Tensor, is_frozen: bool = False) -> torch.Tensor:
        """Outputs of all networks; with is_frozen gradients reach the inputs but not the parameters."""

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


class Learner(nn.Module):
    """Networks that train together; NAME_average is the exponential moving average of the child NAME."""

    def averages(self) -> list[tuple[nn.Module, nn.Module]]:
        """(network, its average) pairs."""
        parts = dict(self.named_children())
        pairs = ((part, parts.get(f"{name}_average")) for name, part in parts.items())
        return [(part, average) for part, average in pairs if average is not None]


def average_of(network: Network) -> Network:
    """A copy of the network that no gradient trains."""
    return copy.deepcopy(network).eval().requires_grad_(False)


class Averaged(Learner, Generic[Network]):
    """A network and its average, trained and saved together."""

    def __init__(self, net: Network) -> None:
        super().__init__()
        self.net, self.net_average = net, average_of(net)


def compiled(loss: Function, device: torch.device) -> Function:
    """The loss with its kernels fused on CUDA, where a step is bound by memory; unchanged on the CPU."""
    return torch.compile(loss) if device.type == "cuda" else loss


def filled(rows: torch.Tensor, least: int = 8) -> torch.Tensor:
    """Rows [n, …] padded to at least `least`, so that results do not depend on the size of the batch.

    On a CPU a matrix product of two or three rows rounds differently from the same rows within a larger one.
    An empty batch stays empty.
    """
    return repeat_rows(rows, least) if 0 < len(rows) < least else rows


def repeat_rows(tensor: torch.Tensor, num_rows: int) -> torch.Tensor:
    """[n, …] → [num_rows, …] by repeating the last row: padding must be valid input."""
    return torch.cat([tensor, tensor[-1:].expand(num_rows - len(tensor), *tensor.shape[1:])])


class _Graph(NamedTuple):
    graph: torch.cuda.CUDAGraph
    inputs: list[torch.Tensor]
    output: torch.Tensor


class Captured:
    """A function of tensors [n, …] → [n, …] as CUDA graphs: a loop of many small kernels is launched as one.

    There is one graph for every padded number of rows. Rows must not depend on each other, and the function
    must not branch on values.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._graphs: dict[int, _Graph] = {}

    def __call__(self, *tensors: torch.Tensor) -> torch.Tensor:
        """The function's result, copied out of the graph's memory."""
        num_rows = len(tensors[0])
        padded = padded_rows(num_rows)
        if padded not in self._graphs:
            self._graphs[padded] = self._captured([repeat_rows(t, padded) for t in tensors])
        captured = self._graphs[padded]
        for held, tensor in zip(captured.inputs, tensors, strict=True):
            held[:num_rows].copy_(tensor)
        captured.graph.replay()
        return captured.output[:num_rows].clone()

    def _captured(self, inputs: list[torch.Tensor]) -> _Graph:
        warm_up(lambda: self._function(*inputs))
        graph = torch.cuda.CUDAGraph()
        gc.collect()
        gc.disable()  # freeing an older graph during a capture invalidates the capture
        try:
            with torch.cuda.graph(graph):
                output = self._function(*inputs)
        finally:
            gc.enable()
        return _Graph(graph, inputs, output)


def padded_rows(num_rows: int, least: int = 24) -> int:
    """The least `least` × a power of two that holds so many rows: few graphs then serve every batch."""
    return least << (-(-num_rows // least) - 1).bit_length()


def warm_up(function: Callable[[], object], times: int = 1) -> None:
    """Run a function on a stream of its own, as CUDA asks for before a capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(times):
            function()
    torch.cuda.current_stream().wait_stream(side)
