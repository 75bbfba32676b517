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


@dataclass(frozen=True)
class VerifyParams:
    """How the denoiser is asked about a piece of a way.

    num_samples: segments asked for a piece; guidance: scale of the guidance toward the piece's end, world
    units; piece_share: longest piece, as a share of what segments reach; meeting_steps: a segment arrives
    when it passes within so many steps of the piece's end by the distance; slip: world units that it may
    stray farther outside the support than its start; both_ways: every other segment is one that arrives at the
    piece's end, and is followed back to its start.
    """

    num_samples: int = 6
    guidance: float = 16.0
    piece_share: float = 0.9
    meeting_steps: float = 6.0
    slip: float = 0.05
    both_ways: bool = False

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
    that many of those took who are behind it, so segments are asked for from both ends.
    """
    if not ground.density.is_one_way:
        return VerifyParams()
    return VerifyParams(
        guidance=0.0, piece_share=0.25, meeting_steps=1.0, slip=10.0 * ground.edge, both_ways=True
    )


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the denoiser says of a piece: the shortest segment [t, d] that arrives, from the piece's start to
    its end, None if none does; and the share of segments that arrive."""

    segment: FloatArray | None
    share: float

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
    segments = sampler(Query(starts, ends, is_back, np.full(len(asked), params.guidance)), rng)
    is_sound = _is_sound(segments, is_back, sampler.stride * ground.step_length, ground, params.slip)
    arrival = _arrivals(segments, is_sound, ends, ground, params.meeting_steps)
    found = [_arrived(*one) for one in zip(segments, arrival, is_back, asked, strict=True)]
    return [_verdict(found[first : first + count]) for first in range(0, len(asked), count)]


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
    """[n, frames − 1] how near each straight part of the segments [n, frames, d] comes to the end [n, d]."""
    starts, moves = segments[:, :-1], np.diff(segments, axis=1)
    ahead = ((ends[:, None] - starts) * moves).sum(axis=-1) / np.maximum((moves**2).sum(axis=-1), 1e-12)
    nearest = starts + np.clip(ahead, 0.0, 1.0)[..., None] * moves
    return np.linalg.norm(nearest - ends[:, None], axis=-1)


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
    whole = np.concatenate([segment[: arrival + 1], piece[-1:]])
    if path_length(whole) > DETOUR * path_length(piece):
        return None
    return whole[::-1] if is_back else whole


def _verdict(found: Sequence[FloatArray | None]) -> Verdict:
    """The shortest of a piece's segments that arrives; how many do."""
    arrived = [segment for segment in found if segment is not None]
    return Verdict(min(arrived, key=path_length, default=None), len(arrived) / len(found))
