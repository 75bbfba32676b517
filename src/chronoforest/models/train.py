"""One training loop for every model: draw a batch, step, average, checkpoint; resumable to the bit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.files import locked
from chronoforest.models import checkpoint
from chronoforest.models.networks import warm_up
from chronoforest.models.params import TrainParams
from chronoforest.names import check_device
from chronoforest.processes import held_signals

NUM_LOOKS = 50
"""How often a training is looked at, evenly over its steps."""

TOLERANCE = 0.01
"""Looks that differ by less are as good as each other, and the later one counts: noise must not choose."""

Look = tuple[int, float]


class Watch:
    """A network and its error on recordings that were held out; patience: the share of all steps without a
    look as good as the best after which training ends, 0 for never; unripe: the share before which no look
    counts; best: the tensors at the last look as good as the best; looks: (step, error) of every look."""

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


@dataclass(frozen=True)
class LoopParams(TrainParams):
    """All that the loop needs: AdamW, warm-up, cosine to `final_share` of the rate, clipped gradients; where
    it is watched, it ends once that is no better for `patience` of the steps, 0 for never."""

    warmup: int = 0
    final_share: float = 0.01
    weight_decay: float = 0.0
    clip: float = math.inf
    patience: float = 0.0
    seed: int = 0
    checkpoint_seconds: float = 60.0

    def rate(self, step: int) -> float:
        """Learning rate at a step."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        done = (step - self.warmup) / max(self.num_steps - self.warmup, 1)
        wave = 0.5 * (1.0 + math.cos(math.pi * done))
        return self.learning_rate * (self.final_share + (1.0 - self.final_share) * wave)


@dataclass(frozen=True)
class Progress:
    """Reported about once a second: mean loss since the last report, steps per second, and the held-out
    error at the last look, None where there was none."""

    step: int
    num_steps: int
    loss: float
    rate: float
    held_out: float | None = None


ProgressCallback = Callable[[Progress], None]


class Training:
    """A run of the loop. On CUDA the whole step is captured once as a graph and replayed.

    draw_loss draws a batch on the device and returns its loss; averages: (network, its average) pairs
    that move after every step; `about` identifies the run, so that another one is never continued by mistake;
    watch: may end it early.
    """

    def __init__(
        self,
        module: nn.Module,
        draw_loss: Callable[[], torch.Tensor],
        averages: list[tuple[nn.Module, nn.Module]],
        params: LoopParams,
        device: torch.device,
        about: dict[str, Any],
        watch: Watch | None = None,
    ) -> None:
        self.module = module
        self.draw_loss = draw_loss
        self.averages = averages
        self.params = params
        self.device = device
        self.about = {"kind": "training", "params": asdict(params), **about}
        self.watch = watch
        self.step_index = 0
        trainable = [p for p in module.parameters() if p.requires_grad]
        self.rate = torch.tensor(params.rate(0), device=device)
        is_cuda = device.type == "cuda"
        self.optimizer = torch.optim.AdamW(
            trainable, lr=self.rate, weight_decay=params.weight_decay, fused=is_cuda, capturable=is_cuda
        )
        self.loss_sum = torch.zeros((), device=device)
        # The optimiser makes its tensors at the first step; a zero one lets them be saved and restored.
        self.rate.fill_(0.0)
        for parameter in trainable:
            parameter.grad = torch.zeros_like(parameter)
        self.optimizer.step()
        for state in self.optimizer.state.values():
            for value in state.values():
                value.zero_()
        self._replay: Callable[[], None] = self._step
        if is_cuda:
            self._capture()

    def run(self, path: Path, on_progress: ProgressCallback | None = None, until: int | None = None) -> None:
        """Train up to step `until` (default: the end), saving to `path`, also at ctrl-C and SIGTERM."""
        end = self.params.num_steps if until is None else min(until, self.params.num_steps)
        saved_at = reported_at = time.monotonic()
        reported_step = self.step_index
        with locked(path), held_signals() as let_through, ExitStack() as last:
            last.callback(self.save, path)
            while not self.is_over(end):
                self.advance()
                let_through()
                is_last = self.is_over(end)
                if self.step_index % 20 and not is_last:
                    continue
                now = time.monotonic()
                if on_progress and (now - reported_at > 1.0 or is_last):
                    done = max(self.step_index - reported_step, 1)
                    loss, now = float(self.loss_sum) / done, time.monotonic()
                    rate = done / (now - reported_at)
                    held_out = self.watch.looks[-1][1] if self.watch and self.watch.looks else None
                    on_progress(Progress(self.step_index, end, loss, rate, held_out))
                    self.loss_sum.zero_()
                    reported_at, reported_step = now, self.step_index
                if now - saved_at > self.params.checkpoint_seconds:
                    self.save(path)
                    saved_at = now

    def is_over(self, end: int) -> bool:
        """Whether so many steps are taken, or the watch has given up."""
        return self.step_index >= end or bool(self.watch and self.watch.has_given_up(self.step_index))

    def advance(self) -> None:
        """Take one step, and look where one is due; on CUDA a step is only queued."""
        self.rate.fill_(self.params.rate(self.step_index))
        self._replay()
        self.step_index += 1
        if self.watch is not None:
            self.watch.look(self.step_index)

    def save(self, path: Path) -> None:
        """Write everything the next step depends on."""
        looks = self.watch.looks if self.watch is not None else []
        checkpoint.write(path, self._state(), {**self.about, "step": self.step_index, "looks": looks})

    def resume(self, path: Path) -> None:
        """Continue a saved run as if it had never stopped."""
        tensors, about = checkpoint.read(path, "training")
        stored = _settings(about)
        for name, value in _settings(self.about).items():
            if stored.get(name) != value:
                raise BadCheckpoint(
                    f"{path} was trained with {name} = {stored.get(name)}, this run has {value}; "
                    "remove the file or use the same settings"
                )
        mine, found = ({k: v.shape for k, v in held.items()} for held in (self._state(), tensors))
        if mine != found:
            raise BadCheckpoint(f"{path} does not fit this model")
        self._restore(tensors)
        self.step_index = int(about["step"])
        if self.watch is not None:
            self.watch.looks = [(int(step), float(error)) for step, error in about["looks"]]

    def _step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.draw_loss()
        loss.backward()
        if math.isfinite(self.params.clip):
            nn.utils.clip_grad_norm_(self.optimizer.param_groups[0]["params"], self.params.clip)
        self.optimizer.step()
        with torch.no_grad():
            self.loss_sum += loss.detach()
            for network, average in self.averages:
                torch._foreach_lerp_(
                    list(average.parameters()), list(network.parameters()), self.params.average_rate
                )

    def _capture(self) -> None:
        """Warm up, capture one step as a graph, then undo what the warm-up changed."""
        before = {name: tensor.clone() for name, tensor in self._state().items()}
        warm_up(self._step, times=3)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        self._replay = graph.replay
        self._restore(before)
        self.loss_sum.zero_()

    def _state(self) -> dict[str, torch.Tensor]:
        tensors = {f"module.{name}": value for name, value in self.module.state_dict().items()}
        for index, state in enumerate(self.optimizer.state.values()):
            tensors.update({f"optimizer.{index}.{name}": value for name, value in state.items()})
        if self.watch is not None:
            tensors.update({f"best.{name}": value for name, value in self.watch.best.items()})
        is_cuda = self.device.type == "cuda"
        tensors["random"] = torch.cuda.get_rng_state(self.device) if is_cuda else torch.get_rng_state()
        return tensors

    def _restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Copy in place: a captured graph keeps reading the same memory."""
        with torch.no_grad():
            for name, value in self._state().items():
                if name != "random":
                    value.copy_(tensors[name])
        random = torch.cuda if self.device.type == "cuda" else torch
        random.set_rng_state(tensors["random"].cpu())


def _settings(about: Mapping[str, Any]) -> dict[str, Any]:
    """What identifies a run, its parameters by their own names; how often it is saved does not."""
    flat = {**about, **about.get("params", {})}
    return {name: value for name, value in flat.items() if name not in ("params", "checkpoint_seconds")}


def pick_device(name: str = "auto") -> torch.device:
    """`auto` takes CUDA where there is one; matrix products may use its fast float32 mode."""
    torch.set_float32_matmul_precision("high")
    check_device(name)
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InvalidParameter(f"device must be auto, cpu or cuda, got {name!r}") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InvalidParameter(
            f"device {name!r} was asked for, but this machine has no CUDA; use cpu or auto"
        )
    return device
