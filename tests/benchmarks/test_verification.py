"""Hops for the suite of verification, and the tables of the directed worlds."""

from types import SimpleNamespace

import numpy as np
import pytest
from fakes import SquareDensity

from benchmarks.report.directed import strait_table, verification_table
from benchmarks.suites import verification
from benchmarks.suites.directed import CONTENDERS
from benchmarks.suites.verification import Hops, cases, held_out, num_refuted, refute
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial
from chronoforest.data.episodes import Episodes
from chronoforest.data.frames import Frame
from chronoforest.data.imports import save_episodes
from chronoforest.errors import BadDataset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.roadmap.verify import Verdict

TRACKS = np.stack([np.stack([np.arange(30.0), np.full(30, y)], axis=1) for y in (0.0, 5.0)])


def test_driven_hops_are_parts_of_recordings_of_the_asked_length():
    hops = Hops(TRACKS, 10.0, np.random.default_rng(0)).driven(20)
    lengths = [piece[-1, 0] - piece[0, 0] for piece in hops]
    assert len(hops) == 20
    assert 6.0 <= min(lengths) <= max(lengths) <= 11.0


def test_planted_hops_are_those_that_the_truth_calls_so():
    hops = Hops(TRACKS, 10.0, np.random.default_rng(0)).across(5, lambda piece: piece[0, 1] != piece[-1, 1])
    assert len(hops) == 5
    assert all(piece[0, 1] != piece[-1, 1] for piece in hops)


def test_a_hop_is_refuted_when_no_try_realises_it():
    class EveryOther:
        def tries(self, counts):
            return counts

        def __call__(self, pieces, num_samples, rng):
            return [Verdict(piece if piece[0, 0] > 0 else None, 0.5) for piece in pieces]

    pieces = [np.array([[x, 0.0], [x + 1, 0.0]]) for x in (0.0, 1.0, 2.0)]
    assert num_refuted(EveryOther(), pieces, np.random.default_rng(0)) == 1


class Listener:
    """Verifies everything and remembers what it was asked."""

    piece_length = 10.0

    def __init__(self):
        self.pieces = []

    def tries(self, counts):
        return counts

    def __call__(self, pieces, num_samples, rng):
        self.pieces += pieces
        return [Verdict(piece, 1.0) for piece in pieces]


def test_the_denoiser_is_asked_in_the_plane_of_its_models_about_recordings_of_another(monkeypatch):
    origin, listener = np.array([446500.0, 4635500.0]), Listener()
    monkeypatch.setattr(verification, "_checker", lambda planner: listener)
    monkeypatch.setattr(verification, "held_out", lambda *_: TRACKS + origin)
    case = Case("verification", PlannerChoice("strait"), instance="driven")
    refute(case, SimpleNamespace(frame=Frame(origin=tuple(origin))))
    assert {float(piece[0, 1]) for piece in listener.pieces} == {0.0, 5.0}


UTM = (446500.0, 4635500.0)


def recorded(folder, frame):
    """Held-out recordings in a frame."""
    episodes = Episodes(TRACKS.astype(np.float32), np.zeros((2, 30, 0)), {"frame": frame.to_dict()})
    save_episodes(folder / "city-val.npz", episodes)


def learned(frame):
    return SimpleNamespace(frame=frame, models=SimpleNamespace(density=SquareDensity()))


def test_held_out_recordings_may_have_another_origin_than_the_models(tmp_path):
    recorded(tmp_path, Frame(origin=UTM))
    tracks = held_out(tmp_path, "city", learned(Frame(origin=(UTM[0] - 3.0, UTM[1]))))
    np.testing.assert_allclose(tracks, TRACKS + UTM)


@pytest.mark.parametrize("frame", [Frame(), Frame("degrees", (-87.65, 41.87))])
@pytest.mark.parametrize("is_turned", [False, True])
def test_held_out_recordings_in_another_frame_than_the_models_are_refused(tmp_path, frame, is_turned):
    frames = [frame, Frame(origin=UTM)][:: -1 if is_turned else 1]
    recorded(tmp_path, frames[0])
    with pytest.raises(BadDataset, match="import both from tracks in the same plain coordinates") as error:
        held_out(tmp_path, "city", learned(frames[1]))
    assert all(one.summary() in str(error.value) for one in frames)


def test_tables_count_what_is_refuted_and_what_is_against():
    case = Case("verification", PlannerChoice("strait"), instance="driven")
    trials = [Trial(case, None, measures={"kind": "driven", "num_hops": 4, "num_refuted": 1})]
    (sheet,) = verification_table(trials)
    assert sheet.rows[0].entries["driven"].ours.value == 0.25
    found = {"is_complete": True, "length": 10.0, "shortest": 10.0, "first_seconds": 0.1, "seconds": 0.2}
    found |= {"num_against": 2, "num_off": 0, "num_unrecorded": 1}
    (sheet,) = strait_table([Trial(CONTENDERS[0].case("strait", "strait"), None, measures=found)])
    assert sheet.rows[0].entries["pieces against a lane"].ours.value == 2
    assert sheet.rows[2].entries["found, %"].ours is None


def test_every_world_has_a_driven_and_a_planted_kind():
    kinds = {}
    for case in cases(Request(episodes=3)):
        kinds.setdefault(case.preset, set()).add(case.instance)
    assert all("driven" in some and len(some) > 1 for some in kinds.values())
