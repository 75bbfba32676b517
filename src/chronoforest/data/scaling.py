"""World units to unit variance and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn


class Scaling(nn.Module):
    """Shift and scale per dimension, [D]; a module so that it travels with the weights and the device."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, mean: NDArray[Any], std: NDArray[Any]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("std", torch.as_tensor(std, dtype=torch.float32))

    @staticmethod
    def fit(values: NDArray[Any]) -> Scaling:
        """Mean and standard deviation over all but the last axis."""
        flat = np.asarray(values, dtype=np.float64).reshape(-1, values.shape[-1])
        return Scaling(flat.mean(axis=0), np.maximum(flat.std(axis=0), 1e-6))

    @staticmethod
    def unit(dim: int) -> Scaling:
        """Leaves values as they are; a place to load fitted numbers into."""
        return Scaling(np.zeros(dim), np.ones(dim))

    def normalise(self, values: torch.Tensor) -> torch.Tensor:
        """World units → unit variance, on the last axis."""
        return (values - self.mean) / self.std

    def restore(self, values: torch.Tensor) -> torch.Tensor:
        """Unit variance → world units, on the last axis."""
        return values * self.std + self.mean
