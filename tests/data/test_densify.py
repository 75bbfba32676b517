"""Rows far apart cut corners; rows of many recordings show the ways between those of each, where they do."""

from dataclasses import replace

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.densify import Crowd, densified, followed
from chronoforest.data.episodes import load
from chronoforest.data.imports import ImportParams, import_files, save_episodes
from chronoforest.data.tracks import Spacing, Tracks

SIDE = 100.0


def drives(num_trips=150, spacing=130.0, noise=2.0, seed=3):
    """Trips of two rows or more through five by five blocks, along streets, rows evenly apart."""
    rng = np.random.default_rng(seed)
    found = Tracks.joined(drive(rng, spacing, noise, str(k)) for k in range(num_trips))
    return found.where(np.ones(len(found.time), dtype=bool))


def drive(rng, spacing, noise, name):
    ends = rng.integers(0, 6, (4, 2)) * SIDE
    corners = [ends[0]]
    for end in ends[1:]:
        corners += [np.array([end[0], corners[-1][1]]), end]
    hops = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    knots = np.concatenate([[0.0], np.cumsum(hops)])
    along = np.arange(rng.uniform(0, spacing), knots[-1], spacing)
    places = np.stack([np.interp(along, knots, axis) for axis in np.transpose(corners)], axis=1)
    return name, along / 10.0, places + rng.normal(0, noise, places.shape)


def off_street(tracks):
    """Share of the ways more than 10 units from any street."""
    points = np.concatenate([finely(track.places) for track in tracks if len(track.time) > 1])
    off = np.abs(points - SIDE * np.rint(points / SIDE)).min(axis=1)
    return float((off > 10.0).mean())


def finely(way):
    hops = np.linalg.norm(np.diff(way, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(hops)])
    at = np.arange(0.0, along[-1], 2.0)
    return np.stack([np.interp(at, along, axis) for axis in way.T], axis=1)


def test_ways_over_the_rows_of_others_stay_on_streets_where_lines_cut_through_blocks():
    tracks = drives()
    found = followed(tracks, 130.0)
    assert off_street(tracks) > 0.15
    assert off_street(found.tracks) < 0.05
    assert found.missed < 0.8 * found.missed_by_lines


def test_recorded_rows_and_their_times_stay_and_the_clock_runs_on_between_them():
    tracks = drives()
    for before, after in zip(tracks, followed(tracks, 130.0).tracks, strict=True):
        rows = np.searchsorted(after.time, before.time - 1e-6)
        np.testing.assert_allclose(after.time[rows], before.time)
        np.testing.assert_allclose(after.values[rows], before.values)
        assert (np.diff(after.time) > 0).all()


def test_who_stands_between_far_moves_keeps_the_times():
    """Lengths in the plane of millions of units leave no room for the smallest part of one."""
    tracks = drives()
    still = np.repeat(np.arange(len(tracks.time)), 1 + (np.arange(len(tracks.time)) % 3 == 0))
    time = tracks.time[still] + 0.1 * np.append(False, np.diff(still) == 0)
    before = Tracks(tracks.names, tracks.part[still], time, 1e6 * tracks.values[still])
    after = followed(before, 1.3e8).tracks
    missed = [np.abs(after.time[after.part == k] - t).min() for k, t in zip(before.part, time, strict=True)]
    assert max(missed) < 1e-6


def test_states_beside_the_coordinates_are_interpolated():
    tracks = drives()
    with_state = replace(tracks, values=np.column_stack([tracks.values, 3.0 * tracks.time]))
    found = followed(with_state, 130.0).tracks
    np.testing.assert_allclose(found.values[:, 2], 3.0 * found.time, atol=1e-6)


def test_on_open_water_lines_are_as_good_and_stay():
    rng = np.random.default_rng(3)
    starts, headings = rng.uniform(0, 1000, (150, 2)), rng.uniform(0, 2 * np.pi, 150)
    along = 100.0 * np.arange(8)[:, None]
    ships = Tracks.joined(
        (str(k), along[:, 0], start + along * [np.cos(angle), np.sin(angle)] + rng.normal(0, 2, (8, 2)))
        for k, (start, angle) in enumerate(zip(starts, headings, strict=True))
    )
    assert followed(ships, 100.0) is None


def test_a_few_rows_tell_nothing():
    assert followed(drives(8), 130.0) is None


def test_a_way_is_taken_over_many_short_hops_and_none_is_there_without_places():
    corner = [(10.0 * k, 0.0) for k in range(11)] + [(100.0, 10.0 * k) for k in range(1, 11)]
    rows = np.array([*corner, (0.0, 100.0)])
    crowd = Crowd.of(rows, np.ones(len(rows), dtype=bool), 20.0)
    (way,) = crowd.ways(np.array([0]), np.array([20]))
    assert len(way) > 15
    assert all(tuple(place) in corner for place in way)
    (none,) = crowd.ways(np.array([0]), np.array([21]))
    assert len(none) == 0


def test_a_way_keeps_to_the_carriageway_that_leads_there():
    """Rows of those who come lie denser than rows of those who go, 12 units beside them."""
    rng = np.random.default_rng(5)
    ways = [np.array([[50.0, 0.0], [450.0, 8.0], [850.0, 0.0]])]
    for k in range(1, 400):
        start, is_back = rng.uniform(0, 100), k % 40 > 0
        along = start + 100.0 * np.arange(11)
        place = np.stack([along, np.where(is_back, 12.0, 0.0) + rng.normal(0, 1.5, 11)], axis=1)
        ways.append(place[::-1] if is_back else place)
    rows = np.concatenate(ways)
    is_last = np.zeros(len(rows), dtype=bool)
    is_last[np.cumsum([len(way) for way in ways]) - 1] = True
    (way,) = Crowd.of(rows, is_last, 100.0).ways(np.array([0]), np.array([2]))
    assert len(way) > 20
    assert (way[:, 1] > 8.0).mean() < 0.2


@pytest.mark.parametrize("size", [1, 50, 4_000_000])
def test_ways_do_not_depend_on_how_many_are_looked_for_at_once(size):
    rows = drives(60).values
    crowd, firsts = Crowd.of(rows, np.ones(len(rows), dtype=bool), 130.0), np.arange(50)
    expected = crowd.ways(firsts, firsts + 50)
    for one, other in zip(expected, crowd.ways(firsts, firsts + 50, most_cells=size), strict=True):
        np.testing.assert_allclose(one, other)


@pytest.fixture
def path(tmp_path):
    """Trips of a few rows each."""
    rows = [
        f"{track.names[0]},{time:.1f},{x:.1f},{y:.1f}"
        for track in drives()
        for time, (x, y) in zip(track.time, track.values, strict=True)
    ]
    path = tmp_path / "trips.csv"
    path.write_text("\n".join(["trip,time,x,y", *rows]))
    return path


def tracks_of(episodes):
    return Tracks.joined(("", np.arange(float(episodes.num_steps)), xy) for xy in episodes.xy)


def told(imported, check):
    return next(f"{one.found} | {one.done}" for one in imported.findings if one.check == check)


def test_short_sparse_trips_become_recordings_that_lose_next_to_nothing(path):
    imported = import_files([path], Columns(), ImportParams())
    assert "led over the rows of others" in told(imported, "rows")
    assert imported.episodes.num_steps > 40
    assert imported.episodes.frame.step_seconds < 5.0
    assert off_street(tracks_of(imported.episodes)) < 0.05


def test_straight_lines_are_kept_where_they_are_asked_for(path):
    imported = import_files([path], Columns(), ImportParams(between="straight"))
    assert "on straight lines" in told(imported, "rows")
    assert "record more often" in told(imported, "rows")
    assert off_street(tracks_of(imported.episodes)) > 0.15


def test_a_step_that_was_told_stays(path):
    imported = import_files([path], Columns(), ImportParams(step=2.0))
    assert imported.episodes.frame.step_seconds == 2.0
    assert "rows made of each" not in told(imported, "rows")


def test_inspect_still_tells_how_far_apart_rows_were_recorded(path, tmp_path):
    save_episodes(tmp_path / "trips.npz", import_files([path], Columns(), ImportParams()).episodes)
    summary = load(tmp_path / "trips.npz").summary()
    (line,) = (line for line in summary.splitlines() if line.startswith("rows"))
    assert "recorded ones" in line
    assert "led over the rows of others" in line
    assert "recorded rows" not in summary


def lines(num_rows, *offsets):
    """Straight recordings, each so far along the diagonal."""
    along = [np.stack([offset + 50.0 * np.arange(num_rows)] * 2, axis=1) for offset in offsets]
    return Tracks.joined(("", 60.0 * np.arange(num_rows), places) for places in along)


def test_straight_short_recordings_get_rows_so_that_they_can_be_learned_from():
    found = densified(lines(6, *[0.0] * 20), None, 60.0, "followed", "m")
    assert found.period == pytest.approx(60.0 / 8)
    assert "8 rows made of each, on straight lines" in found.added


def test_recordings_that_are_long_enough_stay_as_they_are():
    found = densified(lines(60, *[0.0] * 20), None, 60.0, "followed", "m")
    assert (found.period, found.added, found.finding.done) == (60.0, "", "")


def test_the_world_does_not_become_too_many_moves_wide():
    found = densified(lines(6, *[3000.0 * k for k in range(11)]), None, 60.0, "followed", "m")
    assert found.period == pytest.approx(60.0 / 2)


def test_rows_that_were_thinned_are_not_put_back():
    found = densified(lines(6, *[0.0] * 20), None, 120.0, "followed", "m")
    assert (found.period, found.added) == (120.0, "")


def spacing_of(*ways):
    return Spacing.of(Tracks.joined(("", np.arange(float(len(way))), way) for way in ways))


def block(spacing, noise=0.0, side=100.0, seed=3):
    """Through a town of square blocks, straight on or round the corner, a row every `spacing` units."""
    rng = np.random.default_rng(seed)
    heading = np.cumsum(rng.choice([-1, 0, 0, 1], 400)) * np.pi / 2
    corners = side * np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0)
    along = np.arange(0.0, 399 * side, spacing)
    knots = side * np.arange(400)
    places = np.stack([np.interp(along, knots, axis) for axis in corners.T], axis=1)
    return places + rng.normal(0, noise, places.shape)


def test_rows_close_together_cut_little_and_noise_is_no_corner():
    for noise in (0.0, 2.0):
        fine = spacing_of(block(10.0, noise))
        assert fine.move == pytest.approx(10.0, rel=0.2)
        assert fine.cut < 3.0
        assert not fine.is_coarse


def test_rows_as_far_apart_as_corners_are_called_too_far():
    coarse = spacing_of(block(70.0, 2.0))
    assert coarse.is_coarse
    assert "m apart" in coarse.summary("m")
    assert "record more often" in coarse.summary("m")


def test_straight_ways_cut_nothing_however_far_apart_rows_are():
    straight = np.stack([np.arange(0.0, 50000.0, 1000.0), np.zeros(50)], axis=1)
    assert spacing_of(straight) == Spacing(1000.0, 0.0)


def test_too_few_rows_tell_nothing():
    assert spacing_of(np.zeros((2, 2)), np.zeros((30, 2))) == Spacing(0.0, 0.0)
