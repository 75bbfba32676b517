"""Early stopping: looks at the held-out loss while a network trains, and keeps the weights that did best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

NUM_LOOKS = 50
"""How often a training looks at its held-out loss, evenly over its steps."""


class Watch:
    """A network and its loss on recordings that were held out; patience: the share of all steps without a
    better loss after which training ends, 0 for never.

    best: the tensors at the best look so far; looks: [step, held-out loss] of every look.
    """

    def __init__(
        self, network: nn.Module, held_out_loss: Callable[[], float], num_steps: int, patience: float
    ) -> None:
        self.network = network
        self.held_out_loss = held_out_loss
        self.num_steps = num_steps
        self.every = max(1, num_steps // NUM_LOOKS)
        # A multiple of `every`, so that a resumed run gives up at the step at which it would have without.
        self.patience = self.every * math.ceil(patience * num_steps / self.every)
        self.best = {name: value.clone() for name, value in network.state_dict().items()}
        self.looks: list[tuple[int, float]] = []

    @property
    def best_look(self) -> tuple[int, float]:
        """Step and loss of the best look, the first of equals; before any look, step 0 and no loss at all."""
        return min(self.looks, key=lambda look: look[1], default=(0, math.inf))

    def look(self, step: int) -> None:
        """Measure the loss after so many steps, where a look is due, and keep the weights if it is best."""
        if step % self.every and step != self.num_steps:
            return
        loss = self.held_out_loss()
        is_better = loss < self.best_look[1]
        self.looks.append((step, loss if math.isfinite(loss) else math.inf))
        if is_better:
            for name, value in self.network.state_dict().items():
                self.best[name].copy_(value)

    def has_given_up(self, step: int) -> bool:
        """Whether patience is spent after so many steps."""
        return 0 < self.patience <= step - self.best_look[0]

    def keep_best(self) -> None:
        """Give the network the weights of the best look; the last ones stay where training never ends early,
        and so do those of a loss that never was a number."""
        if self.patience and math.isfinite(self.best_look[1]):
            self.network.load_state_dict(self.best)

    def resume(self, looks: list[tuple[int, float]]) -> None:
        """Go on after earlier looks; their best tensors are restored with all the others."""
        self.looks = [(int(step), float(loss)) for step, loss in looks]

    def to_dict(self) -> Mapping[str, Any]:
        """What the card tells of it."""
        step, _ = self.best_look
        kept = step if self.patience else self.looks[-1][0]
        return {"kept_step": kept, "patience": self.patience, "looks": self.looks}


def early_end(watch: Mapping[str, Any]) -> str:
    """A sentence from the card of a training that ended early, "" from any other."""
    patience, kept = watch.get("patience", 0), watch.get("kept_step", 0)
    if not patience or watch["looks"][-1][0] - kept < patience:
        return ""
    return f"ended early: the held-out loss has not fallen since step {kept}, whose weights were kept"


@contextmanager
def same_draws(device: torch.device) -> Iterator[None]:
    """Random draws within the block are the same every time, and those after it as if there were none."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(0)
        yield
