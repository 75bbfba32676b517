"""Training of each model on recordings: what is drawn, what is kept, and how good it turned out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import torch
from torch import nn

from chronoforest.data.episodes import Episodes
from chronoforest.data.gaps import gaps
from chronoforest.data.goals import displacements, draw_transitions, thinned
from chronoforest.data.scaling import Scaling
from chronoforest.errors import BadDataset
from chronoforest.models import calibration, checkpoint, schedule, store
from chronoforest.models.denoiser import Denoiser, denoising_loss, draw_batch
from chronoforest.models.density import LARGEST_GAP, GridDensity, fit_density, full_step
from chronoforest.models.distance import DistanceLearner, TemporalDistance, ValueNet
from chronoforest.models.params import ModelParams
from chronoforest.models.runs import Figures, Recordings, TrainingRun
from chronoforest.models.sampler import SamplerParams, SegmentSampler
from chronoforest.models.tracking.kinds import get_tracker
from chronoforest.models.tracking.subgoals import draw_steps
from chronoforest.models.train import Learner, average_of, compiled
from chronoforest.models.watch import Watch, same_draws
from chronoforest.types import FloatArray, Query

DENOISER_LOOP = {"warmup": 1000, "weight_decay": 1e-4, "clip": 1.0}
DISTANCE_LOOP = {"final_share": 0.02}
"""How a model's training differs from `LoopParams`, whatever the preset."""

UNRIPE_DISTANCE = 0.5
"""Share of its steps before which a distance is not compared with later ones. One that has hardly learned
states straight distances; within a recording these look right, and one-way streets it does not know yet."""

NUM_SAMPLED = 512  # segments each way, for the denoiser's figures
NUM_HELD_OUT = 8192  # steps, for the tracker's
NUM_SAMPLED_LOOKED, NUM_STEPS_LOOKED = 96, 8  # segments each way and denoising steps, while a denoiser trains
NUM_LOOKED_AT = 4000  # pairs of states, while a distance trains


def fit_density_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Tabulate the density; the figure is the share of held-out states outside the others' support."""
    jump, tracks = params.world.jump, recordings.places
    settings = params.density
    if params.world.is_one_way:
        density = fit_density(tracks, settings, jump, params.window.stride)
    else:
        # Only here: a lane is as wide as recordings lie side by side, however many there are.
        apart = gaps(tracks, recordings.owner)
        settings = settings.widened(apart, full_step(tracks, jump))
        density = replace(fit_density(tracks, settings, jump), gap=float(np.quantile(apart, LARGEST_GAP)))
    learned = recordings.train.xy.astype(float)
    others = fit_density(learned, settings, jump) if recordings.is_divided else density
    held_out = recordings.held_out.xy.reshape(-1, 2).astype(float)
    figures = {"held_out_unsupported_share": float((others.margin(held_out) <= 0).mean())}
    tensors = store.density_tensors(density)
    return run.save("density", tensors, recordings, figures, params=asdict(settings))


def fit_distance_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Train the temporal distance, calibrate it, and rank it against held-out step counts."""
    torch.manual_seed(run.seed)
    is_directed, jump, backup = not params.world.is_reversible, params.world.jump, params.distance.backup
    learner = DistanceLearner(params.distance, Scaling.fit(recordings.train.xy), is_directed).to(run.device)
    run.start_from("distance", learner.value, learner.value_average)
    tracks, actions = (thinned(values, backup) for values in _on_device(recordings.train, run.device))
    if params.distance.has_moves_for_actions:
        actions = displacements(tracks, backup * jump) / params.distance.move_unit
    loss = compiled(learner.loss, run.device)

    def draw_loss() -> torch.Tensor:
        return loss(draw_transitions(tracks, actions, loop.batch, params.goals))

    loop = run.loop(params.distance_training, **DISTANCE_LOOP, patience=params.patience)
    settings = {**asdict(params.distance), "is_directed": is_directed}
    held_out = recordings.held_out.xy.astype(float)
    some = calibration.draw_step_pairs(held_out, params.calibration, jump, NUM_LOOKED_AT)
    watch = Watch(
        learner.value_average,
        lambda: _stated_error(learner.value_average, some, run.device),
        loop.num_steps,
        loop.patience,
        UNRIPE_DISTANCE,
    )
    run.train("distance", learner, draw_loss, loop, settings, recordings, watch)
    net = learner.value_average.cpu()
    tensors = checkpoint.compact(net)
    pairs = calibration.draw_step_pairs(held_out, params.calibration, jump)
    predicted = calibration.predict(TemporalDistance(net), pairs)
    figures = {
        "held_out_rank_correlation": calibration.rank_correlation(predicted, pairs.steps),
        "held_out_median_ratio": float(np.median(pairs.steps / np.maximum(predicted, 1e-6))),
    }
    fitted = calibration.calibrate(predicted, pairs.steps, params.calibration)
    about = {
        "params": settings,
        "training": asdict(loop),
        "calibration": fitted.to_dict(),
        "watch": watch.to_dict(),
    }
    return run.save("distance", tensors, recordings, figures, **about)


class _DenoiserLearner(Learner):
    """A denoiser and its average, trained and saved together."""

    def __init__(self, net: Denoiser) -> None:
        super().__init__()
        self.net = net
        self.net_average = average_of(net)


def fit_denoiser_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Train the denoiser; figures are its held-out loss and how often it leaves the supported space.

    The sampled figures need the density of the same folder.
    """
    density = store.load_density(run.folder)
    torch.manual_seed(run.seed)
    scaling = Scaling.fit(recordings.train.xy)
    learner = _DenoiserLearner(Denoiser(params.denoiser, params.window, scaling)).to(run.device)
    run.start_from("denoiser", learner.net, learner.net_average)
    tracks = learner.net.scaling.normalise(_on_device(recordings.train, run.device)[0])
    signal = schedule.signal_table(run.device)
    loss = compiled(denoising_loss, run.device)

    def draw_loss() -> torch.Tensor:
        return loss(learner.net, *draw_batch(tracks, loop.batch, params.window, params.level_mix), signal)

    loop = run.loop(params.denoiser_training, **DENOISER_LOOP, patience=params.patience)
    settings = asdict(params.denoiser)
    held_out, jump = recordings.held_out.xy.astype(float), params.world.jump
    quick = SegmentSampler(learner.net_average, None, SamplerParams(NUM_STEPS_LOOKED), run.device)
    watch = Watch(
        learner.net_average,
        lambda: _broken_share(quick, density, held_out, jump),
        loop.num_steps,
        loop.patience,
    )
    run.train("denoiser", learner, draw_loss, loop, settings, recordings, watch)
    tensors = checkpoint.compact(learner.net_average)
    sampler = SegmentSampler(learner.net_average, None, SamplerParams(), run.device)
    figures = {
        "training_loss": _denoising_error(learner.net_average, recordings.train, params, run.device),
        "held_out_loss": _denoising_error(learner.net_average, recordings.held_out, params, run.device),
        **sample_figures(sampler, density, held_out, jump),
        "recorded_jump_share": _jump_share(held_out[:, :: params.window.stride], jump),
    }
    about = {
        "params": settings,
        "training": asdict(loop),
        "window": asdict(params.window),
        "watch": watch.to_dict(),
    }
    return run.save("denoiser", tensors, recordings, figures, **about)


def _broken_share(sampler: SegmentSampler, density: GridDensity, xy: FloatArray, jump: float) -> float:
    """Mean share of what is wrong with few segments: frames without support, and segments that jump.

    Not the loss: with few recordings it is lowest long before segments hold together.
    """
    return float(np.mean(list(sample_figures(sampler, density, xy, jump, NUM_SAMPLED_LOOKED).values())))


def sample_figures(
    sampler: SegmentSampler, density: GridDensity, xy: FloatArray, jump: float, num_sampled: int = NUM_SAMPLED
) -> Figures:
    """Unguided segments from held-out states, leaving and arriving: unsupported frames and jumps."""
    rng = np.random.default_rng(0)
    flat = xy.reshape(-1, 2)
    start = flat[rng.integers(len(flat), size=num_sampled)].astype(float)
    figures = {}
    for name, is_incoming in (("leaving", False), ("arriving", True)):
        query = Query(start, start, np.full(num_sampled, is_incoming), np.zeros(num_sampled))
        segments = sampler(query, rng)
        figures[f"{name}_unsupported_share"] = float((density.margin(segments[:, 1:]) <= 0).mean())
        figures[f"{name}_jump_share"] = _jump_share(segments, jump)
    return figures


def _jump_share(tracks: FloatArray, jump: float) -> float:
    """Share of the tracks [n, t, 2] with a hop longer than `jump` between two frames."""
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    return float((hops > jump).any(axis=1).mean())


def fit_tracker_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Train the tracker; the figure is its squared action error on held-out hindsight subgoals."""
    if not recordings.train.has_actions:
        raise BadDataset("the recordings have no actions, so there is nothing to learn walking from")
    torch.manual_seed(run.seed)
    kind = get_tracker(params.tracker.name)
    learner = kind.learner(params.tracker, Scaling.fit(recordings.train.observations)).to(run.device)
    run.start_from("tracker", learner.actor, learner.actor_average)
    observations = torch.as_tensor(recordings.train.observations, device=run.device)
    actions = torch.as_tensor(recordings.train.actions, device=run.device)
    loss = compiled(learner.loss, run.device)

    def draw_loss() -> torch.Tensor:
        return loss(draw_steps(observations, actions, loop.batch, params.tracker))

    loop = run.loop(params.tracker_training, clip=kind.clip)
    settings = asdict(params.tracker)
    run.train("tracker", learner, draw_loss, loop, settings, recordings)
    actor = learner.actor_average.cpu()
    tensors = checkpoint.compact(actor)
    figures = {"held_out_action_error": _action_error(actor, recordings.held_out, params)}
    about = {"params": settings, "training": asdict(loop), "tracker": params.tracker.name}
    return run.save("tracker", tensors, recordings, figures, **about)


FITS: dict[str, Callable[[Recordings, ModelParams, TrainingRun], Figures]] = {
    "density": fit_density_model,
    "distance": fit_distance_model,
    "denoiser": fit_denoiser_model,
    "tracker": fit_tracker_model,
}
"""In the order `train all` runs them: the denoiser's figures use the density."""


def _denoising_error(net: Denoiser, episodes: Episodes, params: ModelParams, device: torch.device) -> float:
    """The loss on windows of recordings, the same ones and with the same noise every time."""
    tracks = net.scaling.normalise(_on_device(episodes, device)[0])
    signal = schedule.signal_table(device)
    with torch.no_grad(), same_draws(device):
        drawn = (draw_batch(tracks, 1024, params.window, params.level_mix) for _ in range(8))
        return float(np.mean([float(denoising_loss(net, *batch, signal)) for batch in drawn]))


def _stated_error(net: ValueNet, pairs: calibration.StepPairs, device: torch.device) -> float:
    """By what factor the distance states pairs too near or too far, as a mean logarithm.

    Their order would tell nothing: straight distance puts the states of a recording in order, too.
    """
    predicted = calibration.predict(TemporalDistance(net, device), pairs)
    return float(np.abs(np.log((1.0 + predicted) / (1.0 + pairs.steps))).mean())


def _action_error(actor: nn.Module, held_out: Episodes, params: ModelParams) -> float:
    torch.manual_seed(0)
    observations, actions = torch.as_tensor(held_out.observations), torch.as_tensor(held_out.actions)
    steps = draw_steps(observations, actions, NUM_HELD_OUT, params.tracker)
    with torch.no_grad():
        error = (actor(steps.observation, steps.here) - steps.action).square().mean(dim=-1)
    return float(error[steps.is_hindsight].mean())


def _on_device(episodes: Episodes, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.as_tensor(episodes.xy, device=device), torch.as_tensor(episodes.actions, device=device)
