"""Early stopping: looks at what a network gets wrong on held-out recordings, and keeps the weights that did
best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

NUM_LOOKS = 50
"""How often a training is looked at, evenly over its steps."""

TOLERANCE = 0.01
"""Looks that differ by less are as good as each other, and the later one counts: noise must not choose."""

Look = tuple[int, float]


class Watch:
    """A network and its error on recordings that were held out; patience: the share of all steps without a
    look as good as the best after which training ends, 0 for never; unripe: the share of all steps before
    which no look counts.

    best: the tensors at the last look that was as good as the best; looks: (step, error) of every look.
    """

    def __init__(
        self,
        network: nn.Module,
        held_out_error: Callable[[], float],
        num_steps: int,
        patience: float,
        unripe: float = 0.0,
    ) -> None:
        self.network = network
        self.held_out_error = held_out_error
        self.num_steps = num_steps
        self.every = max(1, num_steps // NUM_LOOKS)
        # A multiple of `every`, so that a resumed run gives up at the step at which it would have without.
        self.patience = self.every * math.ceil(patience * num_steps / self.every)
        self.first = int(unripe * num_steps)
        self.best = {name: value.clone() for name, value in network.state_dict().items()}
        self.looks: list[Look] = []

    def look(self, step: int) -> None:
        """Measure the error after so many steps, where a look is due, and keep the weights of a good one."""
        if step % self.every and step != self.num_steps:
            return
        error = self.held_out_error()
        self.looks.append((step, error if math.isfinite(error) else math.inf))
        if self._kept() == step:
            for name, value in self.network.state_dict().items():
                self.best[name].copy_(value)

    def has_given_up(self, step: int) -> bool:
        """Whether patience is spent after so many steps."""
        return 0 < self.patience <= step - max(self._kept(), self.first)

    def keep_best(self) -> None:
        """Give the network its best weights; where training never ends early, the last ones stay."""
        if self.patience and self._kept():
            self.network.load_state_dict(self.best)

    def resume(self, looks: Sequence[Sequence[float]]) -> None:
        """Go on after earlier looks; the tensors are restored with all the others."""
        self.looks = [(int(step), float(error)) for step, error in looks]

    def to_dict(self) -> Mapping[str, Any]:
        """What the card tells of it."""
        kept = self._kept() if self.patience else self.looks[-1][0]
        return {"kept_step": kept, "patience": self.patience, "looks": self.looks}

    def _kept(self) -> int:
        return kept_step([look for look in self.looks if look[0] >= self.first])


def kept_step(looks: Sequence[Look]) -> int:
    """The step of the last look that was as good as the best until then; 0 where none was any good."""
    kept, least = 0, math.inf
    for step, error in looks:
        if math.isfinite(error) and error <= least + TOLERANCE:
            kept = step
        least = min(least, error)
    return kept


def early_end(watch: Mapping[str, Any]) -> str:
    """A sentence from the card of a training that ended early, "" from any other."""
    patience, kept = watch.get("patience", 0), watch.get("kept_step", 0)
    if not patience or watch["looks"][-1][0] - kept < patience:
        return ""
    return f"ended early: the held-out error is no better since step {kept}, whose weights were kept"


@contextmanager
def same_draws(device: torch.device) -> Iterator[None]:
    """Random draws within the block are the same every time, and those after it as if there were none."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(0)
        yield
