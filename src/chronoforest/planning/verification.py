"""A path from anywhere, checked as the ways of a plan are: which pieces of it generated motion follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.planning.assembly import concatenated
from chronoforest.planning.variants import Prepared
from chronoforest.roadmap.arrivals import refusal
from chronoforest.roadmap.states import Track
from chronoforest.roadmap.straight import finely
from chronoforest.roadmap.verify import Piece, State, Verdict, cut, usual_params
from chronoforest.types import FloatArray, Support, path_length

SPACINGS = 4.0
"""A piece's length in a world without networks, in scales of the position of its states."""


@dataclass(frozen=True, eq=False)
class Verification:
    """A path in pieces, each verified, refuted or unknown.

    pieces: in order, neighbours share an end; they and the segments that follow them are in the coordinates
    of the path; lengths: of each, in the unit of the frame; unknown: why pieces are that nothing refutes;
    recorded: share of the hops between the states it passes that recordings make, None where the roadmap was
    laid over the support of models.
    """

    pieces: tuple[Piece, ...]
    lengths: tuple[float, ...]
    frame: Frame
    support: Support
    unknown: str
    recorded: float | None = None

    def __repr__(self) -> str:
        return f"Verification({self.summary()})"

    @property
    def path(self) -> FloatArray:
        """[t, d] of all pieces."""
        return concatenated([piece.path for piece in self.pieces])[0]

    @property
    def verified(self) -> float:
        """Share of the length that is verified."""
        return self.share("verified")

    def share(self, state: State, by: str | None = None) -> float:
        """Share of the length that is in a state; by: refuted by this alone."""
        pairs = zip(self.pieces, self.lengths, strict=True)
        found = (size for one, size in pairs if one.state == state and by in (None, one.refuted_by))
        return sum(found) / sum(self.lengths)

    def summary(self) -> str:
        """One line for people."""
        parts = [f"{100 * self.verified:.0f} % verified"]
        for by in ("support", "heading", "motion"):
            share = self.share("refuted", by)
            parts += [f"{100 * share:.0f} % refuted by {by}"] if share else []
        share = self.share("unknown")
        parts += [f"{100 * share:.0f} % unknown: {self.unknown}"] if share else []
        parts += [] if self.recorded is None else [f"{100 * self.recorded:.0f} % of its hops recorded"]
        return f"{', '.join(parts)}; {sum(self.lengths):.1f} {self.frame.unit}, {len(self.pieces)} pieces"

    def rows(self) -> Iterator[tuple[float, float, State, str]]:
        """Of every piece: where it begins and ends along the path, its state, and what refutes it."""
        ends = np.cumsum([0.0, *self.lengths]).tolist()
        for piece, begin, end in zip(self.pieces, ends, ends[1:], strict=False):
            yield begin, end, piece.state, piece.refuted_by or ""

    def plot(self, path: str | Path | None = None, ax: Any = None) -> Any:
        """Draw the pieces over the data's support, coloured by their state, on `ax` or on axes of their own,
        into a file where one is named; returns the axes."""
        from chronoforest.report import drawing

        axes = drawing.ground(self.support, ax)
        drawing.draw_states(axes, [(self.frame.to_local(one.path), one.state) for one in self.pieces])
        drawing.draw_scale(axes, self.frame)
        axes.set_title(self.summary(), fontsize=12, color=drawing.INK)
        if path is not None:
            drawing.save(axes.figure, path)
        return axes

    def _repr_html_(self) -> str:
        """The picture, for notebooks; it needs no other file."""
        from chronoforest.report import drawing

        return drawing.inline(self.plot())


def checked_path(path: Any, frame: Frame) -> FloatArray:
    """[t, 2] a path in the user's coordinates; refused where it is none or leads nowhere."""
    points = np.asarray(path, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.isfinite(points).all():
        raise InvalidParameter(f"a path is two points [x, y] or more, got an array of shape {points.shape}")
    if not frame.is_known(points).all():
        raise InvalidParameter("this world is in longitude and latitude, the path has other coordinates")
    if not np.ptp(points, axis=0).any():
        raise InvalidParameter(f"a path must lead somewhere, all points of this one are {points[0]}")
    return points


def verification(
    path: FloatArray, prepared: Prepared, frame: Frame, rng: np.random.Generator
) -> Verification:
    """What is known of a path [t, 2] in the user's coordinates."""
    local, roadmap = frame.to_local(path), prepared.roadmap
    found, why = checked(local, prepared, rng)
    recorded = None
    if roadmap.has_recorded_hops:
        hops = roadmap.matched(Track(local, np.arange(len(local), dtype=np.float64), 0))
        known = (hops >= 0) & roadmap.hops.is_recorded[hops]
        recorded = float(known.mean()) if len(hops) else None
    lengths = tuple(path_length(piece.path) for piece in found)
    moved = tuple(_moved(piece, frame) for piece in found)
    return Verification(moved, lengths, frame, prepared.support, why, recorded)


def checked(path: FloatArray, prepared: Prepared, rng: np.random.Generator) -> tuple[tuple[Piece, ...], str]:
    """The pieces of a path [t, d] with what is known of each, and why that of some is nothing: support and
    headings are asked in every world, the denoiser where there is one that can be believed."""
    given, variant = prepared.given, prepared.variant
    if given.has_networks and variant.verifies:
        pieces = cut(path, prepared.checker.piece_length)
        found = prepared.checker.settled(pieces, variant.piece_samples, rng)
        if variant.refutes:
            return found, ""
        doubtful = tuple(Piece(one.path) if one.refuted_by == "motion" else one for one in found)
        return doubtful, "the denoiser is too weak to refute"
    slip = usual_params(given.density).slip * prepared.params.assembly.edge
    spacings = SPACINGS * prepared.roadmap.space.spacing
    unasked = []
    for piece in cut(path, prepared.checker.piece_length if given.has_networks else spacings):
        refused = refusal(finely(piece, given.step_length), given.density, slip)
        unasked.append(Piece(piece, None if refused is None else Verdict(None, 0, refused)))
    weak = "the denoiser is too weak to be asked"
    return tuple(unasked), weak if given.has_networks else "nothing was trained to ask about motion"


def _moved(piece: Piece, frame: Frame) -> Piece:
    """A piece in the user's coordinates."""
    verdict = piece.verdict
    if verdict is not None:
        parts = {"segment": verdict.segment, "doubtful": verdict.doubtful}
        moved: dict[str, Any] = {
            name: frame.to_user(part) for name, part in parts.items() if part is not None
        }
        verdict = replace(verdict, **moved)
    return Piece(frame.to_user(piece.path), verdict)
