"""Only what lies in a region is imported, and the busiest is proposed."""

import numpy as np
import pytest

from chronoforest.data.axes import within
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.tracks import Tracks
from chronoforest.errors import BadDataset, InvalidParameter


def tracks(*ways):
    return Tracks.joined(
        ("a", np.arange(float(len(xs))), np.array([(float(x), 5.0) for x in xs])) for xs in ways
    )


def test_a_recording_that_leaves_a_region_and_comes_back_is_two():
    parts, finding = within(tracks((0, 1, 2, 11, 12, 3, 4), (20, 21)), (0, 0, 10, 10))
    assert [part.values[:, 0].tolist() for part in parts] == [[0, 1, 2], [3, 4]]
    assert (finding.found, finding.done) == ("4 rows elsewhere", "left out")


def test_a_region_where_nothing_is_and_one_that_is_none_are_refused():
    with pytest.raises(BadDataset, match=r"no two rows .* lie in the region \(0, 0, 1, 1\).* from 3"):
        within(tracks((3, 4)), (0, 0, 1, 1))
    with pytest.raises(BadDataset, match=r"most lie from 4636000\.\d+, 5 to"):
        within(tracks((4_636_000.25, 4_636_010.5)), (0, 0, 1, 1))
    with pytest.raises(InvalidParameter, match=r"west, south, east and north.*got \(3, 0, 1, 1\)"):
        ImportParams(region=(3, 0, 1, 1))


def test_a_whole_continent_is_refused_with_a_region_that_would_do(tmp_path):
    rows = "".join(
        f"{ship},{t},{lon + 1e-5 * t:.6f},{40.5 + 1e-5 * ((t + ship) % 50):.6f}\n"
        for ship, lon in enumerate([-74.5] * 3 + [-118.3])
        for t in range(0, 400, 4)
    )
    (tmp_path / "a.csv").write_text(f"mmsi,t,lon,lat\n{rows}")
    with pytest.raises(BadDataset, match=r"--region -75 40 -74 41, where 75 % of the rows lie"):
        import_files([tmp_path / "a.csv"], Columns(), ImportParams())
    result = import_files([tmp_path / "a.csv"], Columns(), ImportParams(region=(-75, 40, -74, 41)))
    assert "100 rows elsewhere" in [finding.found for finding in result.findings]
