"""What the denoiser is asked about the ways of a proposed route, and what is made of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from chronoforest.planning.proposing import Proposer
from chronoforest.roadmap.verify import Questions, Verdict
from chronoforest.types import Pair

MOST_REFUTED = 3
"""A leg whose ways were refuted so often stays as it was first proposed: where the denoiser realises nothing,
its verdicts speak against the denoiser, and a detour is no better than the way itself."""


class Verifier:
    """Asks about all pieces of the open legs, in as many tries as the variant makes; a leg that fails in all
    of them is refuted, unless the denoiser is too weak to be believed.

    asked: the legs of the last questions; num_asked: pieces that were asked about so far.
    """

    def __init__(self, proposer: Proposer, rng: np.random.Generator) -> None:
        self.proposer, self.rng = proposer, rng
        self.variant = proposer.prepared.variant
        self.asked: tuple[Pair, ...] = ()
        self.num_asked = 0
        self.num_tries: Counter[Pair] = Counter()
        self.num_refuted: Counter[Pair] = Counter()

    def questions(self) -> Questions | None:
        """What to ask next about the open legs; None where there are none."""
        self.asked = self._open_legs()
        if not self.asked:
            return None
        tries = min(self.num_tries[leg] for leg in self.asked)
        pieces = [piece for leg in self.asked for piece in self.proposer.found[leg].pieces]
        return Questions(pieces, self._counts[tries], self.rng)

    def take(self, verdicts: Sequence[Verdict]) -> None:
        """Take in the answers to the last questions."""
        self.num_asked += len(verdicts)
        left, found = iter(verdicts), self.proposer.found
        for leg in self.asked:
            found[leg] = found[leg].judged([next(left) for _ in found[leg].pieces])
            self.num_tries[leg] += not found[leg].is_verified
        refuted = [leg for leg in self.asked if self.num_tries[leg] == len(self._counts)]
        if refuted and self.variant.refutes:
            self._refute(refuted)
        else:
            self.proposer.given_up.update(refuted)

    def _refute(self, legs: Sequence[Pair]) -> None:
        """Have other ways proposed for legs, or give them up."""
        for leg in legs:
            self.num_tries[leg] = 0
            self.num_refuted[leg] += 1
            if self.num_refuted[leg] == MOST_REFUTED:
                self.proposer.given_up.add(leg)
        self.proposer.doubt(legs)

    def _open_legs(self) -> tuple[Pair, ...]:
        """Legs of the route that are neither verified nor given up."""
        if not self.variant.verifies:
            return ()
        found, given_up = self.proposer.found, self.proposer.given_up
        met = self.proposer.proposed.met
        return tuple(leg for leg in met if not found[leg].is_verified and leg not in given_up)

    @property
    def _counts(self) -> tuple[int, ...]:
        """Segments to ask for in every try."""
        return self.proposer.prepared.checker.tries(self.variant.piece_samples)
