"""Long stops are cut to short ones, whatever a receiver makes of them, and nothing else is."""

import numpy as np
import pytest

from chronoforest.data.clean import StopParams, without_long_stops
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.tracks import Tracks

LONG_STOP, SHORT_STOP = StopParams.longest, StopParams.left


def tracks(*ways, period=10.0):
    return Tracks.joined(
        (str(k), period * np.arange(len(way)), np.asarray(way)) for k, way in enumerate(ways)
    )


def way(num_rows, start=(0.0, 0.0), step=(90.0, 0.0)):
    return np.asarray(start) + np.arange(num_rows)[:, None] * step


def stopping(num_rows, wander, seed=3):
    """A drive, a stop during which places wander, and the drive on."""
    before = way(40)
    rest = before[-1] + np.random.default_rng(seed).normal(0, wander, (num_rows, 2))
    return np.concatenate([before, rest, way(40, before[-1] + [90, 0])])


@pytest.mark.parametrize("wander", [0.0, 5.0, 40.0])
def test_hours_at_rest_become_a_short_stop_and_the_clock_stands_still(wander):
    whole = tracks(stopping(1000, wander))
    found, finding = without_long_stops(whole)
    assert finding.found == "1 longer than 60 rows"
    assert "91 % of all rows left out" in finding.done
    assert 80 + SHORT_STOP - 6 <= len(found.time) <= 80 + SHORT_STOP
    np.testing.assert_allclose(np.diff(found.time), 10.0)
    np.testing.assert_array_equal(found.values[[0, -1]], whole.values[[0, -1]])


def test_short_stops_loops_and_slow_bodies_are_left_alone():
    angle = np.linspace(0, 8 * np.pi, 400)
    loops = 400.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    walk = way(300, step=(9.0, 0.0))
    for places in (stopping(LONG_STOP - 20, 5.0), loops, walk):
        found, finding = without_long_stops(tracks(way(100), places))
        assert found.lengths.tolist() == [100, len(places)]
        assert finding.found == "none longer than 60 rows"


def test_who_drives_round_a_few_blocks_with_rows_far_apart_does_not_stand():
    block = [(0, 0), (90, 0), (180, 0), (180, 90), (180, 180), (90, 180), (0, 180), (0, 90)]
    places = np.array(block * 40) + np.random.default_rng(3).normal(0, 5.0, (320, 2))
    found, finding = without_long_stops(tracks(places))
    assert found.lengths.tolist() == [len(places)]
    assert finding.found == "none longer than 60 rows"


def test_jumps_between_trips_do_not_make_the_trips_stops():
    trips = [way(30, start=(0.0, 3000.0 * k), step=(80.0, 0.0)) for k in range(12)]
    found, finding = without_long_stops(tracks(np.concatenate(trips)))
    assert found.lengths.tolist() == [360]
    assert finding.found == "none longer than 60 rows"


def test_a_body_that_never_moves_is_cut_too():
    moored = np.random.default_rng(3).normal(0, 5.0, (500, 2))
    found, _ = without_long_stops(tracks(moored, way(300)))
    assert found.lengths.tolist() == [SHORT_STOP, 300]


def test_rows_that_come_less_often_at_rest_do_not_set_the_period(tmp_path):
    places = stopping(1000, 5.0)
    period = np.where(np.arange(len(places)) // 40 * 40 == 0, 10.0, 180.0)
    period[-40:] = 10.0
    rows = [f"{t},{x},{y}" for t, (x, y) in zip(np.cumsum(period), places + np.array([0, 1]), strict=True)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["time,x,y", *rows]))
    kept, cut = (import_files([path], Columns(), ImportParams(stops=stops)) for stops in ("keep", "cut"))
    assert cut.episodes.frame.step_seconds == kept.episodes.frame.step_seconds == 10.0
    assert not any(finding.check == "stops" for finding in kept.findings)
    assert len(kept.episodes) > 5 * len(cut.episodes)
