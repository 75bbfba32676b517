"""Training of each model on recordings: what is drawn, what is kept, and how good it turned out."""

from __future__ import annotations

import copy
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from chronoforest.data.episodes import Episodes
from chronoforest.data.goals import GoalParams, displacements, draw_transitions, thinned
from chronoforest.data.scaling import Scaling
from chronoforest.data.windows import WindowParams
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.models import calibration, checkpoint, schedule, store
from chronoforest.models.calibration import CalibrationParams
from chronoforest.models.denoiser import Denoiser, DenoiserParams, LevelMix, denoising_loss, draw_batch
from chronoforest.models.density import DensityParams, GridDensity, fit_density
from chronoforest.models.distance import DistanceLearner, DistanceParams, TemporalDistance
from chronoforest.models.sampler import SamplerParams, SegmentSampler
from chronoforest.models.tracking.kinds import get_tracker
from chronoforest.models.tracking.regression import TrackerParams
from chronoforest.models.tracking.subgoals import SubgoalParams, draw_steps
from chronoforest.models.train import ProgressCallback, Training, TrainParams, compiled
from chronoforest.types import FloatArray, Query

Figures = dict[str, float]

DISTANCE_RECIPES = ("own", "paper")


@dataclass(frozen=True)
class ModelParams:
    """Everything that is learned for one preset."""

    window: WindowParams = field(default_factory=WindowParams)
    denoiser: DenoiserParams = field(default_factory=DenoiserParams)
    level_mix: LevelMix = field(default_factory=LevelMix)
    denoiser_training: TrainParams = field(
        default_factory=lambda: TrainParams(
            40_000, 2048, 1e-3, warmup=1000, weight_decay=1e-4, clip=1.0, average_rate=0.001
        )
    )
    distance: DistanceParams = field(default_factory=DistanceParams)
    goals: GoalParams = field(default_factory=GoalParams)
    distance_training: TrainParams = field(
        default_factory=lambda: TrainParams(100_000, 1024, 5e-4, final_share=0.02, average_rate=0.02)
    )
    calibration: CalibrationParams = field(default_factory=CalibrationParams)
    density: DensityParams = field(default_factory=DensityParams)
    tracker: SubgoalParams = field(default_factory=TrackerParams)
    tracker_training: TrainParams = field(
        default_factory=lambda: TrainParams(30_000, 2048, 3e-4, average_rate=0.005)
    )

    def with_distance(self, recipe: str) -> ModelParams:
        """The same with the distance of that recipe: `own`, or the `paper`'s, for comparison."""
        if recipe not in DISTANCE_RECIPES:
            raise InvalidParameter(
                f"unknown distance recipe {recipe!r}; available: {', '.join(DISTANCE_RECIPES)}"
            )
        if recipe == "own":
            return self
        paper = replace(self.distance, discount=0.99, num_features=0, averages_luck=False)
        return replace(
            self, distance=paper, distance_training=replace(self.distance_training, average_rate=0.005)
        )

    def quick(self) -> ModelParams:
        """Small networks and few steps: minutes on two cores, good enough for a first plan."""
        return replace(
            self,
            denoiser=replace(self.denoiser, width=64, num_layers=4, num_heads=4, feed_forward=256),
            denoiser_training=replace(
                self.denoiser_training, num_steps=12_000, batch=128, learning_rate=1.5e-3, average_rate=0.003
            ),
            distance=replace(self.distance, width=64),
            distance_training=replace(
                self.distance_training, num_steps=14_000, batch=256, learning_rate=1e-3, average_rate=0.04
            ),
            tracker_training=replace(self.tracker_training, num_steps=3000, batch=256),
        )

    def with_tracker(self, name: str) -> ModelParams:
        """The same with the tracker of that name."""
        kind = get_tracker(name)
        if name == self.tracker.name:
            return self
        return replace(
            self,
            tracker=kind.settings_for(self.tracker),
            tracker_training=replace(self.tracker_training, clip=kind.clip),
        )


@dataclass(frozen=True)
class Recordings:
    """Training and held-out episodes."""

    train: Episodes
    held_out: Episodes


@dataclass(frozen=True)
class Run:
    """Where and how to train: the folder of the checkpoints, the preset's name, the device.

    init: folder of finished weights to start from instead of random ones. files: names without their ending
    of the files of models that lie beside the preset's own, by kind.
    """

    folder: Path
    preset: str
    device: torch.device
    is_resumed: bool = False
    init: Path | None = None
    command: str = ""
    on_progress: ProgressCallback | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    def about(self, kind: str, recordings: Recordings, params: ModelParams) -> dict[str, Any]:
        """What identifies a run."""
        return {
            "model": kind,
            "settings": asdict(getattr(params, kind)),
            "preset": self.preset,
            "data": recordings.train.fingerprint,
            "started_from": self.origin(kind),
        }

    def origin(self, kind: str) -> Mapping[str, Any] | None:
        """What made the weights the run starts from, None for random ones."""
        if self.init is None:
            return None
        card = checkpoint.read(store.model_path(self.init, self.file(kind)), kind)[1]
        return {key: card.get(key) for key in ("command", "data", "device", "training", "started_from")}

    def file(self, kind: str) -> str:
        """Name of a model's file, without its ending."""
        return self.files.get(kind, kind)


def fit_density_model(recordings: Recordings, params: ModelParams, run: Run) -> Figures:
    """Tabulate the density; the figure is the share of held-out states outside its support."""
    started = time.monotonic()
    density = fit_density(recordings.train.xy.astype(float), params.density)
    held_out = recordings.held_out.xy.reshape(-1, 2).astype(float)
    figures = {"held_out_unsupported_share": float((density.margin(held_out) <= 0).mean())}
    store.save_density(
        run.folder, density, _card("density", params.density, recordings, run, started, figures)
    )
    return figures


def fit_distance_model(recordings: Recordings, params: ModelParams, run: Run) -> Figures:
    """Train the temporal distance, calibrate it, and rank it against held-out step counts."""
    started = time.monotonic()
    torch.manual_seed(params.distance_training.seed)
    learner = DistanceLearner(params.distance, Scaling.fit(recordings.train.xy)).to(run.device)
    _start_from(run, "distance", learner.value, learner.value_average)
    backup = params.distance.backup
    tracks, actions = (thinned(values, backup) for values in _on_device(recordings.train, run.device))
    if params.distance.acts_by_moving:
        actions = displacements(tracks, backup * params.density.jump) / params.distance.move_unit
    loss = compiled(learner.loss, run.device)

    def draw_loss() -> torch.Tensor:
        batch = params.distance_training.batch
        return loss(draw_transitions(tracks, actions, batch, params.goals))

    _train("distance", learner, draw_loss, learner.averages, recordings, params, run)
    net = learner.value_average.cpu()
    tensors = checkpoint.compact(net)
    pairs = calibration.draw_step_pairs(recordings.held_out.xy.astype(float), params.calibration)
    predicted = calibration.predict(TemporalDistance(net), pairs)
    figures = {
        "held_out_rank_correlation": calibration.rank_correlation(predicted, pairs.steps),
        "held_out_median_ratio": float(np.median(pairs.steps / np.maximum(predicted, 1e-6))),
    }
    card = _card("distance", params.distance, recordings, run, started, figures, params.distance_training)
    fitted = calibration.calibrate(predicted, pairs.steps, params.calibration)
    card = {**card, "calibration": fitted.to_dict()}
    store.save_distance(run.folder, tensors, card, run.file("distance"))
    return figures


class _Averaged(nn.Module):
    """A network and its average, trained and saved together."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net
        self.average = copy.deepcopy(net).requires_grad_(False)


def fit_denoiser_model(recordings: Recordings, params: ModelParams, run: Run) -> Figures:
    """Train the denoiser; figures are its held-out loss and how often it leaves the supported space.

    The sampled figures need the density of the same folder.
    """
    started = time.monotonic()
    density = store.load_density(run.folder)
    torch.manual_seed(params.denoiser_training.seed)
    scaling = Scaling.fit(recordings.train.xy)
    pair = _Averaged(Denoiser(params.denoiser, params.window.horizon, scaling)).to(run.device)
    _start_from(run, "denoiser", pair.net, pair.average)
    tracks = pair.net.scaling.normalise(_on_device(recordings.train, run.device)[0])  # type: ignore[union-attr, operator]
    signal = schedule.signal_table(run.device)
    loss = compiled(denoising_loss, run.device)

    def draw_loss() -> torch.Tensor:
        batch = params.denoiser_training.batch
        drawn = draw_batch(tracks, batch, params.window, params.denoiser, params.level_mix)
        return loss(pair.net, *drawn, signal)

    averages = [(pair.net, pair.average)]
    _train("denoiser", pair, draw_loss, lambda: averages, recordings, params, run)
    net = pair.average
    assert isinstance(net, Denoiser)
    tensors = checkpoint.compact(net)
    figures = {"held_out_loss": _held_out_loss(net, recordings, params, run.device)}
    sampler = SegmentSampler(net, None, SamplerParams(), run.device)
    figures.update(
        sample_figures(sampler, density, recordings.held_out.xy.astype(float), params.density.jump)
    )
    card = _card("denoiser", params.denoiser, recordings, run, started, figures, params.denoiser_training)
    store.save_denoiser(run.folder, tensors, {**card, "window": asdict(params.window)})
    return figures


def sample_figures(
    sampler: SegmentSampler, density: GridDensity, xy: FloatArray, jump: float, num_rows: int = 512
) -> Figures:
    """Unguided segments from held-out states, leaving and arriving: unsupported frames and jumps."""
    rng = np.random.default_rng(0)
    flat = xy.reshape(-1, 2)
    start = flat[rng.integers(len(flat), size=num_rows)].astype(float)
    figures = {}
    for name, is_incoming in (("leaving", False), ("arriving", True)):
        query = Query(start, start, np.full(num_rows, is_incoming), np.zeros(num_rows))
        segments = sampler(query, rng)
        hops = np.linalg.norm(np.diff(segments, axis=1), axis=-1)
        figures[f"{name}_unsupported_share"] = float((density.margin(segments[:, 1:]) <= 0).mean())
        figures[f"{name}_jump_share"] = float((hops > jump).any(axis=1).mean())
    return figures


def fit_tracker_model(recordings: Recordings, params: ModelParams, run: Run) -> Figures:
    """Train the tracker; the figure is its squared action error on held-out hindsight subgoals."""
    if not recordings.train.has_actions:
        raise BadDataset("the recordings have no actions, so there is nothing to learn walking from")
    started = time.monotonic()
    torch.manual_seed(params.tracker_training.seed)
    scaling = Scaling.fit(recordings.train.observations)
    learner = get_tracker(params.tracker.name).learner(params.tracker, scaling).to(run.device)
    _start_from(run, "tracker", learner.actor, learner.actor_average)
    observations = torch.as_tensor(recordings.train.observations, device=run.device)
    actions = torch.as_tensor(recordings.train.actions, device=run.device)
    loss = compiled(learner.loss, run.device)

    def draw_loss() -> torch.Tensor:
        return loss(draw_steps(observations, actions, params.tracker_training.batch, params.tracker))

    _train("tracker", learner, draw_loss, learner.averages, recordings, params, run)
    actor = learner.actor_average.cpu()
    tensors = checkpoint.compact(actor)
    torch.manual_seed(0)
    held_out = (
        torch.as_tensor(recordings.held_out.observations),
        torch.as_tensor(recordings.held_out.actions),
    )
    steps = draw_steps(*held_out, 8192, params.tracker)
    with torch.no_grad():
        action = actor(steps.observation, steps.here)
        error = (action - steps.action).square().mean(dim=-1)[steps.is_hindsight]
    figures = {"held_out_action_error": float(error.mean())}
    card = _card("tracker", params.tracker, recordings, run, started, figures, params.tracker_training)
    store.save_tracker(run.folder, tensors, {**card, "tracker": params.tracker.name}, run.file("tracker"))
    return figures


FITS: dict[str, Callable[[Recordings, ModelParams, Run], Figures]] = {
    "density": fit_density_model,
    "distance": fit_distance_model,
    "denoiser": fit_denoiser_model,
    "tracker": fit_tracker_model,
}
"""In the order `train all` runs them: the denoiser's figures use the density."""


def _start_from(run: Run, kind: str, *networks: nn.Module) -> None:
    """Fill networks with the finished weights the run starts from, if any."""
    if run.init is not None:
        path = store.model_path(run.init, run.file(kind))
        for network in networks:
            checkpoint.fill(network, checkpoint.read(path, kind)[0], path)


def _train(
    kind: str,
    module: nn.Module,
    draw_loss: Callable[[], torch.Tensor],
    averages: Callable[[], list[tuple[nn.Module, nn.Module]]],
    recordings: Recordings,
    params: ModelParams,
    run: Run,
) -> None:
    """Run the loop to its end, continuing a saved run where asked."""
    pace: TrainParams = getattr(params, f"{kind}_training")
    about = run.about(kind, recordings, params)
    training = Training(module, draw_loss, averages, pace, run.device, about)
    path = run.folder / f"{run.file(kind)}.training.safetensors"
    if run.is_resumed and path.is_file():
        training.resume(path)
    training.run(path, run.on_progress)


def _held_out_loss(net: Denoiser, recordings: Recordings, params: ModelParams, device: torch.device) -> float:
    torch.manual_seed(0)
    tracks = net.scaling.normalise(_on_device(recordings.held_out, device)[0])
    signal = schedule.signal_table(device)
    losses = []
    with torch.no_grad():
        for _ in range(8):
            drawn = draw_batch(tracks, 1024, params.window, params.denoiser, params.level_mix)
            losses.append(float(denoising_loss(net, *drawn, signal)))
    return float(np.mean(losses))


def _on_device(episodes: Episodes, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.as_tensor(episodes.xy, device=device), torch.as_tensor(episodes.actions, device=device)


def _card(
    kind: str,
    params: object,
    recordings: Recordings,
    run: Run,
    started: float,
    figures: Figures,
    training: TrainParams | None = None,
) -> dict[str, Any]:
    """What made a model: command, seed, data fingerprint, time, device and figures."""
    is_cuda = run.device.type == "cuda"
    return {
        "kind": kind,
        "preset": run.preset,
        "params": asdict(params),  # type: ignore[call-overload]
        "training": asdict(training) if training else None,
        "data": recordings.train.fingerprint,
        "held_out_data": recordings.held_out.fingerprint,
        "has_actions": recordings.train.has_actions,
        "command": run.command,
        "started_from": run.origin(kind) if kind != "density" else None,
        "device": torch.cuda.get_device_name(run.device) if is_cuda else platform.machine(),
        "seconds": round(time.monotonic() - started, 1),
        "figures": figures,
    }
