"""Does the denoiser move like that? It is asked for every piece of the proposed ways, in one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least, require_positive
from chronoforest.roadmap.arrivals import (
    Refusal,
    arrivals,
    doubtful,
    follows,
    is_sound_until,
    kept_to,
    refusal,
    room,
)
from chronoforest.roadmap.straight import finely
from chronoforest.roadmap.support import Ground
from chronoforest.types import (
    BoolArray,
    Density,
    FloatArray,
    IntArray,
    Query,
    Sampler,
    SharedNoise,
    lengths_along,
    path_length,
)

State = Literal["verified", "refuted", "unknown"]
"""What is known of a piece."""


@dataclass(frozen=True)
class VerifyParams:
    """How the denoiser is asked about a piece of a way.

    num_steps: denoising steps at most: a verdict needs a segment that follows the piece, not a beautiful one;
    guidance: toward the piece's end, world units, of every other segment, and of those between, which are
    held at both ends; piece_share: longest piece, as a share of what segments reach; num_probes: places from
    which that is measured; shortest: it is at least so many meeting radii long, since who stands still must
    not arrive; meeting_steps: a segment arrives when it passes within so many steps of the piece's end by the
    distance, and may be no farther from the piece anywhere; detour: a segment that takes more than this many
    times the length of the piece went another way; slip: room that both may stray outside the support;
    both_ways: whether every other segment is one that arrives at the piece's end and is followed back to its
    start; aside: room to the left and to the right of the piece's ends where segments begin; least_followers:
    segments that must follow a piece; most_rows: of a batch: more of them gain nothing on a processor.
    `slip` and `aside` are in units of the room that a way keeps to the support's edge.
    """

    num_steps: int = 8
    guidance: tuple[float, float] = (16.0, np.inf)
    piece_share: float = 0.9
    num_probes: int = 16
    shortest: float = 4.0
    meeting_steps: float = 6.0
    detour: float = 1.5
    slip: float = 1.0
    both_ways: bool = False
    aside: float = 0.0
    least_followers: int = 1
    most_rows: int = 384

    def __post_init__(self) -> None:
        if not 0.0 < self.piece_share <= 1.0:
            raise InvalidParameter(f"piece_share must lie in (0, 1], got {self.piece_share}")
        require_at_least(self, 1, "num_steps", "num_probes", "most_rows", "detour", "least_followers")
        require_positive(self, "meeting_steps")
        if min(self.guidance) < 0:
            raise InvalidParameter(f"guidance must be 0 or more, got {self.guidance}")


def usual_params(density: Density) -> VerifyParams:
    """How to ask where ways are open, and where they are lanes.

    On a lane guidance in a straight line leaves it at the next bend, so nobody is guided, pieces are shorter,
    and recordings stray a little outside the support. A turn that few of those take who come along is the one
    that many of those took who are behind it, so segments are asked for from both ends. And where two lanes
    lie side by side, a way between them is taken by those on its right side. One segment in twenty makes a
    turn that no recording makes, and a few of a hundred would verify it: four must follow (of 300 pieces
    that ships drove in the strait fewer do for 0.8 %, of turns that none made for 93 %).
    """
    if not density.is_one_way:
        return VerifyParams()
    return VerifyParams(
        guidance=(0.0, 0.0),
        piece_share=0.25,
        meeting_steps=1.0,
        slip=10.0,
        both_ways=True,
        aside=6.0,
        least_followers=4,
    )


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of a piece.

    segment: the shortest [t, d] that follows it from its start to its end, None if too few do; num_followers:
    how many do of all that were asked for; refuted_by: it leaves the support, goes against all recorded
    headings, or too few segments move so; doubtful: on lanes the part [k, d] of a piece that is not verified
    to which neither those who leave nor those who arrive keep.
    """

    segment: FloatArray | None
    num_followers: int
    refuted_by: Refusal | None = None
    doubtful: FloatArray | None = None

    @property
    def is_verified(self) -> bool:
        """Whether somebody moves like that."""
        return self.segment is not None

    def after(self, earlier: Verdict | None, least: int) -> Verdict:
        """With the followers that earlier tries found; fewer than `least` may be the model's errors."""
        count = self.num_followers + (0 if earlier is None else earlier.num_followers)
        if self.segment is not None and count < least:
            return Verdict(None, count, "motion")
        return replace(self, num_followers=count)


@dataclass(frozen=True, eq=False)
class Piece:
    """A part [t, d] of a path, and the last verdict on it; None before any, or where nothing can be asked."""

    path: FloatArray
    verdict: Verdict | None = None

    @property
    def state(self) -> State:
        """Refuted by what the verdict says, verified, or unknown."""
        if self.verdict is None:
            return "unknown"
        return "verified" if self.verdict.is_verified else "refuted"

    @property
    def segment(self) -> FloatArray | None:
        """[t, d] that was generated and follows it, if one was."""
        return None if self.verdict is None else self.verdict.segment

    @property
    def refuted_by(self) -> Refusal | None:
        """What refutes it, if anything does."""
        return None if self.verdict is None else self.verdict.refuted_by

    @property
    def doubtful(self) -> FloatArray:
        """[k, d] the part to which no segment kept: all of it, unless the verdict says which."""
        part = None if self.verdict is None else self.verdict.doubtful
        return self.path if part is None else part

    def realised(self, longest: float, density: Density, room: float) -> FloatArray:
        """[t, d] the segment; the piece itself where the segment is more than `longest` times as long, or
        keeps neither `room` units to the edge of the support nor as much as the piece does."""
        segment = self.segment
        if segment is None or path_length(segment) > longest * path_length(self.path):
            return self.path
        least = [float(density.margin(finely(path, room / 4)).min()) for path in (segment, self.path)]
        return segment if least[0] >= min(room, least[1]) else self.path


def judged(pieces: Sequence[Piece], verdicts: Iterable[Verdict]) -> tuple[Piece, ...]:
    """Pieces with a verdict on each of those that were not verified yet, in their order."""
    found = iter(verdicts)
    return tuple(
        piece if piece.segment is not None else replace(piece, verdict=next(found)) for piece in pieces
    )


@dataclass(frozen=True, eq=False)
class Questions:
    """Pieces that somebody asks about, with so many segments for each, made from its own noise."""

    pieces: Sequence[Piece]
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
        params, rng = usual_params(ground.density), np.random.default_rng(0)
        quick, some = (
            sampler.in_steps(params.num_steps),
            places[rng.permutation(len(places))[: params.num_probes]],
        )
        reach = params.piece_share * usual_reach(quick, some, rng)
        least = params.shortest * params.meeting_steps * ground.step_length
        return cls(quick, ground, max(reach, least), params)

    def settled(
        self, pieces: Sequence[FloatArray], counts: Sequence[int], rng: np.random.Generator
    ) -> tuple[Piece, ...]:
        """Pieces with their verdicts, those that nothing follows asked about again, as often as a plan asks
        that has them in its ways."""
        found = tuple(map(Piece, pieces))
        for count in self.tries(counts):
            left = [piece for piece in found if piece.segment is None]
            at_once = max(1, self.params.most_rows // count)
            parts = [left[first : first + at_once] for first in range(0, len(left), at_once)]
            verdicts = self.together([Questions(part, count, rng) for part in parts])
            found = judged(found, chain.from_iterable(verdicts))
        return found

    def tries(self, counts: Sequence[int]) -> tuple[int, ...]:
        """Segments to ask for in the first try, the second and so on: where half of them come from the other
        end, one more try makes up for that."""
        return (*counts, 2 * counts[-1]) if self.params.both_ways else tuple(counts)

    def together(self, askers: Sequence[Questions]) -> list[list[Verdict]]:
        """The verdicts on the questions of several askers, in batches of bounded size; each gets those that
        it would get alone."""
        verdicts: list[list[Verdict]] = []
        for some in in_batches(askers, self.params.most_rows):
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
    """A verdict on every piece of all askers; one batch [pieces × samples, frames, d] for all that are not
    refuted without it."""
    asked = [piece for asker in askers for piece in asker.pieces]
    fine = [finely(piece.path, ground.step_length) for piece in asked]
    refused = [refusal(piece, ground.density, params.slip * ground.edge) for piece in fine]
    owner = np.repeat(np.arange(len(askers)), [len(asker.pieces) for asker in askers])
    is_open = np.array([why is None for why in refused], dtype=np.bool_)
    num_open = np.bincount(owner[is_open], minlength=len(askers))
    pieces = [piece for piece, why in zip(fine, refused, strict=True) if why is None]
    found = iter(_asked(pieces, num_open, askers, sampler, ground, params) if pieces else [])
    return [
        Verdict(None, 0, why) if why is not None else next(found).after(piece.verdict, params.least_followers)
        for piece, why in zip(asked, refused, strict=True)
    ]


def _asked(
    pieces: Sequence[FloatArray],
    num_pieces: IntArray,
    askers: Sequence[Questions],
    sampler: Sampler,
    ground: Ground,
    params: VerifyParams,
) -> list[Verdict]:
    """The denoiser's verdicts on pieces, of which each asker has so many."""
    counts = np.repeat([asker.num_samples for asker in askers], num_pieces)
    rows, rank = np.repeat(np.arange(len(pieces)), counts), np.concatenate([np.arange(k) for k in counts])
    is_back = params.both_ways & (rank % 2 == 1)
    noise = [(asker.rng, asker.num_samples * count) for asker, count in zip(askers, num_pieces, strict=True)]
    query = _query(pieces, rows, rank, is_back, params, ground)
    segments, slip = sampler(query, SharedNoise(noise)), params.slip * ground.edge
    is_sound = is_sound_until(segments, is_back, sampler.stride * ground.step_length, ground, slip)
    ends = np.stack([piece[-1] for piece in pieces] + [piece[0] for piece in pieces if params.both_ways])
    arrival = arrivals(segments, is_sound, ends, rows + len(pieces) * is_back, ground, params.meeting_steps)
    bounds = np.cumsum(counts)[:-1]
    groups = zip(
        pieces, *(np.split(part, bounds) for part in (segments, arrival, is_back, is_sound)), strict=True
    )
    return [_verdict(ground, params, *group) for group in groups]


def _query(
    pieces: Sequence[FloatArray],
    rows: IntArray,
    rank: IntArray,
    is_back: BoolArray,
    params: VerifyParams,
    ground: Ground,
) -> Query:
    """Segments asked for pieces [n] by their rank within the piece [n], from its start, or back from its end
    [n]."""
    starts, ends = (np.stack([piece[row] for piece in pieces])[rows] for row in (0, -1))
    begins = np.where(is_back[:, None], ends, starts)
    if params.aside > 0:
        begins = begins + params.aside * ground.edge * _beside(pieces, rows, rank, is_back)
    targets = np.where(is_back[:, None], starts, ends)
    return Query(begins, targets, is_back, np.array(params.guidance)[rank % 2])


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
    ground: Ground,
    params: VerifyParams,
    piece: FloatArray,
    segments: FloatArray,
    arrival: IntArray,
    is_back: BoolArray,
    is_sound: BoolArray,
) -> Verdict:
    """The shortest of a piece's segments [n, frames, d] that follows it; how many do; and on lanes what is in
    doubt where none does."""
    slip, detour = params.slip * ground.edge, params.detour
    space = room(piece, ground.density, slip, params.meeting_steps * ground.step_length)
    whole = [_arrived(*one, piece, space, detour) for one in zip(segments, arrival, is_back, strict=True)]
    found = [segment for segment in whole if segment is not None]
    if found:
        return Verdict(min(found, key=path_length), len(found))
    verdict = Verdict(None, 0, "motion")
    if not params.both_ways:
        return verdict
    kept = kept_to(piece, segments, is_sound, slip)
    return replace(verdict, doubtful=doubtful(piece, kept[~is_back], kept[is_back], slip))


def _arrived(
    segment: FloatArray, arrival: int, is_back: bool, piece: FloatArray, space: FloatArray, detour: float
) -> FloatArray | None:
    """A segment [frames, d] up to where it arrives, from the start of its piece to the end, in the order of
    travel; None if it does not arrive, makes a detour or leaves the room [k] at the piece."""
    if arrival < 0:
        return None
    inner = segment[1 : arrival + 1]
    whole = np.concatenate([piece[:1], inner[::-1] if is_back else inner, piece[-1:]])
    is_detour = path_length(whole) > detour * path_length(piece)
    return None if is_detour or not follows(whole, piece, space) else whole
