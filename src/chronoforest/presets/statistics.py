"""What a proposal is derived from: measures of recordings, each taken once.

Four of them carry all the others: how far a step goes, how long recordings are, how wide the world is, and
how much room there is beside the ways that were taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.data.episodes import Episodes
from chronoforest.data.gaps import gaps
from chronoforest.errors import BadDataset
from chronoforest.models.denoiser import FRAMES_PER_TOKEN
from chronoforest.models.density import (
    STRAY_SHARE,
    DensityParams,
    between_rows,
    fit_density,
    moves_around,
)
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_FRAMES = 40  # of a segment, as in the mazes
NUM_BACKUPS = 30  # of the distance, to what is far
NUM_PROBES = 2000  # places at which neighbours are looked for
ONE_WAY_SHARE = 0.15  # of the places that can be judged
LEAST_EVIDENCE = 8  # recordings that pass a place one way before none the other way means anything
LEAST_JUDGED = 0.2  # of the probes
MOST_APART = 2.0  # steps between recordings that still blend: wider, few of them would reach through walls
LANE_SHARE = 0.1  # of the density in the middle of a lane that its edge has
NARROW = 0.25  # steps that recordings of a street driven both ways spread; in the open they fill all around
MOST_ROWS = 1_000_000  # of recordings that tell how they lie side by side
LEAST_ABREAST = 4  # recordings that pass a place the same way before their spread means anything


@dataclass(frozen=True)
class Statistics:
    """What a proposal is derived from."""

    episodes: Episodes

    @cached_property
    def xy(self) -> FloatArray:
        """[E, T, 2] places."""
        return self.episodes.xy.astype(np.float64)

    @cached_property
    def step(self) -> float:
        """Median length of a step, standing still and jumps left out."""
        lengths = self.episodes.step_lengths
        is_moving = (lengths > 0.1 * np.quantile(lengths, 0.9)) & (lengths <= self.episodes.jump)
        if not is_moving.any():
            raise BadDataset("the recordings hardly move; a preset needs motion")
        return float(np.median(lengths[is_moving]))

    @cached_property
    def jumping(self) -> BoolArray:
        """[E] whether an episode jumps."""
        return np.asarray((self.episodes.step_lengths > self.episodes.jump).any(axis=1))

    @cached_property
    def diagonal(self) -> float:
        """Of the box around all places."""
        return float(np.linalg.norm(np.ptp(self.xy.reshape(-1, 2), axis=0)))

    @property
    def stride(self) -> int:
        """Steps per frame, so that an episode has at most `NUM_FRAMES` frames."""
        return max(1, math.ceil((self.episodes.num_steps - 1) / NUM_FRAMES))

    @property
    def horizon(self) -> int:
        """Frames per segment, in whole tokens."""
        num_tokens = (self.episodes.num_steps - 1) // self.stride // FRAMES_PER_TOKEN
        if num_tokens == 0:
            raise BadDataset(
                f"episodes of {self.episodes.num_steps} rows are too short; "
                f"{FRAMES_PER_TOKEN + 1} are the least that a denoiser can learn from"
            )
        return FRAMES_PER_TOKEN * num_tokens

    @property
    def span(self) -> int:
        """Steps per segment."""
        return self.stride * self.horizon

    @cached_property
    def reach(self) -> float:
        """Median straight distance that a recording covers in `span` steps, jumping ones left out."""
        walks = self.xy if self.jumping.all() else self.xy[~self.jumping]
        return float(np.median(np.linalg.norm(walks[:, self.span] - walks[:, 0], axis=-1)))

    @cached_property
    def spacing(self) -> float:
        """How far ninety-nine of a hundred places are, at most, from another recording; not more than
        `MOST_APART` steps, for what lies between recordings farther apart was never recorded."""
        usual = float(np.quantile(gaps(self.xy, self.episodes.recording), 0.99))
        return min(usual, MOST_APART * self.step)

    @property
    def blur(self) -> float:
        """Over which neighbouring rows and neighbouring recordings blend, on a table that fits."""
        return max(0.75 * self.step, 1.5 * self.spacing, self.diagonal / 1000)

    @cached_property
    def lane(self) -> tuple[float, float]:
        """How recordings that pass a place the same way lie side by side: their spread (a standard deviation,
        by the median so that strays do not count), and how far the next one is at nineteen of twenty places.

        Infinite where hardly any place is passed by several.
        """
        found = np.array([self._abreast(probe) for probe in self._probes(self._headings[1])]).reshape(-1, 2)
        spread, gap = found[np.isfinite(found[:, 0])].T
        if len(spread) < LEAST_JUDGED * len(found):
            return np.inf, np.inf
        return 1.48 * float(np.median(spread)), float(np.quantile(gap, 0.95))

    @cached_property
    def bandwidth(self) -> float:
        """Of the density: where ways are lanes or streets, as wide as recordings lie side by side there, else
        what makes rows and recordings blend."""
        spread, gap = self.lane
        if not (self.is_one_way or spread < NARROW * self.step):
            return self.blur
        return min(self.blur, max(spread, 2.0 * gap, self.diagonal / 1000))

    @property
    def cell(self) -> float:
        """Of the density's table: where bandwidths are narrow, as coarse as they allow."""
        return self.bandwidth / (2.0 if self.is_one_way else 3.0)

    @property
    def lane_share(self) -> float:
        """Of the density of the busiest place beside it that a place of a lane has."""
        return LANE_SHARE if self.is_one_way else 0.0

    @cached_property
    def room(self) -> float:
        """Distance to the edge of the support that three quarters of all places keep."""
        params = DensityParams(self.cell, self.bandwidth, lane_share=self.lane_share)
        # Without directions there are no lanes, and their room would be that of a whole street.
        density = fit_density(self.xy, params, self.episodes.jump, self.stride if self.is_one_way else 0)
        margin = density.margin(self._places[:: max(1, len(self._places) // 50_000)])
        return max(float(np.quantile(margin, 0.25)), self.bandwidth / 3)

    @cached_property
    def one_way(self) -> tuple[float, float]:
        """Share of places passed in one direction only, and the share of places that can be judged.

        A place is judged where at least `LEAST_EVIDENCE` passages by other recordings go one way. A few that
        go the other way on a busy street are strays: noise, a turn in a drive, the street beside it.
        """
        heading, is_usable = self._headings
        found = [self._passages(row, heading, is_usable) for row in self._probes(is_usable)]
        counts = np.array(found).reshape(-1, 2)
        is_judged = counts[:, 0] >= LEAST_EVIDENCE
        if not is_judged.any():
            return 0.0, 0.0
        same, against = counts[is_judged].T
        return float((against <= STRAY_SHARE * same).mean()), float(is_judged.mean())

    @property
    def is_one_way(self) -> bool:
        """Whether going back over a way is a detour; if unsure, it is."""
        one_way, judged = self.one_way
        return one_way >= ONE_WAY_SHARE or judged < LEAST_JUDGED

    @property
    def has_luck(self) -> bool:
        """Whether recordings jump."""
        return bool(self.jumping.mean() >= 0.01)

    @property
    def is_reversible(self) -> bool:
        """Whether any recorded motion could have been made backward."""
        return not (self.is_one_way or self.has_luck)

    @property
    def far(self) -> float:
        """Steps that count as far: about half of what crossing the world takes, all of it where one-way."""
        return 0.6 * self.diagonal / self.step * (2.0 if self.is_one_way else 1.0)

    @property
    def has_moves_for_actions(self) -> bool:
        """Whether what was moved may stand in for the action: always, except where jumps make it luck."""
        return not (self.has_luck and self.episodes.has_actions)

    @property
    def backup(self) -> int:
        """Steps per backup of the distance; a recorded action says nothing about more than its own step."""
        return max(1, round(self.far / NUM_BACKUPS)) if self.has_moves_for_actions else 1

    @cached_property
    def _headings(self) -> tuple[FloatArray, BoolArray]:
        """[N, 2] unit direction in which every row moves over one frame, and [N] whether it really does."""
        ahead = np.zeros(self.xy.shape)
        ahead[:, : -self.stride] = self.xy[:, self.stride :] - self.xy[:, : -self.stride]
        length = np.linalg.norm(ahead, axis=-1).reshape(-1)
        usual = self.stride * self.step
        is_moving = (length > 0.5 * usual) & (length <= 2.0 * usual)
        return ahead.reshape(-1, 2) / np.maximum(length, 1e-9)[:, None], is_moving

    @cached_property
    def _places(self) -> FloatArray:
        return self.xy.reshape(-1, 2)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._places)

    @cached_property
    def _recording(self) -> IntArray:
        recording = self.episodes.recording
        owner = np.arange(len(self.episodes)) if recording is None else recording
        return np.repeat(owner, self.episodes.num_steps)

    def _probes(self, is_usable: BoolArray) -> IntArray:
        """Rows spread evenly over the usable ones."""
        rows = np.flatnonzero(is_usable)
        chosen: IntArray = rows[np.linspace(0, len(rows) - 1, min(NUM_PROBES, len(rows))).astype(int)]
        return chosen

    def _passages(self, row: int, heading: FloatArray, is_usable: BoolArray) -> tuple[int, int]:
        """Other recordings that pass near a row in its direction, and against it."""
        near = np.array(self._tree.query_ball_point(self._places[row], 2.0 * self.blur), dtype=np.int64)
        near = near[is_usable[near] & (self._recording[near] != self._recording[row])]
        agreement = heading[near] @ heading[row]
        same, against = (self._recording[near[mask]] for mask in (agreement > 0.5, agreement < -0.5))
        return len(np.unique(same)), len(np.unique(against))

    @cached_property
    def _lines(self) -> tuple[FloatArray, IntArray, cKDTree]:
        """[n, 2] places along recordings, eight to a step; [n] the row that each follows; their tree. Where
        there are very many recordings some of them tell."""
        num_steps, every = self.episodes.num_steps, -(-len(self._places) // MOST_ROWS)
        places, rows = between_rows(self.xy[::every], self.step / 8, self.episodes.jump)
        episode, step = np.divmod(rows, num_steps)
        return places, episode * every * num_steps + step, cKDTree(places)

    @cached_property
    def _along(self) -> FloatArray:
        """[N, 2] unit direction of every row's own step."""
        ahead = moves_around(self.xy, 1).reshape(-1, 2)
        return np.asarray(ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9))

    def _abreast(self, row: int) -> tuple[float, float]:
        """The middle deviation of the recordings that pass a row the way it goes, measured across it, and how
        far the next of them is; infinite where they are too few."""
        places, rows, tree = self._lines
        near = np.array(tree.query_ball_point(self._places[row], 2.0 * self.step), dtype=np.int64)
        heading, offset = self._along[row], places[near] - self._places[row]
        is_beside = np.abs(offset @ heading) < self.step / 8
        is_beside &= (self._along[rows[near]] @ heading > 0.8) & (
            self._recording[rows[near]] != self._recording[row]
        )
        aside = np.abs(offset[is_beside] @ np.array([-heading[1], heading[0]]))
        signed = offset[is_beside] @ np.array([-heading[1], heading[0]])
        order = np.argsort(aside)
        _, first = np.unique(self._recording[rows[near[is_beside]]][order], return_index=True)
        if len(first) < LEAST_ABREAST:
            return np.inf, np.inf
        across = signed[order][first]
        return float(np.median(np.abs(across - np.median(across)))), float(np.abs(across).min())
