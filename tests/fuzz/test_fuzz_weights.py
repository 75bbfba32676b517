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
from chronoforest.models.params import SamplerParams
from chronoforest.models.tracking import get_tracker

SOUND = np.full((2, 2), 5.0)
FITTED = asdict(CALIBRATION)


def stored(folder):
    """Four untrained models in a folder; the tensors and card of each by kind."""
    density = fit_density(make_episodes().xy.astype(float), DensityParams(bandwidth=3.0), jump=1.5)
    distance = {**asdict(DISTANCE), "is_directed": False}
    actor = get_tracker(TRACKER.name).actor(TRACKER, SCALING)
    written = {
        "density": (store.density_arrays(density), {}),
        "distance": (make_distance().net.state_dict(), {"params": distance, "calibration": FITTED}),
        "denoiser": (make_denoiser().state_dict(), {"params": asdict(DENOISER), "window": asdict(WINDOW)}),
        "tracker": (
            actor.state_dict(),
            {"params": asdict(TRACKER), "tracker": TRACKER.name, "observation_dim": 2, "action_dim": 2},
        ),
    }
    for kind, (tensors, card) in written.items():
        checkpoint.write(
            store.model_path(folder, kind), tensors, {"kind": kind, "preset": "tiny", "figures": {}, **card}
        )
    return {kind: checkpoint.read(store.model_path(folder, kind), kind) for kind in store.KINDS}


def use(folder):
    """Load all models and ask each something."""
    models = store.load_models(folder, "tiny", SamplerParams(num_steps=2))
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
