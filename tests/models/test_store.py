from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import DISTANCE, PARAMS, make_episodes

from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint, store
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.models.fit import FITS
from chronoforest.models.runs import Recordings, TrainingRun
from chronoforest.models.sampler import SamplerParams

NAME = "tiny"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with all four models."""
    folder = tmp_path_factory.mktemp("weights")
    recordings = Recordings(make_episodes(), make_episodes(seed=1))
    for fit in FITS.values():
        fit(recordings, PARAMS, TrainingRun(folder, NAME, torch.device("cpu")))
    return folder


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


def test_loading_twice_gives_the_same_answers(trained):
    places = np.random.default_rng(0).uniform(1, 9, (6, 2))
    first, again = load(trained), load(trained)
    np.testing.assert_array_equal(first.distance.encode(places), again.distance.encode(places))
    np.testing.assert_array_equal(first.tracker(places, places), again.tracker(places, places))


@pytest.mark.parametrize("gap", [0.0, 0.7])
def test_a_density_survives_saving(tmp_path, gap):
    density = replace(fit_density(make_episodes().xy.astype(float), DensityParams(), jump=1.5), gap=gap)
    checkpoint.write(
        store.model_path(tmp_path, "density"),
        store.density_tensors(density),
        {"kind": "density", "preset": NAME},
    )
    again = store.load_density(tmp_path)
    assert again.gap == gap
    places = np.random.default_rng(0).uniform(-1, 11, (200, 2))
    np.testing.assert_array_equal(again.margin(places), density.margin(places))
    np.testing.assert_allclose(again.log_density(places), density.log_density(places), atol=0.01)
    assert again.step_length == density.step_length
    assert again.headings is None


def test_a_density_keeps_its_headings(tmp_path):
    density = fit_density(make_episodes().xy.astype(float), DensityParams(), jump=1.5, heading_steps=1)
    checkpoint.write(
        store.model_path(tmp_path, "density"),
        store.density_tensors(density),
        {"kind": "density", "preset": NAME},
    )
    np.testing.assert_array_equal(store.load_density(tmp_path).headings, density.headings)


def test_weights_of_another_preset_are_refused_with_the_command_that_makes_the_right_ones(folder):
    with pytest.raises(BadCheckpoint) as error:
        load(folder, "other")
    assert "was trained for 'tiny', not for 'other'" in str(error.value)
    assert "`chronoforest train all --preset other`" in str(error.value)


@pytest.mark.parametrize("kind", store.KINDS)
def test_a_missing_model_is_named(kind, folder):
    store.model_path(folder, kind).unlink()
    with pytest.raises(BadCheckpoint, match=f"no checkpoint at .*{kind}"):
        load(folder)


@pytest.mark.parametrize("kind", store.KINDS)
def test_a_truncated_model_is_named(kind, folder):
    path = store.model_path(folder, kind)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadCheckpoint, match=f"{kind}.safetensors is damaged"):
        load(folder)


@pytest.mark.parametrize("kind", store.KINDS)
def test_a_model_in_anothers_place_is_refused(kind, folder):
    other = "tracker" if kind != "tracker" else "distance"
    store.model_path(folder, kind).write_bytes(store.model_path(folder, other).read_bytes())
    with pytest.raises(BadCheckpoint, match=f"holds a '{other}', expected a '{kind}'"):
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


def test_cards_of_earlier_versions_are_understood(folder):
    """What they name is called otherwise now, fixed, or follows from something else."""
    old = {
        "distance": {"averages_luck": True, "acts_by_moving": False, "state_dim": 2, "latent": 32},
        "denoiser": {"frame_dim": 2, "frames_per_token": 10, "num_heads": 1, "feed_forward": 64},
        "tracker": {"random_share": 0.3, "num_layers": 3, "expectile": 0.7, "largest_weight": 50.0},
    }
    for kind, names in old.items():
        path = store.model_path(folder, kind)
        tensors, card = checkpoint.read(path, kind)
        params = {name: value for name, value in card["params"].items() if not name.startswith("has_")}
        card["window"] = {**card.get("window", {}), "padded_share": 0.4, "max_late": 80}
        checkpoint.write(path, tensors, {**card, "params": {**params, **names}})
    models = load(folder)
    assert models.distance.net.params == DISTANCE
    assert models.sampler.net.window == PARAMS.window


def test_a_denoiser_of_another_number_of_heads_is_refused(folder):
    path = store.model_path(folder, "denoiser")
    tensors, card = checkpoint.read(path, "denoiser")
    checkpoint.write(path, tensors, {**card, "params": {**card["params"], "num_heads": 2}})
    with pytest.raises(BadCheckpoint, match="width 16 has 1 heads now, it has 2"):
        load(folder)
