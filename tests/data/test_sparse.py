"""Sparse recordings get rows between theirs, and what was recorded is still told."""

import numpy as np
import pytest
from test_between import drives, off_street

from chronoforest.data.cleaning import Track
from chronoforest.data.columns import Columns
from chronoforest.data.episodes import load
from chronoforest.data.imports import ImportParams, import_files, save_episodes
from chronoforest.data.sparse import joined


@pytest.fixture
def path(tmp_path):
    """Trips of a few rows each."""
    rows = [
        f"{track.recording},{time:.1f},{x:.1f},{y:.1f}"
        for track in drives()
        for time, (x, y) in zip(track.time, track.values, strict=True)
    ]
    path = tmp_path / "trips.csv"
    path.write_text("\n".join(["trip,time,x,y", *rows]))
    return path


def told(imported, check):
    return next(f"{one.found} | {one.done}" for one in imported.findings if one.check == check)


def test_short_sparse_trips_become_recordings_that_lose_next_to_nothing(path):
    imported = import_files([path], Columns(), ImportParams())
    assert "led over the rows of others" in told(imported, "rows")
    assert imported.episodes.num_steps > 40
    assert imported.episodes.frame.step_seconds < 5.0
    tracks = [Track("", np.arange(float(imported.episodes.num_steps)), xy) for xy in imported.episodes.xy]
    assert off_street(tracks) < 0.05


def test_straight_lines_are_kept_where_they_are_asked_for(path):
    imported = import_files([path], Columns(), ImportParams(between="straight"))
    assert "on straight lines" in told(imported, "rows")
    assert "record more often" in told(imported, "rows")
    tracks = [Track("", np.arange(float(imported.episodes.num_steps)), xy) for xy in imported.episodes.xy]
    assert off_street(tracks) > 0.15


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


def line_of(num_rows, offset=0.0):
    places = np.stack([offset + 50.0 * np.arange(num_rows)] * 2, axis=1)
    return Track("", 60.0 * np.arange(num_rows), places)


def test_straight_short_recordings_get_rows_so_that_they_can_be_learned_from():
    found = joined([line_of(6)] * 20, None, 60.0, "followed", "m")
    assert found.period == pytest.approx(60.0 / 8)
    assert "8 rows made of each, on straight lines" in found.told


def test_recordings_that_are_long_enough_stay_as_they_are():
    found = joined([line_of(60)] * 20, None, 60.0, "followed", "m")
    assert (found.period, found.told, found.finding.done) == (60.0, "", "")


def test_the_world_does_not_become_too_many_moves_wide():
    found = joined([line_of(6, 3000.0 * k) for k in range(11)], None, 60.0, "followed", "m")
    assert found.period == pytest.approx(60.0 / 2)


def test_rows_that_were_thinned_are_not_put_back():
    found = joined([line_of(6)] * 20, None, 120.0, "followed", "m")
    assert (found.period, found.told) == (120.0, "")
