from itertools import pairwise

import numpy as np
import pytest
from fakes import BLOCK, SPEED, EuclideanDistance, SquareDensity, StraightSampler
from road_cases import grid_density, ground

from chronoforest.errors import InvalidParameter
from chronoforest.roadmap.arrivals import arrivals, doubtful, follows, room
from chronoforest.roadmap.verify import (
    Checker,
    Piece,
    Questions,
    Verdict,
    VerifyParams,
    cut,
    in_batches,
    usual_reach,
    verify,
)
from chronoforest.types import path_length

PARAMS = VerifyParams()
NUM_SAMPLES = 6


class WeavingSampler(StraightSampler):
    """Every other segment makes a detour of a unit to the side."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        bow = np.sin(np.pi * np.linspace(0.0, 1.0, self.horizon + 1))
        segments[::2, :, 1] += 1.0 * bow
        return segments


def asked(pieces, num_samples=NUM_SAMPLES, seed=0):
    return Questions([Piece(piece) for piece in pieces], num_samples, np.random.default_rng(seed))


def judge(pieces, density=None, sampler=None):
    known = ground(density or SquareDensity(BLOCK))
    return verify([asked(pieces)], sampler or StraightSampler(), known, PARAMS)


def test_pieces_are_equally_long_and_make_up_the_path():
    path = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [10.0, 4.0]])
    pieces = cut(path, 4.0)
    assert [path_length(piece) for piece in pieces] == pytest.approx([3.5] * 4)
    np.testing.assert_array_equal(pieces[0][0], path[0])
    np.testing.assert_array_equal(pieces[-1][-1], path[-1])
    for before, after in pairwise(pieces):
        np.testing.assert_allclose(before[-1], after[0])
    assert any((piece == path[1]).all(axis=1).any() for piece in pieces)


def test_a_short_path_is_one_piece():
    path = np.array([[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(cut(path, 5.0)[0], path)


def test_all_pieces_are_asked_in_one_batch():
    sampler = StraightSampler()
    pieces = cut(np.array([[2.0, 3.0], [17.0, 3.0]]), 4.0)
    verdicts = judge(pieces, sampler=sampler)
    assert len(sampler.queries) == 1
    assert len(sampler.queries[0]) == len(pieces) * NUM_SAMPLES
    assert all(verdict.is_verified and verdict.num_followers == NUM_SAMPLES for verdict in verdicts)
    for piece, verdict in zip(pieces, verdicts, strict=True):
        np.testing.assert_allclose(verdict.segment[[0, -1]], piece[[0, -1]])


def test_a_piece_through_the_block_is_refuted():
    through, beside = np.array([[5.5, 10.0], [9.5, 10.0]]), np.array([[3.0, 4.0], [7.0, 4.0]])
    verdicts = judge([through, beside])
    assert [verdict.is_verified for verdict in verdicts] == [False, True]
    assert verdicts[0].segment is None
    assert verdicts[0].num_followers == 0


def test_a_piece_longer_than_segments_reach_is_refuted():
    assert not judge([np.array([[2.0, 3.0], [12.0, 3.0]])])[0].is_verified


def test_a_piece_against_the_traffic_is_refuted():
    headings = np.zeros((8, 80, 40), dtype=bool)
    headings[0] = True
    density = grid_density(np.ones((80, 40), dtype=bool), headings=headings)
    eastward = np.array([[4.0, 5.0], [8.0, 5.0]])
    verdicts = judge([eastward, eastward[::-1]], density)
    assert [verdict.is_verified for verdict in verdicts] == [True, False]


def test_a_segment_that_jumps_does_not_arrive():
    jumpy = StraightSampler(horizon=4, shortest=4.0)
    assert not judge([np.array([[2.0, 3.0], [6.0, 3.0]])], sampler=jumpy)[0].is_verified


def test_the_shortest_segment_that_arrives_is_kept():
    piece = np.array([[2.0, 3.0], [6.0, 3.0]])
    verdict = judge([piece], sampler=WeavingSampler())[0]
    assert verdict.is_verified
    assert path_length(verdict.segment) < 4.2


def test_nothing_proposed_needs_no_verdict():
    sampler = StraightSampler()
    assert judge([], sampler=sampler) == []
    assert sampler.queries == []


def test_reach_is_how_far_segments_get():
    places = np.full((10, 2), 10.0)
    assert usual_reach(StraightSampler(), places, np.random.default_rng(0)) == pytest.approx(4.8)


@pytest.mark.parametrize("wrong", [{"piece_share": 0.0}, {"guidance": (16.0, -1.0)}, {"meeting_steps": 0.0}])
def test_wrong_values_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        VerifyParams(**wrong)


@pytest.mark.parametrize(("gap", "is_verified"), [(SPEED / 2, True), (2 * SPEED, False)])
def test_the_meeting_radius_is_in_steps(gap, is_verified):
    params = VerifyParams(meeting_steps=1.0)
    piece = np.array([[2.0, 3.0], [2.0 + StraightSampler().longest + gap, 3.0]])
    (verdict,) = verify([asked([piece])], StraightSampler(), ground(), params)
    assert verdict.is_verified == is_verified


class ArrivingSampler(StraightSampler):
    """Those who leave stay where they are; those who arrive came straight on."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        segments[~query.is_incoming] = query.boundary[~query.is_incoming, None]
        return segments


@pytest.mark.parametrize("both_ways", [True, False])
def test_what_few_set_out_for_is_verified_by_those_who_came_from_there(both_ways):
    params, piece = VerifyParams(both_ways=both_ways), np.array([[2.0, 3.0], [6.0, 3.0]])
    (verdict,) = verify([asked([piece])], ArrivingSampler(), ground(), params)
    assert verdict.is_verified == both_ways
    assert verdict.num_followers == (NUM_SAMPLES / 2 if both_ways else 0)
    if both_ways:
        np.testing.assert_allclose(verdict.segment[[0, -1]], piece)


def test_those_who_came_against_the_traffic_verify_nothing():
    headings = np.zeros((8, 80, 40), dtype=bool)
    headings[0] = True
    density = grid_density(np.ones((80, 40), dtype=bool), headings=headings)
    eastward, params = np.array([[4.0, 5.0], [8.0, 5.0]]), VerifyParams(both_ways=True)
    verdicts = verify([asked([eastward, eastward[::-1]])], ArrivingSampler(), ground(density), params)
    assert [verdict.is_verified for verdict in verdicts] == [True, False]


def test_what_too_few_follow_is_refuted_until_enough_do():
    """Followers of all tries count together; half of the segments follow in each."""
    params = VerifyParams(both_ways=True, least_followers=4)
    checker = Checker(ArrivingSampler(), ground(), 4.0, params)
    piece = np.array([[2.0, 3.0], [6.0, 3.0]])
    (first,) = checker.together([asked([piece], 4)])[0]
    assert (first.refuted_by, first.num_followers) == ("motion", 2)
    (second,) = checker.together([Questions([Piece(piece, first)], 4, np.random.default_rng(1))])[0]
    assert (second.is_verified, second.num_followers) == (True, 4)
    (settled,) = checker.settled([piece], (2, 2), np.random.default_rng(0))
    assert (settled.state, settled.verdict.num_followers) == ("verified", 4)
    (refuted,) = checker.settled([piece], (2,), np.random.default_rng(0))
    assert (refuted.state, refuted.verdict.num_followers) == ("refuted", 3)


CORNER = np.concatenate([[[x, 0.0] for x in range(11)], [[10.0, y] for y in range(1, 11)]])


def keeping(*rows):
    """Which points of the corner somebody keeps to."""
    kept = np.zeros((1, len(CORNER)), dtype=bool)
    kept[0, list(rows)] = True
    return kept


def test_where_neither_side_keeps_to_a_straight_piece_is_in_doubt():
    straight, leaving, arriving = CORNER[:11], keeping(0, 1, 2, 3)[:, :11], keeping(7, 8, 9, 10)[:, :11]
    part = doubtful(straight, leaving, arriving, room=0.5)
    assert part[:, 0].tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def test_what_others_keep_to_after_they_left_the_piece_does_not_count():
    part = doubtful(CORNER[:11], keeping(0, 1, 2, 8, 9, 10)[:, :11], keeping(10)[:, :11], room=0.5)
    assert part[[0, -1], 0].tolist() == [1.0, 10.0]


def test_of_a_piece_that_turns_the_turn_is_in_doubt_and_not_the_streets():
    rounded = np.array([[0, 0], [4, 0], [8, 0], [9, 0.3], [9.7, 1], [10, 2], [10, 6], [10, 10]], dtype=float)
    leaving, arriving = np.arange(8)[None] < 3, np.arange(8)[None] > 5
    part = doubtful(rounded, leaving, arriving, room=1.0)
    assert part.tolist() == rounded[3:5].tolist()


def test_where_segments_come_from_both_ends_there_is_one_more_try():
    open_ways, lanes = (
        Checker(StraightSampler(), ground(), 4.0, VerifyParams(both_ways=both)) for both in (False, True)
    )
    assert open_ways.tries((6, 12)) == (6, 12)
    assert lanes.tries((6, 12)) == (6, 12, 24)


class LeftLaneSampler(StraightSampler):
    """Only those who begin left of the middle get anywhere."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        is_right = query.boundary[:, 1] < 3.2
        segments[is_right] = query.boundary[is_right, None]
        return segments


@pytest.mark.parametrize(("aside", "is_verified"), [(0.0, False), (2.0, True)])
def test_segments_begin_beside_the_piece_too(aside, is_verified):
    piece = np.array([[2.0, 3.0], [6.0, 3.0]])
    params = VerifyParams(both_ways=True, aside=aside)
    (verdict,) = verify([asked([piece])], LeftLaneSampler(), ground(), params)
    assert verdict.is_verified == is_verified
    assert (verdict.doubtful is None) == is_verified


class NoisySampler(StraightSampler):
    """Segments end wherever the noise leads."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        return segments + np.cumsum(0.12 * rng.standard_normal(segments.shape), axis=1)


def across(height):
    return cut(np.array([[2.0, height], [17.0, height]]), 4.0)


@pytest.mark.parametrize("most_rows", [1, 30, 1000])
def test_askers_that_share_batches_get_the_verdicts_they_would_get_alone(most_rows):
    checker = Checker(NoisySampler(), ground(), 4.0, VerifyParams(slip=45.0, most_rows=most_rows))
    sizes = [(across(3.0), 6, 1), ([], 6, 2), (across(4.0)[:1], 1, 3), (across(16.0), 12, 4)]
    together = checker.together([asked(*one) for one in sizes])
    assert [len(verdicts) for verdicts in together] == [len(pieces) for pieces, _, _ in sizes]
    for (pieces, count, seed), verdicts in zip(sizes, together, strict=True):
        (alone,) = checker.together([asked(pieces, count, seed)])
        assert [one.num_followers for one in alone] == [one.num_followers for one in verdicts]
        for one, other in zip(alone, verdicts, strict=True):
            np.testing.assert_array_equal(one.segment, other.segment)
    assert len({verdict.num_followers for verdicts in together for verdict in verdicts}) > 1


def test_batches_have_at_most_so_many_rows():
    askers = [asked(across(3.0), count) for count in (1, 2, 9, 1, 1, 1)]
    assert [[one.num_samples for one in batch] for batch in in_batches(askers, 12)] == [
        [1, 2],
        [9],
        [1, 1, 1],
    ]


def test_no_segment_at_all_is_refused():
    with pytest.raises(InvalidParameter, match="num_samples must be at least 1, got 0"):
        asked(across(3.0), 0)


class SlowDistance(EuclideanDistance):
    """Everything takes twice as long as it looks."""

    def between(self, source, target):
        return 2.0 * super().between(source, target)


@pytest.mark.parametrize("radius", [1.0, 4.0, 12.0, 60.0])
def test_a_segment_arrives_with_its_first_frame_that_is_near_enough(radius):
    """Also where many frames before it look near but are not, by the distance."""
    along = 2.0 + SPEED * np.arange(101)
    segments = np.stack([along, np.full(101, 3.0)], axis=1)[None]
    is_sound, end = np.ones((1, 101), dtype=bool), np.array([[9.0, 3.0]])
    known = ground(distance=SlowDistance())
    found = arrivals(segments, is_sound, end, np.zeros(1, dtype=np.int64), known, radius + 1e-6)
    assert found.tolist() == [round(70 - radius // 2)]


def bulged(piece, height, shape):
    """A piece whose middle lies aside: as a bow, a plateau with slopes, or a sudden one."""
    share = np.linspace(0.0, 1.0, 41)
    straight = piece[0] + share[:, None] * (piece[-1] - piece[0])
    rise = {
        "bow": np.sin(np.pi * share),
        "plateau": np.clip(4.0 * np.minimum(share, 1.0 - share), 0.0, 1.0),
        "sudden": (abs(share - 0.5) < 0.17).astype(float),
    }[shape]
    return straight + height * rise[:, None] * np.array([0.0, 1.0])


STRAIGHT = np.array([[2.0, 4.0], [6.0, 4.0]])


@pytest.mark.parametrize("shape", ["bow", "plateau", "sudden"])
@pytest.mark.parametrize(("height", "refuted_by"), [(0.3, None), (1.2, "motion"), (-4.5, "support")])
def test_a_bulged_piece_is_verified_only_within_the_room(height, refuted_by, shape):
    """Segments go straight and end where the piece ends, whatever it does in between."""
    (verdict,) = judge([bulged(STRAIGHT, height, shape)])
    assert verdict.refuted_by == refuted_by
    assert verdict.is_verified == (refuted_by is None)


def test_a_piece_that_starts_outside_the_support_is_refuted():
    (verdict,) = judge([np.array([[-1.5, 4.0], [2.0, 4.0]])])
    assert verdict.refuted_by == "support"


def test_the_denoiser_is_not_asked_about_what_is_refuted_without_it():
    sampler = StraightSampler()
    outside, inside = np.array([[5.5, 10.0], [9.5, 10.0]]), STRAIGHT
    askers = [asked([outside, inside], 4), asked([outside], 2), asked([inside, outside], 3)]
    verdicts = verify(askers, sampler, ground(SquareDensity(BLOCK)), PARAMS)
    assert [verdict.refuted_by for verdict in verdicts] == ["support", None, "support", None, "support"]
    assert len(sampler.queries[0]) == 4 + 3


def test_segments_are_guided_and_held_in_turn():
    sampler = StraightSampler()
    judge([STRAIGHT], sampler=sampler)
    assert np.isinf(sampler.queries[0].guidance).tolist() == [False, True] * (NUM_SAMPLES // 2)


@pytest.mark.parametrize(("height", "most", "expected"), [(1.0, 4.0, 2.0), (2.0, 4.0, 2.0), (2.0, 0.5, 0.5)])
def test_room_is_that_of_the_whole_corridor_not_of_the_place_in_it(height, most, expected):
    """A corridor four units wide leaves two units of room, near its walls as well."""
    places = np.array([[10.0, height]])
    corridor = SquareDensity(((-50.0, 4.0), (50.0, 50.0)))
    assert room(places, corridor, 0.0, most)[0] == pytest.approx(expected, abs=0.3)
    assert room(places + np.array([0.0, 3.5]), corridor, 0.0, most)[0] == 0.0


def test_what_follows_a_piece_for_a_part_only_does_not_follow_it():
    piece, space = np.stack([np.linspace(0, 9, 91), np.zeros(91)], axis=1), np.full(91, 0.5)
    assert follows(piece + np.array([0.0, 0.4]), piece, space)
    assert not follows(piece[:70], piece, space)
    assert not follows(np.concatenate([piece, [[9.0, 3.0], [9.0, 0.0]]]), piece, space)


@pytest.mark.parametrize(
    ("aside", "room", "is_used"),
    [(0.8, 1.0, True), (1.6, 1.0, False), (0.1, 2.5, False), (-0.1, 2.5, True), (-5.0, 0.5, False)],
    ids=["with the room asked", "too near an edge", "nearer than the piece", "farther than it", "too long"],
)
def test_a_segment_is_handed_out_where_it_is_as_short_and_keeps_as_much_room(aside, room, is_used):
    piece = np.array([[6.0, 2.0], [10.0, 2.0], [14.0, 2.0]])  # two units from the lower edge of the square
    segment = piece - np.array([[0.0, 0.0], [0.0, aside], [0.0, 0.0]])
    found = Piece(piece, Verdict(segment, 1)).realised(1.1, SquareDensity(), room)
    np.testing.assert_array_equal(found, segment if is_used else piece)
