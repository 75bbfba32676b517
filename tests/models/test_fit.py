from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import PARAMS, make_episodes

from chronoforest.data.episodes import Episodes
from chronoforest.errors import BadCheckpoint, BadDataset, InvalidParameter
from chronoforest.models import checkpoint, store
from chronoforest.models.distance import load_distance
from chronoforest.models.fit import FITS
from chronoforest.models.runs import Recordings, TrainingRun, refuse_untrainable

CPU = torch.device("cpu")
LEARNED = ("distance", "denoiser", "tracker")
FIGURES = {
    "density": {"held_out_unsupported_share"},
    "distance": {"held_out_rank_correlation", "held_out_median_ratio"},
    "denoiser": {
        "training_loss",
        "held_out_loss",
        "leaving_unsupported_share",
        "leaving_jump_share",
        "arriving_unsupported_share",
        "arriving_jump_share",
        "recorded_jump_share",
    },
    "tracker": {"held_out_action_error"},
}


def tensors_of(folder, kind):
    return checkpoint.read(store.model_path(folder, kind), kind)[0]


def assert_same_weights(one, other, kind):
    first, second = tensors_of(one, kind), tensors_of(other, kind)
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name


def with_density(folder, trained):
    path = store.model_path(folder, "density")
    path.write_bytes(store.model_path(trained, "density").read_bytes())
    return folder


def test_the_papers_distance_lies_beside_the_presets_own(tmp_path, recordings):
    params = PARAMS.with_distance("paper")
    assert (params.distance.discount, params.distance.num_features) == (0.99, 0)
    FITS["distance"](
        recordings, params, TrainingRun(tmp_path, "tiny", CPU, files={"distance": "distance-paper"})
    )
    assert store.files_of(tmp_path, "distance") == ["distance-paper"]
    assert load_distance(tmp_path, file="distance-paper")[0].net.params == params.distance
    with pytest.raises(InvalidParameter, match="unknown distance recipe 'best'; available: own, paper"):
        PARAMS.with_distance("best")


@pytest.mark.parametrize("kind", sorted(FITS))
def test_each_model_is_stored_with_its_figures(kind, fitted):
    folder, figures = fitted
    assert figures[kind].keys() == FIGURES[kind]
    assert all(np.isfinite(value) for value in figures[kind].values())
    assert checkpoint.read(store.model_path(folder, kind), kind)[1]["figures"] == figures[kind]


@pytest.mark.parametrize("kind", LEARNED)
def test_the_same_seed_learns_the_same_weights(kind, fitted, recordings, tmp_path):
    folder = with_density(tmp_path, fitted[0])
    torch.manual_seed(99)
    figures = FITS[kind](recordings, PARAMS, TrainingRun(folder, "tiny", CPU))
    assert figures == fitted[1][kind]
    assert_same_weights(folder, fitted[0], kind)


@pytest.mark.parametrize("kind", LEARNED)
def test_an_interrupted_training_is_resumed_to_the_same_weights(
    kind, fitted, recordings, tmp_path, monkeypatch
):
    """The interruption comes with the first progress report; what was saved is continued to the bit."""
    folder = with_density(tmp_path, fitted[0])
    ticks = iter(range(10_000))
    monkeypatch.setattr("chronoforest.models.train.time.monotonic", lambda: 10.0 * next(ticks))

    def interrupt(report):
        if report.step < PARAMS.tracker_training.num_steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FITS[kind](recordings, PARAMS, TrainingRun(folder, "tiny", CPU, on_progress=interrupt))
    assert not store.model_path(folder, kind).exists()
    figures = FITS[kind](recordings, PARAMS, TrainingRun(folder, "tiny", CPU, is_resumed=True))
    assert figures == fitted[1][kind]
    assert_same_weights(folder, fitted[0], kind)


def test_a_finished_training_is_resumed_to_itself_and_not_on_other_recordings(fitted, recordings):
    run = TrainingRun(fitted[0], "tiny", CPU, is_resumed=True)
    assert FITS["distance"](recordings, PARAMS, run) == fitted[1]["distance"]
    others = Recordings(make_episodes(seed=5), make_episodes(seed=1))
    with pytest.raises(BadCheckpoint, match="data = "):
        FITS["distance"](others, PARAMS, run)


def test_starting_from_finished_weights_is_recorded_and_changes_the_outcome(fitted, recordings, tmp_path):
    FITS["tracker"](recordings, PARAMS, TrainingRun(tmp_path, "tiny", CPU, init=fitted[0]))
    card = checkpoint.read(store.model_path(tmp_path, "tracker"), "tracker")[1]
    assert card["started_from"]["data"] == recordings.train.fingerprint
    mine, first = (tensors_of(folder, "tracker")["body.0.weight"] for folder in (tmp_path, fitted[0]))
    assert not torch.equal(mine, first)


def test_a_denoiser_without_a_density_is_refused_before_it_trains(recordings, tmp_path):
    reports = []
    with pytest.raises(BadCheckpoint, match=r"no checkpoint at .*density"):
        FITS["denoiser"](recordings, PARAMS, TrainingRun(tmp_path, "tiny", CPU, on_progress=reports.append))
    assert not reports
    assert list(tmp_path.iterdir()) == []


def test_a_part_held_out_by_us_still_counts_as_recorded_and_a_file_of_its_own_does_not(tmp_path):
    """The figure is measured against the training part either way."""
    here, there = make_episodes(), make_episodes(seed=1)
    there = replace(there, observations=there.observations + np.float32(30.0))
    margins, figures = [], []
    for is_divided in (True, False):
        run = TrainingRun(tmp_path / str(is_divided), "tiny", CPU)
        figures.append(FITS["density"](Recordings(here, there, is_divided), PARAMS, run))
        margins.append(store.load_density(run.folder).margin(there.xy.reshape(-1, 2)))
    assert (margins[0] > -0.2).all()
    assert (margins[1] < 0).all()
    assert figures[0] == figures[1] == {"held_out_unsupported_share": 1.0}


def test_few_recordings_get_a_wider_density_that_knows_how_far_they_lie_apart(tmp_path):
    """A tenth of the recordings is held out only while others train, so the density is of them all."""
    many, few = (Recordings(*make_episodes(count).split(), is_divided=True) for count in (60, 6))
    widths, known = {}, {}
    for name, recordings in (("many", many), ("few", few)):
        FITS["density"](recordings, PARAMS, TrainingRun(tmp_path / name, "tiny", CPU))
        card = checkpoint.read(store.model_path(tmp_path / name, "density"), "density")[1]
        widths[name], known[name] = card["params"]["bandwidth"], store.load_density(tmp_path / name).gap
    assert widths["few"] > widths["many"] >= PARAMS.density.bandwidth
    assert known["few"] > known["many"] > 0


def test_lanes_stay_as_wide_as_recordings_lie_side_by_side(tmp_path):
    params = replace(PARAMS, world=replace(PARAMS.world, is_one_way=True, is_reversible=False))
    FITS["density"](
        Recordings(make_episodes(4), make_episodes(seed=1)), params, TrainingRun(tmp_path, "tiny", CPU)
    )
    card = checkpoint.read(store.model_path(tmp_path, "density"), "density")[1]
    assert card["params"]["bandwidth"] == params.density.bandwidth
    assert store.load_density(tmp_path).gap == 0.0


KINDS = ("density", "distance", "denoiser")


def both(**changes):
    return Recordings(make_episodes(**changes), make_episodes(seed=1, **changes))


def test_recordings_shorter_than_a_backup_are_refused_with_what_would_work():
    """The distance would die of it in the middle of its training."""
    params = replace(PARAMS, distance=replace(PARAMS.distance, backup=30))
    with pytest.raises(BadDataset, match=r"41 rows are shorter than the 60 .*backup = 30.* to 20 or less"):
        refuse_untrainable(both(), params, ("density", "distance"))
    refuse_untrainable(both(num_steps=60), params, ("distance",))


def test_recordings_shorter_than_two_frames_are_refused():
    params = replace(PARAMS, window=replace(PARAMS.window, stride=30))
    with pytest.raises(BadDataset, match=r"denoiser cannot be trained.*window\.stride = 30"):
        refuse_untrainable(both(), params, ("distance", "denoiser"))


def test_held_out_recordings_are_looked_at_too():
    params = replace(PARAMS, distance=replace(PARAMS.distance, backup=10))
    mixed = Recordings(make_episodes(), make_episodes(num_steps=15))
    with pytest.raises(BadDataset, match="15 rows are shorter than the 20"):
        refuse_untrainable(mixed, params, ("distance",))


def test_recordings_without_actions_are_only_refused_where_the_distance_needs_them():
    def bare(episodes):
        return Episodes(episodes.observations, episodes.actions[..., :0])

    silent = Recordings(bare(make_episodes()), bare(make_episodes(seed=1)))
    with pytest.raises(BadDataset, match="has_moves_for_actions to true"):
        refuse_untrainable(silent, PARAMS, ("distance",))
    plain = replace(PARAMS, distance=replace(PARAMS.distance, has_action_values=False))
    refuse_untrainable(silent, plain, ("density", "distance", "denoiser"))
