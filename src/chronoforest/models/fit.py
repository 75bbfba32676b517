"""Training of each model on recordings: what is drawn, what is kept, and how good it turned out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import torch

from chronoforest.data.episodes import Episodes, gaps
from chronoforest.data.scaling import Scaling
from chronoforest.errors import BadDataset
from chronoforest.models import checkpoint, store
from chronoforest.models.denoiser import Denoiser, denoising_loss, draw_batch, signal_table
from chronoforest.models.density import GridDensity, fit_density, full_step
from chronoforest.models.distance import (
    DistanceLearner,
    TemporalDistance,
    calibrate,
    displacements,
    draw_step_pairs,
    draw_transitions,
    predict,
    rank_correlation,
    thinned,
)
from chronoforest.models.networks import Averaged, compiled
from chronoforest.models.params import ModelParams, SamplerParams
from chronoforest.models.runs import Figures, Recordings, TrainingRun
from chronoforest.models.sampler import SegmentSampler
from chronoforest.models.tracking import draw_steps, get_tracker
from chronoforest.models.train import Watch, same_draws
from chronoforest.types import FloatArray, Query


def fit_density_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Tabulate the density; the figure is the share of held-out states outside the others' support."""
    jump, tracks, settings = params.world.jump, recordings.places, params.density
    if params.world.is_one_way:
        density = fit_density(tracks, settings, jump, params.window.stride)
    else:
        # Only here: a lane is as wide as recordings lie side by side, however many there are.
        apart = gaps(tracks, recordings.owner)
        settings = settings.widened(apart, full_step(tracks, jump))
        density = replace(fit_density(tracks, settings, jump), gap=float(np.quantile(apart, 0.99)))
    learned = recordings.train.xy.astype(float)
    others = fit_density(learned, settings, jump) if recordings.is_divided else density
    held_out = recordings.held_out.xy.reshape(-1, 2).astype(float)
    figures = {"held_out_unsupported_share": float((others.margin(held_out) <= 0).mean())}
    return run.save(
        "density", store.density_arrays(density), figures, **recordings.card, params=asdict(settings)
    )


def fit_distance_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Train the temporal distance, calibrate it, and rank it against held-out step counts."""
    torch.manual_seed(run.seed)
    is_directed, jump, backup = not params.world.is_reversible, params.world.jump, params.distance.backup
    tracks, actions = (thinned(values, backup) for values in _on_device(recordings.train, run.device))
    if params.distance.has_moves_for_actions:
        actions = displacements(tracks, backup * jump)
    scaling = Scaling.fit(recordings.train.xy)
    learner = DistanceLearner(params.distance, scaling, is_directed, actions.shape[-1]).to(run.device)
    run.start_from("distance", learner.value, learner.value_average)
    loss = compiled(learner.loss, run.device)
    loop = run.loop(params.distance_training, final_share=0.02, patience=params.patience)
    settings = {**asdict(params.distance), "is_directed": is_directed}
    held_out = recordings.held_out.xy.astype(float)
    some = draw_step_pairs(held_out, jump, num_pairs=4000)

    def draw_loss() -> torch.Tensor:
        return loss(draw_transitions(tracks, actions, loop.batch, params.goals))

    def stated_error() -> float:
        """By what factor pairs are stated too near or too far, as a mean logarithm: their order would tell
        nothing, since straight distance puts the states of a recording in order, too."""
        predicted = predict(TemporalDistance(learner.value_average, run.device), some)
        return float(np.abs(np.log((1.0 + predicted) / (1.0 + some.steps))).mean())

    # A distance that has hardly learned states straight lines. Within a recording these look right, and of
    # one-way streets it knows nothing yet: the first half of its steps is not compared with later ones.
    watch = Watch(learner.value_average, stated_error, loop.num_steps, loop.patience, unripe=0.5)
    run.train("distance", learner, draw_loss, loop, {"settings": settings, **recordings.data}, watch)
    net = learner.value_average.cpu()
    tensors = checkpoint.compact(net)
    pairs = draw_step_pairs(held_out, jump)
    predicted = predict(TemporalDistance(net), pairs)
    figures = {
        "held_out_rank_correlation": rank_correlation(predicted, pairs.steps),
        "held_out_median_ratio": float(np.median(pairs.steps / np.maximum(predicted, 1e-6))),
    }
    fitted = asdict(calibrate(predicted, pairs.steps, params.distance.local_window))
    about = {**recordings.card, "params": settings, "calibration": fitted}
    return run.save("distance", tensors, figures, loop, watch, **about)


def fit_denoiser_model(recordings: Recordings, params: ModelParams, run: TrainingRun) -> Figures:
    """Train the denoiser; figures are its loss and how often it leaves the supported space, which the density
    of the same folder tells."""
    density = store.load_density(run.folder)
    torch.manual_seed(run.seed)
    scaling = Scaling.fit(recordings.train.xy)
    learner = Averaged(Denoiser(params.denoiser, params.window, scaling)).to(run.device)
    net = learner.net_average
    run.start_from("denoiser", learner.net, net)
    tracks = learner.net.scaling.normalise(_on_device(recordings.train, run.device)[0])
    signal = signal_table(run.device)
    loss = compiled(denoising_loss, run.device)
    loop = run.loop(
        params.denoiser_training, warmup=1000, weight_decay=1e-4, clip=1.0, patience=params.patience
    )
    settings = asdict(params.denoiser)
    held_out, jump = recordings.held_out.xy.astype(float), params.world.jump
    quick = SegmentSampler(net, None, SamplerParams(num_steps=8), run.device)

    def draw_loss() -> torch.Tensor:
        return loss(learner.net, *draw_batch(tracks, loop.batch, params.window, params.level_mix), signal)

    watch = Watch(net, lambda: _broken_share(quick, density, held_out, jump), loop.num_steps, loop.patience)
    run.train("denoiser", learner, draw_loss, loop, {"settings": settings, **recordings.data}, watch)
    tensors = checkpoint.compact(net)
    sampler = SegmentSampler(net, None, SamplerParams(), run.device)
    figures = {
        "training_loss": _denoising_error(net, recordings.train, params, run.device),
        "held_out_loss": _denoising_error(net, recordings.held_out, params, run.device),
        **sample_figures(sampler, density, held_out, jump),
        "recorded_jump_share": _jump_share(held_out[:, :: params.window.stride], jump),
    }
    about = {**recordings.card, "params": settings, "window": asdict(params.window)}
    return run.save("denoiser", tensors, figures, loop, watch, **about)


def _broken_share(sampler: SegmentSampler, density: GridDensity, xy: FloatArray, jump: float) -> float:
    """Mean share of what is wrong with few segments: frames without support, and segments that jump.

    Not the loss: with few recordings it is lowest long before segments hold together.
    """
    return float(np.mean(list(sample_figures(sampler, density, xy, jump, num_sampled=96).values())))


def sample_figures(
    sampler: SegmentSampler, density: GridDensity, xy: FloatArray, jump: float, num_sampled: int = 512
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
    kind, action_dim = get_tracker(params.tracker.name), recordings.train.actions.shape[-1]
    scaling = Scaling.fit(recordings.train.observations)
    learner = kind.learner(params.tracker, scaling, action_dim).to(run.device)
    run.start_from("tracker", learner.actor, learner.actor_average)
    observations = torch.as_tensor(recordings.train.observations, device=run.device)
    actions = torch.as_tensor(recordings.train.actions, device=run.device)
    loss = compiled(learner.loss, run.device)

    def draw_loss() -> torch.Tensor:
        return loss(draw_steps(observations, actions, loop.batch, params.tracker, params.window.stride))

    loop = run.loop(params.tracker_training, clip=kind.clip)
    settings = asdict(params.tracker)
    run.train("tracker", learner, draw_loss, loop, {"settings": settings, **recordings.data})
    actor = learner.actor_average.cpu()
    tensors = checkpoint.compact(actor)
    held_out = recordings.held_out
    seen, done = torch.as_tensor(held_out.observations), torch.as_tensor(held_out.actions)
    torch.manual_seed(0)
    steps = draw_steps(seen, done, 8192, params.tracker, params.window.stride)
    with torch.no_grad():
        error = (actor(steps.observation, steps.here) - steps.action).square().mean(dim=-1)
    figures = {"held_out_action_error": float(error[steps.is_hindsight].mean())}
    sizes = {"observation_dim": observations.shape[-1], "action_dim": action_dim}
    about = {**recordings.card, "params": settings, "tracker": params.tracker.name, **sizes}
    return run.save("tracker", tensors, figures, loop, **about)


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
    signal = signal_table(device)
    with torch.no_grad(), same_draws(device):
        drawn = (draw_batch(tracks, 1024, params.window, params.level_mix) for _ in range(8))
        return float(np.mean([float(denoising_loss(net, *batch, signal)) for batch in drawn]))


def _on_device(episodes: Episodes, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.as_tensor(episodes.xy, device=device), torch.as_tensor(episodes.actions, device=device)
