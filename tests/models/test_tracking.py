from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from tiny import PARAMS, SCALING, TRACKER, clocks, least_cosine, make_ant_episodes, noisy_walks

from chronoforest.data.scaling import Scaling
from chronoforest.errors import BadCheckpoint, UnknownTracker
from chronoforest.models import checkpoint, store, tracking
from chronoforest.models.fit import fit_tracker_model
from chronoforest.models.params import CloningParams, SubgoalParams
from chronoforest.models.runs import Recordings, TrainingRun
from chronoforest.models.store import write_card
from chronoforest.models.tracking import (
    RANDOM_SHARE,
    CloningLearner,
    RegressionActor,
    Steps,
    SubgoalInputs,
    SubgoalTracker,
    TrackerLearner,
    draw_steps,
    get_tracker,
    load_tracker,
)
from chronoforest.names import TRACKERS

CLONING = CloningParams(width=16)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_actions_stay_in_bounds_whatever_is_asked():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    rng = np.random.default_rng(0)
    action = tracker(rng.normal(0, 100, (200, 2)), rng.normal(0, 1000, (200, 2)))
    assert action.shape == (200, 2)
    assert (np.abs(action) <= 1.0).all()


def test_one_state_and_a_batch_of_states_get_the_same_actions():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    observation, subgoal = np.random.default_rng(0).normal(size=(2, 5, 2))
    batch = tracker(observation, subgoal)
    for row in range(5):
        np.testing.assert_allclose(tracker(observation[row], subgoal[row]), batch[row], atol=1e-6)


def test_the_body_of_an_observation_matters_and_its_place_does_not():
    tracker = SubgoalTracker(RegressionActor(TRACKER, Scaling.unit(5)))
    here, elsewhere, bent = np.zeros((3, 5))
    elsewhere[:2], bent[3] = 9.0, 1.0
    np.testing.assert_array_equal(tracker(here, np.ones(2)), tracker(elsewhere, np.ones(2)))
    assert not np.allclose(tracker(here, np.ones(2)), tracker(bent, np.ones(2)))


def test_subgoals_beyond_the_largest_are_seen_at_its_length_in_their_direction():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    edge = np.array([0.6, 0.8]) * TRACKER.largest_subgoal
    np.testing.assert_allclose(tracker(np.zeros(2), edge), tracker(np.zeros(2), 50 * edge), atol=1e-6)
    assert not np.allclose(tracker(np.zeros(2), edge), tracker(np.zeros(2), 0.5 * edge))


@pytest.mark.parametrize(("learner", "params"), [(TrackerLearner, TRACKER), (CloningLearner, CLONING)])
def test_training_teaches_a_point_to_walk_toward_its_subgoal(learner, params):
    """Recorded actions move the point by a fifth of themselves, with noise."""
    assert least_cosine(trained(learner, params, *noisy_walks())) > 0.8


def trained(kind, params, observations, moves):
    """A tracker after 250 steps."""
    learner = kind(params, Scaling.fit(observations.numpy()))
    optimizer = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=3e-3)
    for _ in range(250):
        optimizer.zero_grad()
        learner.loss(draw_steps(observations, moves, 128, params, stride=1)).backward()
        optimizer.step()
    return SubgoalTracker(learner.actor)


def test_weights_prefer_what_led_to_the_subgoal_sooner():
    """The point steps or rests by chance; for a subgoal one step away, resting was often recorded too."""
    stepped = (torch.rand(200, 60) < 0.5).float()
    moves = torch.stack([stepped, torch.zeros_like(stepped)], dim=-1)
    observations = torch.cat([torch.zeros(200, 1, 2), 0.2 * moves[:, :-1].cumsum(dim=1)], dim=1)
    weighted, plain = (
        trained(kind, replace(params, radius=0.1), observations, moves)
        for kind, params in ((TrackerLearner, TRACKER), (CloningLearner, CLONING))
    )
    one_step = np.array([0.2, 0.0])
    assert plain(np.zeros(2), one_step)[0] < 0.75
    assert weighted(np.zeros(2), one_step)[0] > plain(np.zeros(2), one_step)[0] + 0.1


def test_examples_that_are_not_hindsight_do_not_teach_the_actor():
    tracks = clocks()
    learner = TrackerLearner(TRACKER, SCALING)
    learner.loss(draw_steps(tracks, tracks, 64, TRACKER, 1, random_share=1.0)).backward()
    assert all((p.grad == 0).all() for p in learner.actor.parameters())
    assert any((p.grad != 0).any() for p in learner.values.parameters())


def test_plain_cloning_weighs_all_hindsight_alike(monkeypatch):
    """Temperature 0 of the weighted regression is plain cloning: the actor's part of the loss is the same."""
    monkeypatch.setattr(tracking, "TEMPERATURE", 0.0)
    tracks = clocks()
    weighted = TrackerLearner(TRACKER, SCALING)
    plain = CloningLearner(CLONING, SCALING)
    plain.actor.load_state_dict(weighted.actor.state_dict())
    batch = draw_steps(tracks, tracks, 64, TRACKER, stride=1)
    for learner in (weighted, plain):
        learner.loss(batch).backward()
    for mine, theirs in zip(weighted.actor.parameters(), plain.actor.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


def steps_toward(subgoals, positions):
    """A batch of steps from the origin to positions [n, 2] with subgoals [n, 2]."""
    there = torch.tensor(positions)
    count = len(there)
    return Steps(
        torch.zeros(count, 2), there, torch.zeros(count, 2), torch.tensor(subgoals), torch.ones(count)
    )


def test_hindsight_subgoals_lie_the_allowed_number_of_steps_ahead():
    tracks = clocks()
    steps = draw_steps(tracks, tracks, 5000, TRACKER, stride=2)
    seen = steps.is_hindsight
    assert abs(seen.float().mean() - (1 - RANDOM_SHARE)) < 0.03
    start = steps.observation[seen]
    ahead = (steps.subgoal - steps.observation)[seen]
    assert (ahead[:, 0] == 0).all()
    is_early = start[:, 1] < tracks.shape[1] - 13
    assert ahead[is_early, 1].min() == 2
    assert ahead[is_early, 1].max() == 12
    assert (steps.subgoal[seen][:, 1] <= tracks.shape[1] - 1).all()


def test_random_subgoals_lie_in_the_square_around_the_agent():
    tracks = clocks()
    steps = draw_steps(tracks, tracks, 5000, TRACKER, 2, random_share=1.0)
    offset = steps.subgoal - steps.observation
    assert not steps.is_hindsight.any()
    assert offset.abs().max() <= TRACKER.largest_subgoal
    assert abs(offset.mean()) < 0.2


def test_a_step_costs_one_unless_it_comes_within_the_radius():
    batch = steps_toward([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [[0.2, 0.0], [0.6, 0.0], [1.0, 0.0]])
    backup = batch.backup(torch.tensor([-5.0, -5.0, -5.0]), discount=0.9, radius=0.5)
    torch.testing.assert_close(backup, torch.tensor([-5.5, 0.0, 0.0]))


def test_inputs_hold_the_standardised_body_and_the_subgoal_in_halves_of_the_largest():
    scaling = Scaling(torch.arange(5).numpy(), torch.full((5,), 2.0).numpy())
    inputs = SubgoalInputs(SubgoalParams(largest_subgoal=4.0), scaling)
    shown = inputs(torch.tensor([9.0, 9.0, 4.0, 3.0, 2.0]), torch.tensor([0.0, 3.0]))
    torch.testing.assert_close(shown, torch.tensor([1.0, 0.0, -1.0, 0.0, 1.5]))
    far = inputs(torch.zeros(5), torch.tensor([0.0, 300.0]))
    torch.testing.assert_close(far[-2:], torch.tensor([0.0, 2.0]))


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
    tracker = load_tracker(folder, file, "tiny")
    observation = make_ant_episodes().observations[0].astype(float)
    action = tracker(observation, np.ones((len(observation), 2)))
    assert action.shape == (len(observation), 8)
    assert (np.abs(action) <= 1).all()
    assert checkpoint.read(store.model_path(folder, file), "tracker")[1]["tracker"] == name


def test_a_tracker_that_is_not_there_is_an_error_that_lists_those_that_are(folder):
    with pytest.raises(
        BadCheckpoint, match=r"tracker-sac\.safetensors; .* has tracker\.safetensors, tracker-bc"
    ):
        load_tracker(folder, "tracker-sac")


def test_the_card_of_a_folder_tells_of_every_tracker(folder):
    text = write_card(folder).read_text()
    for file in store.files_of(folder, "tracker"):
        assert f"## {file}\n" in text


def test_a_card_of_an_unknown_kind_is_refused(folder, tmp_path):
    tensors, card = checkpoint.read(store.model_path(folder, "tracker"), "tracker")
    checkpoint.write(store.model_path(tmp_path, "tracker"), tensors, {**card, "tracker": "sac"})
    with pytest.raises(BadCheckpoint, match="unknown tracker 'sac'"):
        load_tracker(tmp_path)


@pytest.mark.parametrize("name", TRACKERS)
def test_another_tracker_takes_over_the_body_and_the_subgoals_of_the_presets_own(name):
    preset = replace(PARAMS, tracker=replace(TRACKER, radius=0.7))
    params = preset.with_tracker(name).tracker
    assert params.name == name
    for field in fields(SubgoalParams):
        assert getattr(params, field.name) == getattr(preset.tracker, field.name)


def test_an_unknown_tracker_is_refused_with_those_that_exist():
    with pytest.raises(UnknownTracker, match="unknown tracker 'sac'; available: awr, bc"):
        get_tracker("sac")
