"""An ant's expert small enough for a test: it moves its legs, but it has learned nothing."""

from __future__ import annotations

import torch

from benchmarks.collect.expert import KIND
from benchmarks.expert.sac import Sac, SacParams, member
from chronoforest.models import checkpoint

SAC = SacParams(width=16, num_layers=2)


def make_sac(num_seeds=2, seed=0):
    """Networks whose every tensor, LayerNorm's too, differs from its first value and from seed to seed."""
    torch.manual_seed(seed)
    sac = Sac(num_seeds, SAC)
    with torch.no_grad():
        for parameter in sac.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return sac


def write_ant_expert(path, seed=0):
    """Write an expert's file; returns its path."""
    checkpoint.write(path, member(make_sac(1, seed).actor, 0), {"kind": KIND})
    return path
