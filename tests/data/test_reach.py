"""What can be reached from where is told from the recordings alone."""

import numpy as np
import pytest

from chronoforest.data.episodes import Episodes
from chronoforest.data.frames import Frame
from chronoforest.data.reach import survey


def recorded(*lines):
    """Recordings along polylines, resampled to 60 rows each."""
    tracks = []
    for line in lines:
        corners = np.array(line, dtype=float)
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
        ticks = np.linspace(0.0, along[-1], 60)
        tracks.append(np.stack([np.interp(ticks, along, corners[:, k]) for k in range(2)], axis=1))
    xy = np.array(tracks, dtype=np.float32)
    return Episodes(xy, np.zeros((*xy.shape[:2], 0), dtype=np.float32))


RING = [(0, 0), (20, 0), (20, 20), (0, 20), (0, 0.1)]


def test_a_ring_driven_one_way_is_one_part():
    reach = survey(recorded(RING, RING), 1.5, is_reversible=False)
    assert not reach.part.any()
    assert (reach.pair_share, reach.verdict, reach.wishes) == (1.0, "good", ())
    assert (reach.num_recordings == 2).all()


def test_a_dead_end_that_is_driven_one_way_asks_for_the_way_back():
    reach = survey(recorded(RING, [(20, 10), (40, 10)]), 1.5, is_reversible=False)
    (wish,) = reach.wishes
    assert wish.why == "there is a way in and none back"
    np.testing.assert_allclose(wish.source, [40, 10], atol=1.5)
    np.testing.assert_allclose(wish.target, [20, 10], atol=1.5)
    assert reach.pair_share < 1.0
    assert survey(recorded(RING, [(20, 10), (40, 10)]), 1.5, is_reversible=True).pair_share == 1.0


def test_a_way_that_only_leads_in_asks_for_one_to_its_beginning():
    (wish,) = survey(recorded(RING, [(40, 10), (20, 10)]), 1.5, is_reversible=False).wishes
    assert wish.why == "there is a way out and none in"
    np.testing.assert_allclose(wish.target, [40, 10], atol=1.5)


@pytest.mark.parametrize("is_reversible", [True, False])
def test_an_island_asks_for_a_recording_across(is_reversible):
    island = [(place[0] + 50, place[1]) for place in RING]
    reach = survey(recorded(RING, RING, island), 1.5, is_reversible)
    (wish,) = reach.wishes
    assert wish.why == "nothing was recorded between them"
    assert 28 < np.linalg.norm(wish.target - wish.source) < 32
    assert 0.4 < reach.pair_share < 0.6
    assert reach.verdict == "poor"
    assert 0.4 < (reach.num_recordings == 1).mean() < 0.6


def test_the_longest_hop_is_between_two_rows_and_no_jump():
    episodes = recorded(RING)
    episodes.observations[0, 30:, 0] += 1.0
    reach = survey(episodes, 1.5, is_reversible=False)
    assert np.linalg.norm(reach.longest_hop[1] - reach.longest_hop[0]) == pytest.approx(
        episodes.step_lengths.max(), rel=1e-3
    )


def test_what_is_told_is_in_the_users_coordinates():
    frame = Frame("degrees", (13.4, 52.5))
    reach = survey(recorded(RING, [(20, 10), (40, 10)]), 1.5, is_reversible=False)
    lines = list(reach.lines(frame, "ways have directions"))
    assert [name for name, _ in lines] == ["reach", "parts", "longest hop", "thin", "record next"]
    assert "from (13.4" in lines[-1][1]
    assert " m: there is a way in and none back" in lines[-1][1]
