from dataclasses import replace

import pytest
from tiny import PARAMS, make_episodes

from chronoforest.data.episodes import Episodes
from chronoforest.errors import BadDataset
from chronoforest.models.runs import OBSTACLES, Recordings, refuse_untrainable

KINDS = tuple(OBSTACLES)


def recordings(**changes):
    return Recordings(make_episodes(**changes), make_episodes(seed=1, **changes))


def test_sound_recordings_are_not_refused():
    refuse_untrainable(recordings(), PARAMS, KINDS)


def test_recordings_shorter_than_a_backup_are_refused_with_what_would_work():
    """The distance would die of it in the middle of its training."""
    params = replace(PARAMS, distance=replace(PARAMS.distance, backup=30))
    with pytest.raises(BadDataset, match=r"41 rows are shorter than the 60 .*backup = 30.* to 20 or less"):
        refuse_untrainable(recordings(), params, ("density", "distance"))
    refuse_untrainable(recordings(num_steps=60), params, ("distance",))


def test_recordings_shorter_than_two_frames_are_refused():
    params = replace(PARAMS, window=replace(PARAMS.window, stride=30))
    with pytest.raises(BadDataset, match=r"denoiser cannot be trained.*window\.stride = 30"):
        refuse_untrainable(recordings(), params, ("distance", "denoiser"))


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
