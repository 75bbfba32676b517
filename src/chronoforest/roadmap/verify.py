"""Does anybody move like that? The denoiser is asked for every piece of the proposed ways, in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.roadmap.hops import Ground
from chronoforest.types import BoolArray, FloatArray, IntArray, Query, Sampler, SharedNoise, path_length

NUM_STEPS = 8
"""Denoising steps: a verdict needs a segment that arrives, not a beautiful one."""

NUM_PROBES = 16
"""Places from which the usual reach of a segment is measured."""

SHORTEST = 4.0
"""Pieces are at least so many meeting radii long where they can be: who stands still must not arrive."""


DETOUR = 1.5
"""A segment that takes more than this many times the length of a piece went another way."""

MOST_ROWS = 384
"""Segments of a batch: more of them gain nothing on a processor, and their memory stays small."""

LOOKS = (4, 16)
"""A segment arrives soon after it comes near or stays there: so many of its near frames are measured first,
and then so many, before the rest is."""


@dataclass(frozen=True)
class VerifyParams:
    """How the denoiser is asked about a piece of a way.

    guidance: scale of the guidance toward the piece's end, world units; piece_share: longest piece, as a
    share of what segments reach; meeting_steps: a segment arrives when it passes within so many steps of the
    piece's end by the distance; slip: world units that it may stray farther outside the support than its
    start.
    """

    guidance: float = 16.0
    piece_share: float = 0.9
    meeting_steps: float = 6.0
    slip: float = 0.05

    def __post_init__(self) -> None:
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
    and recordings stray a little outside the support.
    """
    if not ground.density.is_one_way:
        return VerifyParams()
    return VerifyParams(guidance=0.0, piece_share=0.25, meeting_steps=1.0, slip=5.0 * ground.edge)


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


@dataclass(frozen=True, eq=False)
class Questions:
    """Pieces [t, d] that somebody asks about, with so many segments for each, made from its own noise."""

    pieces: Sequence[FloatArray]
    num_samples: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_samples")

    @property
    def num_rows(self) -> int:
        """Segments that are asked for."""
        return self.num_samples * len(self.pieces)


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
        return self.together([Questions(pieces, num_samples, rng)])[0]

    def together(self, askers: Sequence[Questions]) -> list[list[Verdict]]:
        """The verdicts on the questions of several askers, in batches of bounded size; each gets those that
        it would get alone."""
        verdicts: list[list[Verdict]] = []
        for some in in_batches(askers, MOST_ROWS):
            found = iter(verify(some, self.sampler, self.ground, self.params))
            verdicts += [[next(found) for _ in asker.pieces] for asker in some]
        return verdicts


def usual_reach(sampler: Sampler, places: FloatArray, rng: np.random.Generator) -> float:
    """World units that segments get away from their start, the median over places [n, d].

    Recordings end long before the frames do: a segment that has arrived stays where it is.
    """
    segments = sampler(_query(places, places, 0.0), rng)
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


def in_batches(askers: Sequence[Questions], most_rows: int) -> Iterator[list[Questions]]:
    """Askers in turn, as many together as have `most_rows` rows; one that has more is alone."""
    batch: list[Questions] = []
    for asker in askers:
        if batch and sum(one.num_rows for one in batch) + asker.num_rows > most_rows:
            yield batch
            batch = []
        batch.append(asker)
    if batch:
        yield batch


def verify(
    askers: Sequence[Questions], sampler: Sampler, ground: Ground, params: VerifyParams
) -> list[Verdict]:
    """A verdict on every piece of all askers; one batch [pieces × samples, frames, d] for all of them."""
    pieces = [piece for asker in askers for piece in asker.pieces]
    if not pieces:
        return []
    starts, ends = (np.stack([piece[row] for piece in pieces]) for row in (0, -1))
    counts = np.concatenate([np.full(len(asker.pieces), asker.num_samples) for asker in askers])
    rows = np.repeat(np.arange(len(pieces)), counts)
    noise = SharedNoise([(asker.rng, asker.num_rows) for asker in askers])
    segments = sampler(_query(starts[rows], ends[rows], params.guidance), noise)
    is_sound = _is_sound(segments, sampler.stride * ground.step_length, ground, params.slip)
    arrival = _arrivals(segments, is_sound, ends, rows, ground, params.meeting_steps)
    bounds = np.cumsum(counts)[:-1]
    parts = zip(np.split(segments, bounds), np.split(arrival, bounds), pieces, strict=True)
    return [_verdict(*part) for part in parts]


def _query(boundary: FloatArray, target: FloatArray, guidance: float) -> Query:
    count = len(boundary)
    return Query(boundary, target, np.zeros(count, dtype=np.bool_), np.full(count, guidance))


def _arrivals(
    segments: FloatArray,
    is_sound: BoolArray,
    ends: FloatArray,
    piece: IntArray,
    ground: Ground,
    radius: float,
) -> IntArray:
    """[n] the first sound frame of each segment within `radius` steps of the end of its piece [n], −1 where
    there is none; ends: [pieces, d].

    Where ways are lanes, passing the end between two frames will do, and the place alone decides: no wall
    divides a lane, and over a short way the distance is noisy.
    """
    if ground.density.is_one_way:
        is_past = is_sound[:, 1:] & (_passing(segments, ends[piece]) <= radius * ground.step_length)
        return np.where(is_past.any(axis=1), is_past.argmax(axis=1), -1)
    gap = np.linalg.norm(segments - ends[piece, None], axis=-1)
    # Nobody covers more than a step's length in a step, so what lies farther off need not be encoded.
    is_near = is_sound & (gap <= radius * ground.step_length)
    rank, codes = np.cumsum(is_near, axis=1), ground.distance.encode(ends)
    arrival = np.full(len(segments), -1)
    for low, high in pairwise((0, *LOOKS, segments.shape[1])):
        is_asked = is_near & (rank > low) & (rank <= high) & (arrival < 0)[:, None]
        row, frame = np.nonzero(is_asked)
        steps = ground.distance.between(ground.distance.encode(segments[row, frame]), codes[piece[row]])
        row, frame = row[steps <= radius], frame[steps <= radius]
        arrived, first = np.unique(row, return_index=True)
        arrival[arrived] = frame[first]
    return arrival


def _passing(segments: FloatArray, ends: FloatArray) -> FloatArray:
    """[n, frames − 1] how near each straight part of the segments [n, frames, d] comes to the end [n, d]."""
    starts, moves = segments[:, :-1], np.diff(segments, axis=1)
    ahead = ((ends[:, None] - starts) * moves).sum(axis=-1) / np.maximum((moves**2).sum(axis=-1), 1e-12)
    nearest = starts + np.clip(ahead, 0.0, 1.0)[..., None] * moves
    return np.linalg.norm(nearest - ends[:, None], axis=-1)


def _is_sound(segments: FloatArray, largest_hop: float, ground: Ground, slip: float) -> BoolArray:
    """[n, frames]: everything up to this frame is supported, without a jump, and goes with the traffic."""
    margin = ground.density.margin(segments)
    moves = np.diff(segments, axis=1)
    is_sound = margin > np.minimum(margin[:, :1] - slip, 0.0)
    is_sound[:, 0] = True
    is_sound[:, 1:] &= np.linalg.norm(moves, axis=-1) <= largest_hop
    is_sound[:, 1:] &= ground.density.follows(segments[:, :-1] + 0.5 * moves, moves)
    return np.logical_and.accumulate(is_sound, axis=1)


def _verdict(segments: FloatArray, arrival: IntArray, piece: FloatArray) -> Verdict:
    """The shortest of a piece's segments [n, frames, d] that arrives and goes no other way; how many do."""
    found = [
        np.concatenate([segment[: frame + 1], piece[-1:]])
        for segment, frame in zip(segments, arrival, strict=True)
        if frame >= 0
    ]
    found = [segment for segment in found if path_length(segment) <= DETOUR * path_length(piece)]
    return Verdict(min(found, key=path_length, default=None), len(found) / len(segments))
