from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from tiny import PARAMS, TRACKER, make_ant_episodes

from chronoforest.errors import BadCheckpoint, UnknownTracker
from chronoforest.models import checkpoint, loading, store
from chronoforest.models.fit import fit_tracker_model
from chronoforest.models.params import SubgoalParams
from chronoforest.models.runs import Recordings, TrainingRun
from chronoforest.models.store import write_card
from chronoforest.models.tracking import get_tracker
from chronoforest.names import TRACKERS

PACE = replace(PARAMS.tracker_training, num_steps=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An ant's trackers of every kind; the weighted regression is the preset's own."""
    folder = tmp_path_factory.mktemp("weights")
    recordings = Recordings(make_ant_episodes(), make_ant_episodes(seed=1))
    own = replace(PARAMS, tracker_training=PACE)
    for name in TRACKERS:
        params = own.with_tracker(name)
        params = replace(params, tracker=small(params.tracker))
        files = {"tracker": store.tracker_file(name, "awr")}
        fit_tracker_model(recordings, params, TrainingRun(folder, "tiny", torch.device("cpu"), files=files))
    return folder


def small(params):
    return replace(params, num_critics=2, width=8) if hasattr(params, "num_critics") else params


@pytest.mark.parametrize("name", TRACKERS)
def test_every_tracker_is_trained_stored_and_loaded_by_name(name, folder):
    file = store.tracker_file(name, "awr")
    tracker = loading.load_tracker(folder, file, "tiny")
    observation = make_ant_episodes().observations[0].astype(float)
    action = tracker(observation, np.ones((len(observation), 2)))
    assert action.shape == (len(observation), 8)
    assert (np.abs(action) <= 1).all()
    assert checkpoint.read(store.model_path(folder, file), "tracker")[1]["tracker"] == name


def test_only_the_presets_own_tracker_has_the_plain_name(folder):
    assert store.files_of(folder, "tracker") == ["tracker", "tracker-bc", "tracker-diffusion-ql"]
    assert store.tracker_file("bc", "bc") == "tracker"


def test_a_tracker_that_is_not_there_is_an_error_that_lists_those_that_are(folder):
    with pytest.raises(
        BadCheckpoint, match=r"tracker-sac\.safetensors; .* has tracker\.safetensors, tracker-bc"
    ):
        loading.load_tracker(folder, "tracker-sac")


def test_the_card_of_a_folder_tells_of_every_tracker(folder):
    text = write_card(folder).read_text()
    for file in store.files_of(folder, "tracker"):
        assert f"## {file}\n" in text


def test_a_card_of_an_unknown_kind_is_refused(folder, tmp_path):
    tensors, card = checkpoint.read(store.model_path(folder, "tracker"), "tracker")
    checkpoint.write(store.model_path(tmp_path, "tracker"), tensors, {**card, "tracker": "sac"})
    with pytest.raises(BadCheckpoint, match="unknown tracker 'sac'"):
        loading.load_tracker(tmp_path)


@pytest.mark.parametrize("name", TRACKERS)
def test_another_tracker_takes_over_the_body_and_the_subgoals_of_the_presets_own(name):
    preset = replace(PARAMS, tracker=replace(TRACKER, radius=0.7))
    params = preset.with_tracker(name).tracker
    assert params.name == name
    for field in fields(SubgoalParams):
        assert getattr(params, field.name) == getattr(preset.tracker, field.name)


def test_cloning_takes_over_the_network_too_and_diffusion_has_its_own():
    assert PARAMS.with_tracker("bc").tracker.width == TRACKER.width
    assert PARAMS.with_tracker("diffusion-ql").tracker.width == 256
    assert PARAMS.with_tracker("awr") is PARAMS


def test_an_unknown_tracker_is_refused_with_those_that_exist():
    with pytest.raises(UnknownTracker, match="unknown tracker 'sac'; available: awr, bc"):
        get_tracker("sac")
