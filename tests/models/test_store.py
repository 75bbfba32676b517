from dataclasses import replace

import numpy as np
import pytest
from tiny import DISTANCE, PARAMS, make_episodes

from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint, store
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.models.params import SamplerParams

NAME = "tiny"


@pytest.fixture
def folder(trained, tmp_path):
    """A copy to damage."""
    for kind in store.KINDS:
        path = store.model_path(trained, kind)
        store.model_path(tmp_path, kind).write_bytes(path.read_bytes())
    return tmp_path


def load(folder, preset=NAME):
    return store.load_models(folder, preset, SamplerParams(num_steps=3))


def test_all_models_of_a_folder_load_and_answer(trained):
    models = load(trained)
    places = np.random.default_rng(0).uniform(1, 9, (6, 2))
    codes = models.distance.encode(places)
    assert np.isfinite(models.distance.pairwise(codes, codes)).all()
    assert np.isfinite(models.density.margin(places)).all()
    assert models.tracker(places, places).shape == (6, 2)
    assert models.calibration.alpha >= 0
    assert models.sampler.horizon == PARAMS.window.horizon
    assert models.step_length == models.density.step_length
    assert models.support.mask.shape == models.density.support.shape


@pytest.mark.parametrize(("gap", "heading_steps"), [(0.0, 0), (0.7, 0), (0.0, 1)])
def test_a_density_survives_saving(tmp_path, gap, heading_steps):
    xy = make_episodes().xy.astype(float)
    density = replace(fit_density(xy, DensityParams(), 1.5, heading_steps), gap=gap)
    checkpoint.write(
        store.model_path(tmp_path, "density"),
        store.density_arrays(density),
        {"kind": "density", "preset": NAME},
    )
    again = store.load_density(tmp_path)
    assert again.gap == gap
    places = np.random.default_rng(0).uniform(-1, 11, (200, 2))
    np.testing.assert_array_equal(again.margin(places), density.margin(places))
    np.testing.assert_allclose(again.log_density(places), density.log_density(places), atol=0.01)
    assert again.step_length == density.step_length
    np.testing.assert_array_equal(again.heading_bits, density.heading_bits)


def test_weights_of_another_preset_are_refused_with_the_command_that_makes_the_right_ones(folder):
    with pytest.raises(BadCheckpoint) as error:
        load(folder, "other")
    assert "was trained for 'tiny', not for 'other'" in str(error.value)
    assert "`chronoforest train all --preset other`" in str(error.value)


@pytest.mark.parametrize("damage", ["missing", "truncated", "another"])
@pytest.mark.parametrize("kind", store.KINDS)
def test_a_model_that_is_missing_damaged_or_anothers_is_named(kind, damage, folder):
    path = store.model_path(folder, kind)
    other = store.model_path(folder, "tracker" if kind != "tracker" else "distance")
    content = {"missing": None, "truncated": path.read_bytes()[:-10], "another": other.read_bytes()}[damage]
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadCheckpoint, match=kind):
        load(folder)


@pytest.mark.parametrize("kind", ["distance", "denoiser", "tracker"])
@pytest.mark.parametrize("damage", ["no params", "unknown setting", "bad setting", "other width"])
def test_a_card_that_does_not_describe_its_tensors_is_refused(kind, damage, folder):
    path = store.model_path(folder, kind)
    tensors, card = checkpoint.read(path, kind)
    params = card.pop("params")
    if damage != "no params":
        changes = {
            "unknown setting": {"colour": 3},
            "bad setting": {"width": "wide"},
            "other width": {"width": 2 * params["width"]},
        }
        card["params"] = params | changes[damage]
    checkpoint.write(path, tensors, card)
    with pytest.raises(BadCheckpoint, match=f"{kind}.safetensors"):
        load(folder)


def test_a_distance_without_its_calibration_is_refused(folder):
    path = store.model_path(folder, "distance")
    tensors, card = checkpoint.read(path, "distance")
    for broken in ({}, {"calibration": card["calibration"] | {"alpha": -1.0}}):
        without = {key: value for key, value in card.items() if key != "calibration"}
        checkpoint.write(path, tensors, without | broken)
        with pytest.raises(BadCheckpoint, match=r"distance\.safetensors"):
            load(folder)


@pytest.mark.parametrize("name", ["log_table", "support", "origin", "cell", "step_length"])
def test_a_density_without_one_of_its_tables_is_refused(name, folder):
    path = store.model_path(folder, "density")
    tensors, card = checkpoint.read(path, "density")
    del tensors[name]
    checkpoint.write(path, tensors, card)
    with pytest.raises(BadCheckpoint, match=f"lacks '{name}'"):
        load(folder)


def test_cards_say_what_made_the_models(trained):
    for kind in store.KINDS:
        card = checkpoint.read(store.model_path(trained, kind), kind)[1]
        assert card["preset"] == NAME
        assert card["data"] == make_episodes().fingerprint
        assert card["figures"]
        assert {"command", "seconds", "device", "training"} <= card.keys()
    assert checkpoint.read(store.model_path(trained, "distance"), "distance")[1]["params"] == {
        **DISTANCE.__dict__,
        "is_directed": False,
    }
