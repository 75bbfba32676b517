import numpy as np
import pytest

from chronoforest.data.episodes import load, write_arrays
from chronoforest.errors import BadDataset, CannotWrite


def flat_arrays(num_episodes=4, num_steps=6, **changes):
    """A dataset in the official layout: rows of all episodes one after the other."""
    rng = np.random.default_rng(0)
    num_rows = num_episodes * num_steps
    arrays = {
        "observations": rng.normal(size=(num_rows, 2)).cumsum(axis=0).astype(np.float32) / 10,
        "actions": rng.uniform(-1, 1, (num_rows, 2)).astype(np.float32),
        "terminals": np.arange(num_rows) % num_steps == num_steps - 1,
    }
    return arrays | changes


def write(path, arrays):
    np.savez_compressed(path, **arrays)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "set.npz"


def test_rows_are_folded_into_episodes(path):
    arrays = flat_arrays()
    episodes = load(write(path, arrays))
    assert episodes.observations.shape == (4, 6, 2)
    assert len(episodes) == 4
    assert episodes.num_steps == 6
    np.testing.assert_array_equal(episodes.observations.reshape(-1, 2), arrays["observations"])
    np.testing.assert_array_equal(episodes.actions[1, 0], arrays["actions"][6])
    assert episodes.metadata == {}


def test_official_files_with_more_keys_and_numeric_terminals_load(path):
    arrays = flat_arrays(
        qpos=np.zeros((24, 2), np.float32), terminals=(np.arange(24) % 6 == 5).astype(np.float32)
    )
    assert len(load(write(path, arrays))) == 4


def test_the_fingerprint_follows_content_not_the_file(path, tmp_path):
    arrays = flat_arrays()
    fingerprint = load(write(path, arrays)).fingerprint
    assert len(fingerprint) == 16
    assert int(fingerprint, 16)
    assert load(write(tmp_path / "copy.npz", arrays | {"qvel": np.zeros(3)})).fingerprint == fingerprint
    arrays["actions"][3, 1] += 1e-3
    assert load(write(path, arrays)).fingerprint != fingerprint


def test_the_summary_counts_jumps_and_leaves_them_out_of_the_speed(path):
    arrays = flat_arrays(num_episodes=2, num_steps=3)
    arrays["observations"][:] = [[0, 0], [1, 0], [2, 0], [0, 0], [0, 10], [0, 11]]
    summary = load(write(path, arrays)).summary()
    assert "1 steps longer than 5 units, in 1 episodes" in summary
    assert "speed        1.000 units/step" in summary


def test_a_written_file_is_complete_and_leaves_nothing_else(path):
    write_arrays(path, flat_arrays())
    assert len(load(path)) == 4
    assert list(path.parent.iterdir()) == [path]


def test_an_impossible_path_is_one_clear_error(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(CannotWrite, match=r"cannot write .*taken"):
        write_arrays(tmp_path / "taken" / "set.npz", flat_arrays())


def without(key):
    return {name: array for name, array in flat_arrays().items() if name != key}


def with_nan():
    arrays = flat_arrays()
    arrays["observations"][7, 1] = np.nan
    return arrays


ends = np.arange(24) % 6 == 5
BAD = {
    "missing key": (without("actions"), "no actions; an OGBench dataset has"),
    "one axis": (flat_arrays(observations=np.zeros(24, np.float32)), r"observations has shape \[24\]"),
    "short": (
        flat_arrays(actions=np.zeros((23, 2), np.float32)),
        r"actions has shape \[23, 2\], expected \[24",
    ),
    "one number": (flat_arrays(observations=np.zeros((24, 1), np.float32)), r"shape \[24, 1\], expected"),
    "pixels": (flat_arrays(observations=np.zeros((24, 9), np.uint8)), "observations holds uint8"),
    "NaN": (with_nan(), "observations holds NaN or infinity in 1 rows, the first is 7"),
    "no end": (flat_arrays(terminals=np.zeros(24, bool)), "do not mark the last row"),
    "open end": (flat_arrays(terminals=np.roll(ends, 1)), "do not mark the last row"),
    "unequal": (flat_arrays(terminals=ends | (np.arange(24) == 2)), "episodes of 3 to 6 steps"),
    "single steps": (flat_arrays(terminals=np.ones(24, bool)), "episodes of a single step"),
    "empty": (
        {"observations": np.zeros((0, 2)), "actions": np.zeros((0, 2)), "terminals": np.zeros(0)},
        r"terminals has shape \[0\]",
    ),
    "metadata": (flat_arrays(metadata=np.array("{")), "metadata is damaged or not JSON"),
    "metadata list": (flat_arrays(metadata=np.array("[]")), "metadata is not a JSON object"),
    "foreign": ({"weights": np.zeros(3)}, "no observations, actions, terminals"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_unsound_file_is_refused_by_name_and_reason(path, case):
    arrays, reason = BAD[case]
    with pytest.raises(BadDataset, match=reason) as refused:
        load(write(path, arrays))
    assert str(path) in str(refused.value)


def test_other_kinds_of_files_are_refused(path, tmp_path):
    path.write_text("x, y\n1, 2\n")
    with pytest.raises(BadDataset, match=r"not an \.npz dataset"):
        load(path)
    np.save(tmp_path / "array.npy", np.zeros((3, 2)))
    with pytest.raises(BadDataset, match="a single array"):
        load(tmp_path / "array.npy")
    np.savez(path, **flat_arrays(observations=np.array([{}] * 24, dtype=object)))
    with pytest.raises(BadDataset, match=r"not an \.npz dataset"):
        load(path)
    path.write_bytes(b"")
    with pytest.raises(BadDataset, match="damaged or not"):
        load(path)
    with pytest.raises(BadDataset, match="no such file"):
        load(tmp_path / "nowhere.npz")
    with pytest.raises(BadDataset, match="Is a directory"):
        load(tmp_path)


def test_a_file_without_actions_says_so(path):
    episodes = load(write(path, flat_arrays(actions=np.zeros((24, 0), np.float32))))
    assert not episodes.has_actions
    assert episodes.actions.shape == (4, 6, 0)
    assert "plans can be made but not walked" in episodes.summary()


def test_a_split_keeps_recordings_whole_and_is_the_same_every_time(path):
    episodes = load(write(path, flat_arrays(num_episodes=8, recording=np.array([0, 0, 0, 1, 1, 2, 3, 3]))))
    train, held_out = episodes.split(held_out_share=0.25)
    assert len(train) + len(held_out) == 8
    assert not set(train.recording.tolist()) & set(held_out.recording.tolist())
    assert episodes.split(held_out_share=0.25)[1].fingerprint == held_out.fingerprint


def test_one_recording_cannot_be_split(path):
    episodes = load(write(path, flat_arrays(recording=np.zeros(4, dtype=int))))
    with pytest.raises(BadDataset, match="two recordings or more, got 1"):
        episodes.split()


@pytest.mark.parametrize("recording", [np.zeros(3, dtype=int), np.zeros(4)])
def test_a_recording_array_that_does_not_fit_is_refused(recording, path):
    with pytest.raises(BadDataset, match=r"recording holds .* expected whole numbers \[4\]"):
        load(write(path, flat_arrays(recording=recording)))
