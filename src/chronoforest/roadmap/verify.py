"""Does anybody move like that? The denoiser is asked for every piece of the proposed ways, in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.roadmap.arrivals import arrivals, is_sound_until
from chronoforest.roadmap.doubts import doubtful, kept_to
from chronoforest.roadmap.hops import Ground
from chronoforest.types import (
    BoolArray,
    FloatArray,
    IntArray,
    Query,
    Sampler,
    SharedNoise,
    lengths_along,
    path_length,
)

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


@dataclass(frozen=True)
class VerifyParams:
    """How the denoiser is asked about a piece of a way.

    guidance: scale of the guidance toward the piece's end, world units; piece_share: longest piece, as a
    share of what segments reach; meeting_steps: a segment arrives when it passes within so many steps of the
    piece's end by the distance; slip: world units that it may stray farther outside the support than its
    start; both_ways: whether every other segment is one that arrives at the piece's end and is followed back
    to its start; aside: world units to the left and to the right of the piece's ends where segments begin.
    """

    guidance: float = 16.0
    piece_share: float = 0.9
    meeting_steps: float = 6.0
    slip: float = 0.05
    both_ways: bool = False
    aside: float = 0.0

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

    def tries(self, counts: Sequence[int]) -> tuple[int, ...]:
        """Segments to ask for in the first try, the second and so on: where half of them come from the other
        end, one more try makes up for that."""
        return (*counts, 2 * counts[-1]) if self.params.both_ways else tuple(counts)

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
    count = len(places)
    segments = sampler(Query(places, places, np.zeros(count, dtype=np.bool_), np.zeros(count)), rng)
    away = np.linalg.norm(segments - segments[:, :1], axis=-1).max(axis=1)
    return float(np.median(away))


def cut(path: FloatArray, longest: float) -> list[FloatArray]:
    """A path [t, d] in pieces of equal length, at most `longest` units each; neighbours share an end."""
    along = lengths_along(path)
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
    counts = np.concatenate([np.full(len(asker.pieces), asker.num_samples) for asker in askers])
    rows, rank = np.repeat(np.arange(len(pieces)), counts), np.concatenate([np.arange(k) for k in counts])
    is_back = params.both_ways & (rank % 2 == 1)
    noise = SharedNoise([(asker.rng, asker.num_rows) for asker in askers])
    segments = sampler(_query(pieces, rows, rank, is_back, params), noise)
    is_sound = is_sound_until(segments, is_back, sampler.stride * ground.step_length, ground, params.slip)
    ends = np.stack([piece[-1] for piece in pieces] + [piece[0] for piece in pieces if params.both_ways])
    arrival = arrivals(segments, is_sound, ends, rows + len(pieces) * is_back, ground, params.meeting_steps)
    bounds = np.cumsum(counts)[:-1]
    parts = zip(
        pieces,
        np.split(segments, bounds),
        np.split(arrival, bounds),
        np.split(is_back, bounds),
        np.split(is_sound, bounds),
        strict=True,
    )
    return [_verdict(*part, params=params) for part in parts]


def _query(
    pieces: Sequence[FloatArray], rows: IntArray, rank: IntArray, is_back: BoolArray, params: VerifyParams
) -> Query:
    """Segments asked for pieces [n], each the so-manieth of its piece [n], from its start, or back from its
    end [n]."""
    starts, ends = (np.stack([piece[row] for piece in pieces])[rows] for row in (0, -1))
    begins = np.where(is_back[:, None], ends, starts)
    if params.aside > 0:
        begins = begins + params.aside * _beside(pieces, rows, rank, is_back)
    targets = np.where(is_back[:, None], starts, ends)
    return Query(begins, targets, is_back, np.full(len(rows), params.guidance))


def _beside(pieces: Sequence[FloatArray], rows: IntArray, rank: IntArray, is_back: BoolArray) -> FloatArray:
    """[n, d] sideways moves of a unit at most where segments begin: of every three from one end none, one to
    the left and one to the right; only the plane has sides."""
    ahead = np.stack([piece[min(len(piece) - 1, 2)] - piece[0] for piece in pieces])[rows]
    behind = np.stack([piece[max(0, len(piece) - 3)] - piece[-1] for piece in pieces])[rows]
    moves = np.where(is_back[:, None], behind, ahead)
    if moves.shape[1] != 2:
        return np.zeros_like(moves)
    left = np.stack([-moves[:, 1], moves[:, 0]], axis=1)
    side = np.array([0.0, 1.0, -1.0])[rank // 2 % 3]
    return np.asarray(side[:, None] * left / (np.linalg.norm(left, axis=1, keepdims=True) + 1e-9))


def _verdict(
    piece: FloatArray,
    segments: FloatArray,
    arrival: IntArray,
    is_back: BoolArray,
    is_sound: BoolArray,
    params: VerifyParams,
) -> Verdict:
    """The shortest of a piece's segments [n, frames, d] that arrives and goes no other way; how many do; and
    on lanes what is in doubt where none does."""
    whole = [_arrived(*one, piece) for one in zip(segments, arrival, is_back, strict=True)]
    found = [segment for segment in whole if segment is not None]
    verdict = Verdict(min(found, key=path_length, default=None), len(found) / len(segments))
    if verdict.is_verified or not params.both_ways:
        return verdict
    kept = kept_to(piece, segments, is_sound, params.slip)
    return replace(verdict, doubtful=doubtful(piece, kept[~is_back], kept[is_back], params.slip))


def _arrived(segment: FloatArray, arrival: int, is_back: bool, piece: FloatArray) -> FloatArray | None:
    """A segment [frames, d] up to where it arrives, from the start of its piece to the end, in the order of
    travel; None if it does not arrive or went another way."""
    if arrival < 0:
        return None
    inner = segment[1 : arrival + 1]
    whole = np.concatenate([piece[:1], inner[::-1] if is_back else inner, piece[-1:]])
    return whole if path_length(whole) <= DETOUR * path_length(piece) else None
