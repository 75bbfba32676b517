"""Functions of tensors as CUDA graphs: a loop of many small kernels is launched as one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

SMALLEST_ROWS = 24
"""Batches are padded to this times a power of two, so that few graphs serve every batch."""

Function = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class _Graph:
    graph: torch.cuda.CUDAGraph
    inputs: tuple[torch.Tensor, ...]
    output: torch.Tensor


class Captured:
    """A function of tensors [n, …] → [n, …] whose rows do not depend on each other, captured once for every
    padded number of rows. It must not look at values on the way."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._graphs: dict[int, _Graph] = {}

    def __call__(self, *tensors: torch.Tensor) -> torch.Tensor:
        """The function's result, in memory of its own."""
        num_rows = len(tensors[0])
        padded = padded_rows(num_rows)
        if padded not in self._graphs:
            self._graphs[padded] = _capture(self._function, [repeat_rows(t, padded) for t in tensors])
        captured = self._graphs[padded]
        for held, tensor in zip(captured.inputs, tensors, strict=True):
            held[:num_rows].copy_(tensor)
        captured.graph.replay()
        return captured.output[:num_rows].clone()


def padded_rows(num_rows: int) -> int:
    """The number of rows of the graph that serves a batch."""
    padded = SMALLEST_ROWS
    while padded < num_rows:
        padded *= 2
    return padded


def repeat_rows(tensor: torch.Tensor, num_rows: int) -> torch.Tensor:
    """[n, …] → [num_rows, …], the last row repeated: what fills a graph must be valid input."""
    return torch.cat([tensor, tensor[-1:].expand(num_rows - len(tensor), *tensor.shape[1:])])


def _capture(function: Function, inputs: list[torch.Tensor]) -> _Graph:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        function(*inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with _no_collection(), torch.cuda.graph(graph):
        output = function(*inputs)
    return _Graph(graph, tuple(inputs), output)


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage is collected meanwhile: an older graph that is freed during a capture spoils it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
