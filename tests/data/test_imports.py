"""Recordings of other people, cleaned and cut into episodes; malformed files are always one sentence."""

from dataclasses import replace

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.episodes import load, load_split
from chronoforest.data.frames import Frame
from chronoforest.data.imports import ImportParams, import_files, save_episodes
from chronoforest.errors import BadDataset, InvalidParameter


def rows_of(name="a", num_rows=30, start=0.0, step=0.5, speed=2.0, turn=0.1):
    """A cart on a curve: (episode, time, x, y)."""
    time = start + step * np.arange(num_rows)
    angle = turn * np.arange(num_rows)
    x, y = np.cumsum([speed * step * np.cos(angle), speed * step * np.sin(angle)], axis=1)
    return [(name, float(t), float(a), float(b)) for t, a, b in zip(time, x, y, strict=True)]


def write(path, rows, header=("episode", "time", "x", "y")):
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def imported(path, rows, columns=None, **params):
    return import_files([write(path, rows)], columns or Columns(), ImportParams(**params))


def finding(result, check):
    (found,) = (found for found in result.findings if found.check == check)
    return f"{found.found} | {found.done}"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trips.csv"


def test_clean_recordings_come_back_as_they_are(path):
    rows = rows_of("a") + rows_of("b", turn=-0.1)
    result = imported(path, rows, length=30)
    np.testing.assert_allclose(result.episodes.xy.reshape(-1, 2), [row[2:] for row in rows], rtol=1e-6)
    assert not result.episodes.has_actions
    assert all("none" in finding(result, check) for check in ("empty or NaN", "wrong order", "duplicates"))


def test_recordings_of_different_lengths_become_windows_that_lose_no_row(path):
    episodes = imported(path, rows_of("long", 50) + rows_of("short", 20, turn=-0.1), length=20).episodes
    assert episodes.observations.shape == (4, 20, 2)
    assert len({tuple(np.round(place, 3)) for place in episodes.xy[:3].reshape(-1, 2)}) == 50
    few = imported(path, rows_of("a", 300) + rows_of("b", 300, turn=-0.1), length=30).episodes
    assert len(np.unique(few.recording)) == len(few) == 22  # so that no half of all is held out
    many = [row for k in range(6) for row in rows_of(f"r{k}", 60, turn=0.02 * k)]
    assert imported(path, many, length=30).episodes.recording.max() == 5


def test_the_chosen_length_keeps_nine_tenths_of_the_rows(path):
    rows = [row for k in range(9) for row in rows_of(f"long{k}", 40)] + rows_of("short", 15)
    result = imported(path, rows)
    assert result.episodes.num_steps == 40
    assert "1 shorter than 20, 4.0 % of all rows" in finding(result, "episodes")


def test_a_recording_that_fills_half_a_window_waits_at_its_end(path):
    result = imported(path, rows_of("long", 60) + rows_of("short", 16, turn=-0.1), length=30)
    (short,) = result.episodes.xy[-1:]
    assert (short[15:] == short[15]).all()
    assert "1 parts shorter than 30 rows" in finding(result, "episodes")


def test_where_many_rows_are_lost_in_short_recordings_a_smaller_step_is_proposed(path):
    rows = rows_of("long", 40) + [row for k in range(9) for row in rows_of(f"r{k}", 7, turn=0.02 * k)]
    assert "a smaller --step keeps them" in finding(imported(path, rows, step=0.5), "episodes")
    assert "--step" not in finding(imported(path, rows, step=0.1), "episodes")


def test_a_gap_splits_and_a_short_hole_is_filled(path):
    rows = rows_of(num_rows=60)
    rows = rows[:20] + rows[21:35] + rows[45:]
    result = imported(path, rows, length=15)
    assert "1 of 1 holes longer than 1.5 s" in finding(result, "gaps")
    steps = result.episodes.step_lengths
    np.testing.assert_allclose(steps, np.median(steps), rtol=0.01)
    told = imported(path, rows, length=15, max_gap=20.0)
    assert "none longer than 20 s" in finding(told, "gaps")


def holed(rows, first, last, wait=0.0):
    """Rows without some, and those after the hole later."""
    return rows[:first] + [(n, t + wait, x, y) for n, t, x, y in rows[last:]]


@pytest.mark.parametrize(
    ("rows", "num_splits"),
    [
        (holed(rows_of(num_rows=60, turn=0.0), 20, 28), "none"),
        (holed(rows_of(num_rows=60, turn=0.0), 20, 21, wait=10.0), "none"),
        (holed(rows_of(num_rows=60, turn=0.0), 20, 50), "1"),
        (holed(rows_of(num_rows=60, turn=0.3), 20, 28), "1"),
        (holed(rows_of(num_rows=60, turn=0.0), 20, 21, wait=100.0), "1"),
        (holed(rows_of(num_rows=60, turn=0.0), 20, 28, wait=-3.0), "none"),
    ],
    ids=["straight on", "standing", "too far", "round a bend", "too long", "short"],
)
def test_a_hole_is_filled_where_a_straight_line_at_the_recorded_speed_explains_it(path, rows, num_splits):
    rows = [(n, t, x, y + 0.001 * t) for n, t, x, y in rows]
    assert finding(imported(path, rows, length=11), "gaps").startswith(num_splits)


def test_rows_are_resampled_to_the_step_asked_for(path):
    result = imported(path, rows_of(num_rows=60), step=1.0, length=11)
    np.testing.assert_allclose(result.episodes.step_lengths, 2.0, rtol=0.01)
    assert result.episodes.metadata["step_seconds"] == 1.0


def test_wrong_order_duplicates_and_empty_cells_are_repaired_and_counted(path):
    clean = imported(path, rows_of(num_rows=31), length=11).episodes
    rows = rows_of(num_rows=31)
    rows[4], rows[5] = rows[5], rows[4]
    rows.insert(9, rows[9])
    rows.insert(12, ("a", rows[12][1] + 0.1, "", rows[12][3]))
    result = imported(path, rows, length=11)
    assert "1 recordings with time running back | sorted" in finding(result, "wrong order")
    assert "1 row | first kept" in finding(result, "duplicates")
    assert "1 row | left out" in finding(result, "empty or NaN")
    np.testing.assert_allclose(result.episodes.xy, clean.xy, rtol=1e-5)


def aside(rows, *strays, by=(500, 0)):
    """Rows, some of which lie elsewhere."""
    return [(*row[:2], row[2] + by[0], row[3] + by[1]) if k in strays else row for k, row in enumerate(rows)]


ALONG = [*range(40), *range(38, -1, -1)] * 5
FAST = rows_of("street", num_rows=600) + rows_of("motorway", num_rows=24, speed=24.0, turn=0.01)


@pytest.mark.parametrize(
    ("rows", "found", "longest"),
    [
        (aside(rows_of(num_rows=500), 50), "1 row | left out", 1.5),
        (
            aside(rows_of(num_rows=400), *range(20, 380, 40), *range(30, 380, 40), 200, 201, 202),
            "21 rows | left out",
            1.5,
        ),
        (aside(FAST, 300, by=(30, 20)), "1 row | left out", 13.0),
        ([("a", 0.5 * k, float(x), 0.01 * k) for k, x in enumerate(ALONG)], "none", 1.5),
    ],
    ids=["one", "one in forty", "as fast as some recordings", "turning round at a usual speed"],
)
def test_spikes_are_left_out(path, rows, found, longest):
    result = imported(path, rows, length=20)
    assert finding(result, "spikes").startswith(found)
    assert result.episodes.step_lengths.max() < longest


def test_jumps_split_unless_kept(path):
    rows = aside(rows_of(num_rows=500), *range(120, 500), by=(300, 0))
    result = imported(path, rows, length=20)
    assert "1 faster than" in finding(result, "jumps")
    assert result.episodes.step_lengths.max() < 1.5
    assert imported(path, rows, length=20, jumps="keep").episodes.step_lengths.max() > 200


def test_constant_columns_are_left_out_and_actions_scaled(path):
    rows = [(*row, 7.0, 3.0 * (-1) ** k, 0.0) for k, row in enumerate(rows_of())]
    write(path, rows, ("episode", "time", "x", "y", "battery", "steer", "brake"))
    columns = Columns(states=("battery",), actions=("steer", "brake"))
    result = import_files([path], columns, ImportParams())
    assert "battery, brake | left out" in finding(result, "constant columns")
    assert result.episodes.observations.shape[2] == 2
    assert set(result.episodes.actions.reshape(-1).tolist()) == {1.0, -1.0}
    assert result.episodes.metadata["action_scale"] == [3.0]


def test_odd_units_are_pointed_out(path):
    slow = [row for k in range(4) for row in rows_of(f"s{k}", speed=2.0)]
    mixed = imported(path, slow + rows_of("fast", speed=200.0), length=11, jumps="keep")
    assert "1 differ more than twentyfold" in finding(mixed, "speeds")
    milli = [(name, 1000 * t, x, y) for name, t, x, y in slow]
    assert "milliseconds?" in finding(imported(path, milli, length=11), "sampling")


def in_degrees(rows):
    return [(name, t, 13.4 + x / 67_600, 52.5 + y / 111_195) for name, t, x, y in rows]


def far_away(rows):
    return [(name, t, x + 446000, y + 4636000) for name, t, x, y in rows]


def test_degrees_are_noticed_and_become_metres(path):
    rows = in_degrees(rows_of(num_rows=40))
    result = imported(path, rows, length=40)
    assert finding(result, "coordinates").startswith("longitude and latitude | metres around (13.4")
    np.testing.assert_allclose(result.episodes.step_lengths, 1.0, rtol=0.02)
    places = result.episodes.frame.to_user(result.episodes.xy[0].astype(float))
    np.testing.assert_allclose(places, [row[2:] for row in rows], atol=1e-8)
    assert imported(path, rows, length=11, units="plain").episodes.frame.kind == "plain"
    with pytest.raises(BadDataset, match="longitude, then latitude"):
        imported(path, [(n, t, x + 400, y) for n, t, x, y in rows], units="degrees")


def test_a_small_world_around_zero_is_not_taken_for_degrees(path):
    rows = [(name, t, x / 1000, y / 1000) for name, t, x, y in rows_of(num_rows=40)]
    assert imported(path, rows).episodes.frame == Frame(step_seconds=0.5)


def test_large_coordinates_get_an_origin_that_the_frame_remembers(path):
    far = far_away(rows_of())
    episodes = imported(path, far, length=30).episodes
    assert np.abs(episodes.xy).max() < 30
    places = episodes.frame.to_user(episodes.xy[0].astype(float))
    np.testing.assert_allclose(places, [row[2:] for row in far], atol=1e-3)
    assert imported(path, far, origin=(446000.0, 4636000.0)).episodes.frame.origin == (446000.0, 4636000.0)


@pytest.mark.parametrize(
    ("rows", "nowhere", "found"),
    [
        *((in_degrees(rows_of(num_rows=60)), place, "1 row") for place in ((0, 0), (181, 91), (-60, -10))),
        (far_away(rows_of(num_rows=60)), (0, 0), "1 row"),
        ([(n, t, x - 10, y) for n, t, x, y in rows_of(num_rows=60)], (0, 0), "none"),
    ],
    ids=["zeros", "no degrees", "another continent", "zeros far away", "zeros in a world around them"],
)
def test_rows_without_a_fix_are_left_out(path, rows, nowhere, found):
    units = "degrees" if 50 < rows[0][3] < 60 else "auto"
    assert finding(imported(path, rows, length=11, units=units), "no fix").startswith("none")
    odd = [*rows[:20], (*rows[20][:2], *nowhere), *rows[21:]]
    result = imported(path, odd, length=11, units=units)
    assert finding(result, "no fix").startswith(found)
    assert np.abs(result.episodes.xy).max() < 40


def test_rows_far_finer_than_the_world_are_thinned(path):
    fine = rows_of(num_rows=9000, step=0.1, turn=0.0)
    fine = [(name, t, x, y + 0.01 * t) for name, t, x, y in fine]
    result = imported(path, fine)
    assert "every 0.6 s: the world is 8819 rows wide" in finding(result, "sampling")
    assert result.episodes.frame.step_seconds == pytest.approx(0.6)
    assert imported(path, fine, step=0.1).episodes.frame.step_seconds == 0.1


def test_rows_whose_moves_are_lost_in_noise_are_thinned(path):
    rng = np.random.default_rng(3)
    dense = rows_of(num_rows=900, step=0.1)
    noisy = [(n, t, x + rng.normal(0, 0.4), y + rng.normal(0, 0.4)) for n, t, x, y in dense]
    result = imported(path, noisy)
    assert "lost in noise" in finding(result, "sampling")
    assert result.episodes.frame.step_seconds > 0.3
    assert imported(path, dense).episodes.frame.step_seconds == pytest.approx(0.1)


def test_coordinates_too_large_for_32_bits_are_refused(path):
    far = [*rows_of(), *rows_of("b"), ("c", 0.0, 1e9, 1e9), ("c", 1.0, 1e9, 1e9)]
    with pytest.raises(BadDataset, match="cannot show moves of 1 in 32 bits"):
        imported(path, far)


def test_without_episode_and_time_columns_a_file_is_a_recording(tmp_path):
    for name in ("a.csv", "b.csv"):
        write(tmp_path / name, [row[2:] for row in rows_of()], ("x", "y"))
    result = import_files([tmp_path / "a.csv", tmp_path / "b.csv"], Columns(), ImportParams())
    assert result.episodes.recording.tolist() == [0, 1]
    assert result.episodes.metadata["step_seconds"] == 1.0


def test_what_is_written_is_read_again_and_split_by_recording(path, tmp_path):
    rows = [row for k in range(10) for row in rows_of(f"r{k}", 50, turn=0.02 * k)]
    episodes = imported(path, rows, length=20).episodes
    save_episodes(tmp_path / "set.npz", episodes)
    again = load(tmp_path / "set.npz")
    assert again.fingerprint == episodes.fingerprint
    assert again.metadata["files"] == ["trips.csv"]
    assert "none recorded" in again.summary()
    train, held_out = load_split(tmp_path / "set.npz")
    assert (len(train), len(held_out)) == (27, 3)
    assert not set(train.recording.tolist()) & set(held_out.recording.tolist())
    save_episodes(tmp_path / "set-val.npz", held_out)
    assert len(load_split(tmp_path / "set.npz")[0]) == 30


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: [(n, t, 3.0, y) for n, t, x, y in rows], "x never changes"),
        (lambda rows: [(n, t, "", y) for n, t, x, y in rows], "30 of 30 rows have an empty"),
        (lambda rows: [(n, 1.0, x, y) for n, t, x, y in rows], "no recording has two sound rows"),
        (lambda rows: rows[:8], "no uninterrupted recording has 11 rows, the longest has 8"),
        (lambda rows: [(n, t, x, "inf") for n, t, x, y in rows], "rows have an empty, NaN or infinite"),
        (lambda rows: [(n, t, "north", y) for n, t, x, y in rows], "x holds 'north' in row 1"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(change, sentence, path):
    with pytest.raises(BadDataset, match=sentence):
        imported(path, change(rows_of()))


def test_rows_of_one_minute_are_spread_over_it(path):
    rows = [(n, 60.0 * (t // 60), x, y) for n, t, x, y in rows_of(num_rows=600)]
    result = imported(path, rows)
    assert result.episodes.frame.step_seconds == pytest.approx(0.5)
    told = next(finding for finding in result.findings if finding.check == "coarse clock")
    assert told.found == "595 of 600 rows have the time of the one before, elsewhere"


@pytest.mark.parametrize("apart", [3.0, 200.0, None])
def test_several_bodies_in_one_recording_are_refused(path, apart):
    rng = np.random.default_rng(3)
    ways = rng.uniform(0, 100, (6, 300, 2))
    if apart is not None:  # beside each other
        ways = np.arange(6)[:, None, None] * [apart, 0] + np.cumsum(
            rng.normal((1, 0.3), 1, (6, 300, 2)), axis=1
        )
    with pytest.raises(BadDataset, match="--episode"):
        imported(path, [("a", float(t), *way[t]) for t in range(300) for way in ways])


def test_ends_of_episodes_are_told_and_a_time_that_ran_out_is_one(tmp_path):
    places, rows = np.array([row[2:] for row in rows_of(num_rows=40)]), np.arange(40)
    np.savez(tmp_path / "a.npz", observations=places, terminals=rows == 14, timeouts=rows == 39)
    result = import_files([tmp_path / "a.npz"], Columns(), ImportParams())
    assert "2 of 15 to 25 rows" in result.findings[0].found
    assert "episode terminals, timeouts;" in result.findings[1].found


def test_the_seconds_between_rows_that_are_counted_can_be_told(path):
    rows = [(n, 10 * t, x, y) for n, t, x, y in rows_of(num_rows=40)]
    header = ("episode", "frame", "x", "y")
    write(path, rows, header)
    counted = import_files([path], Columns(), ImportParams())
    assert not counted.episodes.frame.has_clock
    assert "an order and no clock; --step tells" in counted.findings[1].found
    told = {finding.check: finding.found for finding in counted.findings}
    assert told["sampling"] == "rows every 5 steps"
    assert "units/step in the median" in told["speeds"]
    told = import_files([path], Columns(), ImportParams(step=0.4))
    assert told.episodes.frame.step_seconds == pytest.approx(0.4)
    assert told.episodes.num_steps == counted.episodes.num_steps


@pytest.mark.parametrize(
    "params", [{"step": 0.0}, {"max_gap": -1.0}, {"length": 5}, {"max_gib": float("nan")}]
)
def test_parameters_out_of_range_are_refused_with_their_value(params):
    ((name, value),) = params.items()
    with pytest.raises(InvalidParameter, match=f"{name} must be .* got {value}"):
        ImportParams(**params)


def test_a_column_can_be_chosen_once():
    with pytest.raises(InvalidParameter, match="once, got x, x"):
        replace(Columns(), coordinates=("x", "x"))
