"""What a proposal is derived from: measures of recordings, each taken once.

Five of them carry all the others: how far a step goes, how long recordings are, how wide the world is, how
far apart recordings of one way lie, and how much room there is beside the ways that were taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from chronoforest.data.episodes import Episodes
from chronoforest.data.reach import gaps
from chronoforest.errors import BadDataset
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.models.params import FRAMES_PER_TOKEN
from chronoforest.roadmap.states import StateParams, StateSpace, find_space, tracks_of
from chronoforest.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Ways:
    """What is said of the ways of a world, where recordings do not show it: both_ways: whether any may be
    taken back, found where None; turn_round: stops may be left in any direction."""

    both_ways: bool | None = None
    turn_round: bool = False


@dataclass(frozen=True)
class Statistics:
    """Measures of episodes.

    num_frames: of a segment at most, as in the mazes; num_backups: of the distance, to what is far;
    most_apart: steps between recordings that still blend, since what lies between recordings farther apart
    was never recorded; deviations: standard deviations in the width of a way; inside: share of the rows,
    along each axis, that the size of the world is measured on, so that a trip to another town is none of it;
    ways: what recordings need not show.
    """

    episodes: Episodes
    ways: Ways = field(default_factory=Ways)
    num_frames: int = 40
    num_backups: int = 30
    most_apart: float = 2.0
    deviations: float = 4.0
    inside: float = 0.9

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
        """Of the box that the world would fill if its rows were spread evenly over it."""
        edges = 0.5 - 0.5 * self.inside, 0.5 + 0.5 * self.inside
        low, high = np.quantile(self.xy.reshape(-1, 2), edges, axis=0)
        return float(np.linalg.norm(high - low)) / self.inside

    @property
    def stride(self) -> int:
        """Steps per frame, so that an episode has at most `num_frames` frames."""
        return max(1, math.ceil((self.episodes.num_steps - 1) / self.num_frames))

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
    def space(self) -> StateSpace:
        """How far recordings of one way lie apart, and whether ways have directions: from what passes a
        place."""
        return find_space(tracks_of(self.episodes), StateParams(), self.ways.both_ways)

    @cached_property
    def gap(self) -> float:
        """Distance to another recording that ninety-nine of a hundred places keep, at most `most_apart`
        steps."""
        usual = float(np.quantile(gaps(self.xy, self.episodes.recording), 0.99))
        return min(usual, self.most_apart * self.step)

    @property
    def blur(self) -> float:
        """Kernel over which neighbouring rows and neighbouring recordings blend."""
        return max(0.75 * self.step, 1.5 * self.gap)

    @property
    def has_streets(self) -> bool:
        """Whether recordings lie on lines, much closer to each other than one row to the next."""
        return self.space.width < 0.5 * self.step

    @cached_property
    def bandwidth(self) -> float:
        """Kernel of the density: what makes rows and recordings blend, but no wider than recordings spread
        across lanes and streets."""
        spread = self.space.width / self.deviations
        if self.is_one_way:
            return min(self.blur, spread)
        return min(self.blur, max(spread, self.gap)) if self.has_streets else self.blur

    @cached_property
    def room(self) -> float:
        """Distance to the edge of the support that three quarters of all places keep."""
        # Without directions there are no lanes, and their room would be that of a whole street.
        num_steps = self.stride if self.is_one_way else 0
        density = fit_density(self.xy, DensityParams(self.bandwidth), self.episodes.jump, num_steps)
        places = self.xy.reshape(-1, 2)
        margin = density.margin(places[:: max(1, len(places) // 50_000)])
        return max(float(np.quantile(margin, 0.25)), self.bandwidth / 3)

    @property
    def is_one_way(self) -> bool:
        """Whether ways have directions, so that going back over one is a detour."""
        return self.space.angle is not None

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
        """Steps per backup of the distance, at most half a recording; a recorded action says nothing about
        more than its own step."""
        if not self.has_moves_for_actions:
            return 1
        return max(1, min(round(self.far / self.num_backups), self.episodes.num_steps // 2))
