"""Bus trips in Chicago, recordings that nobody here made, where they lie beside the repository."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from chronoforest.cli import main
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files, save_episodes

BESIDE = Path(__file__).parents[2].parent / "shared" / "data" / "chicago"
TRIPS = Path(os.environ.get("CHRONOFOREST_CITY", BESIDE)) / "trips.csv.gz"

pytestmark = pytest.mark.skipif(
    not TRIPS.is_file(), reason=f"no {TRIPS}; CHRONOFOREST_CITY names the folder that has it"
)


@pytest.fixture(scope="module")
def imported():
    return import_files([TRIPS], Columns(), ImportParams())


def test_trips_stay_whole_and_in_utm_metres(imported):
    episodes = imported.episodes
    assert (episodes.frame.kind, episodes.frame.step_seconds) == ("plain", 3.0)
    assert 100 <= episodes.num_steps <= 201
    assert len(np.unique(episodes.recording)) > 880
    low, high = (f(episodes.xy.reshape(-1, 2).astype(float), axis=0) for f in (np.min, np.max))
    np.testing.assert_allclose(episodes.frame.to_user(low), [442980.66, 4634649.97], atol=100)
    np.testing.assert_allclose(episodes.frame.to_user(high), [446904.05, 4637047.64], atol=100)


def test_the_page_shows_what_inspect_says_of_them(imported, tmp_path, capsys):
    save_episodes(tmp_path / "city.npz", imported.episodes)
    assert main(["data", "inspect", str(tmp_path / "city.npz")]) == 0
    page = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text()
    shown = page.partition("```text\nways ")[2].partition("```")[0]
    assert f"ways {shown}" in capsys.readouterr().out


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """The same trips with a row a minute, and what was found in them."""
    path = tmp_path_factory.mktemp("sparse") / "minutes.csv"
    last = {}
    with gzip.open(TRIPS, "rt", newline="") as file, path.open("w", newline="") as out:
        header, *rows = csv.reader(file)
        csv.writer(out).writerow(header)
        for row in rows:
            trip, time = row[0], float(row[1])
            if time - last.get(trip, -60.0) >= 60.0:
                last[trip] = time
                csv.writer(out).writerow(row)
    return import_files([path], Columns(), ImportParams())


def test_a_row_a_minute_is_led_along_the_streets_as_the_page_says(sparse):
    (rows,) = (finding for finding in sparse.findings if finding.check == "rows")
    page = (Path(__file__).parents[2] / "docs" / "gps.md").read_text()
    shown = page.partition("```text\nrows ")[2].partition("```")[0].strip()
    assert shown == f"{rows.found}   {rows.done}"


def test_ways_between_minutes_lie_where_all_the_rows_lie(imported, sparse):
    origin = np.subtract(sparse.episodes.frame.origin, imported.episodes.frame.origin)
    places = sparse.episodes.xy.reshape(-1, 2) + origin
    gap, _ = cKDTree(imported.episodes.xy.reshape(-1, 2)).query(places)
    assert (gap > 20.0).mean() < 0.02
    assert len(np.unique(sparse.episodes.recording)) > 850
