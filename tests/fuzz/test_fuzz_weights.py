"""Weights with changed bytes or cards, with or without their hash, are models that answer or are refused."""

import json
from dataclasses import asdict

import numpy as np
import torch
from damage import cases, damaged_bytes, ends_well, mutated, places
from fakes import CALIBRATION
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save
from tiny import DENOISER, DISTANCE, SCALING, TRACKER, WINDOW, make_denoiser, make_distance, make_episodes

from chronoforest.models import checkpoint, store
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.models.sampler import SamplerParams
from chronoforest.models.tracking.regression import Actor

SOUND = np.full((2, 2), 5.0)


def stored(folder):
    """Four untrained models in a folder; the tensors and card of each by kind."""
    card = {"preset": "tiny", "figures": {}}
    density = fit_density(make_episodes().xy.astype(float), DensityParams(cell=1.0))
    store.save_density(folder, density, {**card, "kind": "density"})
    distance = {**card, "kind": "distance", "params": asdict(DISTANCE), "calibration": CALIBRATION.to_dict()}
    store.save_distance(folder, make_distance().net.state_dict(), distance)
    denoiser = {**card, "kind": "denoiser", "params": asdict(DENOISER), "window": asdict(WINDOW)}
    store.save_denoiser(folder, make_denoiser().state_dict(), denoiser)
    tracker = {**card, "kind": "tracker", "params": asdict(TRACKER), "tracker": TRACKER.name}
    store.save_tracker(folder, Actor(TRACKER, SCALING).state_dict(), tracker)
    return {kind: checkpoint.read(store.model_path(folder, kind), kind) for kind in store.KINDS}


def use(folder):
    """Load all models and ask each something."""
    models = store.load_models(folder, "tiny", SamplerParams(num_steps=2))
    store.trained_window(folder)
    codes = models.distance.encode(SOUND)
    return models.distance.pairwise(codes, codes), models.density.margin(SOUND), models.tracker(SOUND, SOUND)


def unhashed(tensors, card):
    return save(dict(tensors), {"format": checkpoint.FORMAT, "about": json.dumps(card)})


@st.composite
def damages(draw, models, contents):
    """A kind and the new content of its file: bytes damaged, or a card changed in a file without a hash."""
    kind = draw(st.sampled_from(store.KINDS))
    tensors, card = models[kind]
    if draw(st.booleans()):
        return kind, draw(damaged_bytes(contents[kind]))
    if draw(st.booleans()):
        return kind, draw(damaged_bytes(unhashed(tensors, card)))
    return kind, unhashed(tensors, draw(mutated(card, list(places(card)))))


def test_weights_are_used_or_refused(tmp_path):
    torch.manual_seed(0)
    models = stored(tmp_path)
    contents = {kind: store.model_path(tmp_path, kind).read_bytes() for kind in store.KINDS}
    assert np.isfinite(np.concatenate([answer.reshape(-1) for answer in use(tmp_path)])).all()

    @cases(200)
    @given(damages(models, contents))
    def damaged(damage):
        kind, content = damage
        store.model_path(tmp_path, kind).write_bytes(content)
        ends_well(use, tmp_path)
        store.model_path(tmp_path, kind).write_bytes(contents[kind])

    damaged()
