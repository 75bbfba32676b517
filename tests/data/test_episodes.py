import numpy as np
import pytest

from chronoforest.data.episodes import gaps, load, write_arrays
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


def test_rows_are_folded_into_episodes_whatever_else_an_official_file_has(path):
    arrays = flat_arrays(qpos=np.zeros((24, 2)), terminals=(np.arange(24) % 6 == 5).astype(np.float32))
    episodes = load(write(path, arrays))
    assert (len(episodes), episodes.num_steps, episodes.observations.shape) == (4, 6, (4, 6, 2))
    np.testing.assert_array_equal(episodes.observations.reshape(-1, 2), arrays["observations"])
    np.testing.assert_array_equal(episodes.actions[1, 0], arrays["actions"][6])
    assert episodes.metadata == {}


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x, y\n1, 2\n", r"not an \.npz dataset"),
        (np.zeros((3, 2)), "a single array"),
        (flat_arrays(observations=np.array([{}] * 24, dtype=object)), r"not an \.npz dataset"),
        (b"", "damaged or not"),
        (None, "no such file"),
    ],
)
def test_other_kinds_of_files_are_refused(path, content, reason):
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        np.savez(path, **content)
    elif content is not None:
        with path.open("wb") as file:
            np.save(file, content)
    with pytest.raises(BadDataset, match=reason):
        load(path)
    with pytest.raises(BadDataset, match="Is a directory"):
        load(path.parent)


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


def lines(*heights, num_rows=50):
    """A track from left to right at each height."""
    along = np.linspace(0.0, 10.0, num_rows)
    return np.stack([np.stack([along, np.full(num_rows, height)], axis=1) for height in heights])


def test_a_gap_is_what_lies_between_a_place_and_the_next_recording():
    np.testing.assert_allclose(gaps(lines(0.0, 1.5)), 1.5)
    assert sorted(set(gaps(lines(0.0, 1.0, 4.0)).round(6))) == [1.0, 3.0]


def test_pieces_of_one_recording_are_no_other_recording():
    tracks = lines(0.0, 0.1, 3.0)
    np.testing.assert_allclose(gaps(tracks).min(), 0.1)
    np.testing.assert_allclose(gaps(tracks, np.array([7, 7, 2])).min(), 2.9)


def test_a_recording_alone_is_farther_from_others_than_any_of_its_own_places_nearby():
    (apart,) = {round(float(gap), 6) for gap in gaps(lines(0.0, num_rows=2))}
    assert apart == pytest.approx(10.0)


def test_only_some_places_of_many_are_looked_at():
    assert len(gaps(lines(*range(100), num_rows=50))) == 2000
