"""Pieces for the suite of verification, and the tables of the directed worlds."""

from types import SimpleNamespace

import numpy as np
import pytest
from fakes import SquareDensity

from benchmarks.case import Case
from benchmarks.experiments import verification
from benchmarks.experiments.verification import (
    Pieces,
    held_out,
    refute,
)
from benchmarks.worlds.strait import STRAIT, Traffic, record
from chronoforest.data.episodes import Episodes
from chronoforest.data.frames import Frame
from chronoforest.data.imports import save_episodes
from chronoforest.errors import BadDataset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.roadmap.verify import Piece, Verdict
from chronoforest.types import path_length

TRACKS = np.stack([np.stack([np.arange(30.0), np.full(30, y)], axis=1) for y in (0.0, 5.0)])


def pieces(longest=10.0, tracks=TRACKS):
    return Pieces(tracks, longest, np.random.default_rng(0))


def test_driven_pieces_are_parts_of_recordings_of_the_asked_length():
    found = pieces().driven(20)
    lengths = [piece[-1, 0] - piece[0, 0] for piece in found]
    assert len(found) == 20
    assert 6.0 <= min(lengths) <= max(lengths) <= 11.0


def test_bulged_pieces_leave_their_recording_by_the_height_and_end_on_it():
    found = pieces().bulged(30, (3.0, 5.0), lambda piece: True)
    for piece in found:
        aside = np.abs(piece[:, 1] - piece[0, 1])
        assert 2.9 <= aside.max() <= 5.0
        assert aside[-1] == pytest.approx(0.0, abs=1e-9)
    assert len({np.round(np.sort(np.abs(one[:, 1] - one[0, 1])) / 3.0, 1).tobytes() for one in found}) >= 3


def test_changing_pieces_go_along_one_recording_and_then_along_another():
    tracks = np.concatenate([TRACKS, TRACKS[:, :, ::-1] + (10.0, -12.0)])
    found = pieces(tracks=tracks).changing(20, lambda way: True)
    assert len(found) == 20
    for piece in found:
        turn = np.diff(piece, axis=0)[[0, -1]]
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        assert abs(turn[0] @ turn[1]) < 0.2
        assert 5.0 <= path_length(piece) <= 10.0


@pytest.mark.parametrize("is_wanted", [verification._is_crossed, verification._is_turned])
def test_changes_are_told_by_whether_the_two_ways_meet(is_wanted):
    ships = record(Traffic(num_recordings=300), seed=4)
    found = Pieces(ships, 5.0, np.random.default_rng(0)).changing(10, is_wanted)
    assert len(found) == 10
    ferry = STRAIT.points(("f",))[0]
    at_ferry = [np.abs(piece[:, 0] - ferry[0]).min() < 2.0 for piece in found]
    assert all(at_ferry) == (is_wanted is verification._is_crossed)


class Listener:
    """Verifies everything and remembers what it was asked."""

    piece_length = 10.0

    def __init__(self):
        self.pieces = []

    def settled(self, pieces, counts, rng):
        self.pieces += pieces
        return [Piece(piece, Verdict(piece, 1)) for piece in pieces]


def test_the_denoiser_is_asked_in_the_plane_of_its_models_about_recordings_of_another(monkeypatch):
    origin, listener = np.array([446500.0, 4635500.0]), Listener()
    monkeypatch.setattr(verification, "checker_of", lambda planner: listener)
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
