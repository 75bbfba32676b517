"""Does anybody move like that? The denoiser is asked for every piece of the proposed ways, in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.errors import InvalidParameter
from chronoforest.roadmap.hops import Ground
from chronoforest.types import BoolArray, FloatArray, IntArray, Query, Sampler, path_length

NUM_STEPS = 8
"""Denoising steps: a verdict needs a segment that arrives, not a beautiful one."""

NUM_PROBES = 16
"""Places from which the usual reach of a segment is measured."""

SHORTEST = 4.0
"""Pieces are at least so many meeting radii long where they can be: who stands still must not arrive."""


DETOUR = 1.5
"""A segment that takes more than this many times the length of a piece went another way."""


ONWARD = 25.0
"""Degrees that a way may differ from a street which it goes along."""


@dataclass(frozen=True)
class VerifyParams:
    """How the denoiser is asked about a piece of a way.

    num_samples: segments asked for a piece; guidance: scale of the guidance toward the piece's end, world
    units; piece_share: longest piece, as a share of what segments reach; meeting_steps: a segment arrives
    when it passes within so many steps of the piece's end by the distance; slip: world units that it may
    stray farther outside the support than its start; both_ways: whether every other segment is one that
    arrives at the piece's end and is followed back to its start; aside: world units to the left and to the
    right of the piece's ends where segments begin, too.
    """

    num_samples: int = 6
    guidance: float = 16.0
    piece_share: float = 0.9
    meeting_steps: float = 6.0
    slip: float = 0.05
    both_ways: bool = False
    aside: float = 0.0

    def __post_init__(self) -> None:
        if self.num_samples < 1:
            raise InvalidParameter(f"num_samples must be ≥ 1, got {self.num_samples}")
        if not 0.0 < self.piece_share <= 1.0:
            raise InvalidParameter(f"piece_share must lie in (0, 1], got {self.piece_share}")
        if self.guidance < 0 or self.meeting_steps <= 0:
            raise InvalidParameter(
                "guidance must be 0 or more and meeting_steps above 0, "
                f"got {self.guidance} and {self.meeting_steps}"
            )


def usual_params(ground: Ground) -> VerifyParams:
    """How to ask where ways are open, and where they are lanes.

    On a lane guidance in a straight line leaves it at the next bend, so nobody is guided, pieces are shorter,
    and recordings stray a little outside the support. A turn that few of those take who come along is the one
    that many of those took who are behind it, so segments are asked for from both ends. And where two lanes
    lie side by side, a way between them is taken by those on its right side.
    """
    if not ground.density.is_one_way:
        return VerifyParams()
    return VerifyParams(
        guidance=0.0,
        piece_share=0.25,
        meeting_steps=1.0,
        slip=10.0 * ground.edge,
        both_ways=True,
        aside=6.0 * ground.edge,
    )


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the denoiser says of a piece: the shortest segment [t, d] that arrives, from the piece's start to
    its end, None if none does; the share of segments that arrive; and, on lanes, the part [k, d] of a piece
    that is not verified to which neither those who leave nor those who arrive keep."""

    segment: FloatArray | None
    share: float
    doubtful: FloatArray | None = None

    @property
    def is_verified(self) -> bool:
        """Whether somebody moves like that."""
        return self.segment is not None


@dataclass(frozen=True)
class Checker:
    """Asks the denoiser about ways; piece_length: the longest piece it is asked for, in world units."""

    sampler: Sampler
    ground: Ground
    piece_length: float
    params: VerifyParams = VerifyParams()

    @classmethod
    def made_for(cls, sampler: Sampler, ground: Ground, places: FloatArray) -> Checker:
        """A checker that asks in few denoising steps, for pieces as long as segments reach from places."""
        quick, rng = sampler.in_steps(NUM_STEPS), np.random.default_rng(0)
        some = places[rng.permutation(len(places))[:NUM_PROBES]]
        params = usual_params(ground)
        reach = params.piece_share * usual_reach(quick, some, rng)
        least = SHORTEST * params.meeting_steps * ground.step_length
        return cls(quick, ground, max(reach, least), params)

    def tries(self, counts: Sequence[int]) -> tuple[int, ...]:
        """Segments to ask for in the first try, the second and so on: where half of them come from the other
        end, one more try makes up for that."""
        return (*counts, 2 * counts[-1]) if self.params.both_ways else tuple(counts)

    def __call__(
        self, pieces: Sequence[FloatArray], num_samples: int, rng: np.random.Generator
    ) -> list[Verdict]:
        """A verdict on every piece."""
        params = replace(self.params, num_samples=num_samples)
        return verify(pieces, self.sampler, self.ground, params, rng)


def usual_reach(sampler: Sampler, places: FloatArray, rng: np.random.Generator) -> float:
    """World units that segments get away from their start, the median over places [n, d].

    Recordings end long before the frames do: a segment that has arrived stays where it is.
    """
    count = len(places)
    segments = sampler(Query(places, places, np.zeros(count, dtype=np.bool_), np.zeros(count)), rng)
    away = np.linalg.norm(segments - segments[:, :1], axis=-1).max(axis=1)
    return float(np.median(away))


def cut(path: FloatArray, longest: float) -> list[FloatArray]:
    """A path [t, d] in pieces of equal length, at most `longest` units each; neighbours share an end."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    ticks = np.linspace(0.0, along[-1], max(1, int(np.ceil(along[-1] / longest))) + 1)
    corners = np.stack([np.interp(ticks, along, path[:, k]) for k in range(path.shape[1])], axis=1)
    corners[[0, -1]] = path[[0, -1]]
    pieces = []
    for k in range(len(ticks) - 1):
        inner = path[(along > ticks[k] + 1e-9) & (along < ticks[k + 1] - 1e-9)]
        pieces.append(np.concatenate([corners[k : k + 1], inner, corners[k + 1 : k + 2]]))
    return pieces


def verify(
    pieces: Sequence[FloatArray],
    sampler: Sampler,
    ground: Ground,
    params: VerifyParams,
    rng: np.random.Generator,
) -> list[Verdict]:
    """A verdict on every piece [t, d]; one batch [pieces × samples, frames, d] for all of them."""
    if len(pieces) == 0:
        return []
    count = params.num_samples
    is_back = np.tile(params.both_ways & (np.arange(count) % 2 == 1), len(pieces))
    # Pieces as segments run along them, outward from their boundary.
    each = [piece for piece in pieces for _ in range(count)]
    asked = [piece[::-1] if back else piece for piece, back in zip(each, is_back, strict=True)]
    starts, ends = (np.stack([piece[row] for piece in asked]) for row in (0, -1))
    begun = starts + params.aside * _beside(asked, np.arange(len(asked)) % count // 2)
    segments = sampler(Query(begun, ends, is_back, np.full(len(asked), params.guidance)), rng)
    is_sound = _is_sound(segments, is_back, sampler.stride * ground.step_length, ground, params.slip)
    arrival = _arrivals(segments, is_sound, ends, ground, params.meeting_steps)
    found = [_arrived(*one) for one in zip(segments, arrival, is_back, asked, strict=True)]
    verdicts = []
    for number, piece in enumerate(pieces):
        own = slice(number * count, (number + 1) * count)
        verdict = _verdict(found[own])
        if params.both_ways and not verdict.is_verified:
            kept = _kept_to(piece, segments[own], is_sound[own], params.slip)
            leaving, arriving = kept[~is_back[own]], kept[is_back[own]]
            verdict = replace(verdict, doubtful=doubtful(piece, leaving, arriving, params.slip))
        verdicts.append(verdict)
    return verdicts


def _beside(pieces: Sequence[FloatArray], turn: IntArray) -> FloatArray:
    """[n, d] sideways moves at the start of pieces, of a unit at most: none, to one side and to the other in
    turn [n]; only the plane has sides."""
    moves = np.stack([piece[min(len(piece) - 1, 2)] - piece[0] for piece in pieces])
    if moves.shape[1] != 2:
        return np.zeros_like(moves)
    left = np.stack([-moves[:, 1], moves[:, 0]], axis=1)
    side = np.array([0.0, 1.0, -1.0])[turn % 3]
    return np.asarray(side[:, None] * left / (np.linalg.norm(left, axis=1, keepdims=True) + 1e-9))


def _arrivals(
    segments: FloatArray, is_sound: BoolArray, ends: FloatArray, ground: Ground, radius: float
) -> IntArray:
    """[n] the first sound frame of each segment within `radius` steps of its end, −1 where there is none.

    Where ways are lanes, passing the end between two frames will do, and the place alone decides: no wall
    divides a lane, and over a short way the distance is noisy.
    """
    if ground.density.is_one_way:
        is_past = is_sound[:, 1:] & (_passing(segments, ends) <= radius * ground.step_length)
        return np.where(is_past.any(axis=1), is_past.argmax(axis=1), -1)
    gap = np.linalg.norm(segments - ends[:, None], axis=-1)
    # Nobody covers more than a step's length in a step, so what lies farther off need not be encoded.
    is_near = is_sound & (gap <= radius * ground.step_length)
    row, frame = np.nonzero(is_near)
    steps = ground.distance.between(
        ground.distance.encode(segments[row, frame]), ground.distance.encode(ends)[row]
    )
    is_near[row, frame] = steps <= radius
    return np.where(is_near.any(axis=1), is_near.argmax(axis=1), -1)


def _passing(segments: FloatArray, ends: FloatArray) -> FloatArray:
    """[..., frames − 1] how near the straight parts of segments [..., frames, d] come to ends [..., d]."""
    starts, moves = segments[..., :-1, :], np.diff(segments, axis=-2)
    ahead = ((ends[..., None, :] - starts) * moves).sum(axis=-1)
    ahead = ahead / np.maximum((moves**2).sum(axis=-1), 1e-12)
    nearest = starts + np.clip(ahead, 0.0, 1.0)[..., None] * moves
    return np.linalg.norm(nearest - ends[..., None, :], axis=-1)


def _kept_to(piece: FloatArray, segments: FloatArray, is_sound: BoolArray, room: float) -> BoolArray:
    """[n, k]: the sound part of each segment [n, frames, d] passes a point of a piece [k, d] within room."""
    gap = _passing(segments[:, None], piece[None])
    return np.asarray(((gap <= room) & is_sound[:, None, 1:]).any(axis=-1))


def doubtful(piece: FloatArray, leaving: BoolArray, arriving: BoolArray, room: float) -> FloatArray:
    """[m, d] the part of a piece [k, d] between where the last of those who leave departs from it and where
    the first of those who arrive joins it; each [n, k], the points that they keep to.

    Of a piece that turns there, or within `room` units of it, it is the turn alone: on the streets that it
    connects people do move.
    """
    kept, kept_back = leaving.any(axis=0), np.flip(arriving.any(axis=0))
    last = int(np.logical_and.accumulate(kept).sum()) - 1
    first = len(piece) - int(np.logical_and.accumulate(kept_back).sum())
    low, high = sorted((max(last, 0), min(first, len(piece) - 1)))
    tangent = np.gradient(piece, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    is_onward = np.max(tangent @ tangent[[0, -1]].T, axis=1) >= np.cos(np.radians(ONWARD))
    around = int(np.ceil(room * (len(piece) - 1) / path_length(piece)))
    turning = [k for k in range(max(low - around, 0), min(high + around + 1, len(piece))) if not is_onward[k]]
    if len(turning) > 1:
        return piece[turning[0] : turning[-1] + 1]
    return piece[max(low - 1, 0) : high + 2]


def _is_sound(
    segments: FloatArray, is_back: BoolArray, largest_hop: float, ground: Ground, slip: float
) -> BoolArray:
    """[n, frames]: everything up to this frame is supported, without a jump, and goes with the traffic, which
    comes toward those segments that are followed back [n]."""
    margin = ground.density.margin(segments)
    moves = np.diff(segments, axis=1)
    is_sound = margin > np.minimum(margin[:, :1] - slip, 0.0)
    is_sound[:, 0] = True
    is_sound[:, 1:] &= np.linalg.norm(moves, axis=-1) <= largest_hop
    is_sound[:, 1:] &= ground.density.follows(
        segments[:, :-1] + 0.5 * moves, np.where(is_back, -1.0, 1.0)[:, None, None] * moves
    )
    return np.logical_and.accumulate(is_sound, axis=1)


def _arrived(segment: FloatArray, arrival: int, is_back: bool, piece: FloatArray) -> FloatArray | None:
    """A segment [frames, d] up to where it arrives and on to the end of the piece it was asked for, in the
    order of travel; None if it does not arrive or went another way."""
    if arrival < 0:
        return None
    whole = np.concatenate([piece[:1], segment[1 : arrival + 1], piece[-1:]])
    if path_length(whole) > DETOUR * path_length(piece):
        return None
    return whole[::-1] if is_back else whole


def _verdict(found: Sequence[FloatArray | None]) -> Verdict:
    """The shortest of a piece's segments that arrives; how many do."""
    arrived = [segment for segment in found if segment is not None]
    return Verdict(min(arrived, key=path_length, default=None), len(arrived) / len(found))
