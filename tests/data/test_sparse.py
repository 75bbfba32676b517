"""Sparse recordings get rows between theirs, and what was recorded is still told."""

import numpy as np
import pytest
from test_between import drives, off_street

from chronoforest.data.columns import Columns
from chronoforest.data.densify import densified
from chronoforest.data.episodes import load
from chronoforest.data.imports import ImportParams, import_files, save_episodes
from chronoforest.data.tracks import Tracks


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
