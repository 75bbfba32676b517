"""A preset for recordings nobody has seen before: every value from statistics, each with its reason.

The factors are those of the mazes that the package ships, so that for their recordings the proposal comes
out close to the shipped presets. Five measures carry all the others: how far a step goes, how long recordings
are, how wide the world is, how far apart recordings of one way lie, and how much room is beside the ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from chronoforest.data.episodes import Episodes, gaps
from chronoforest.data.frames import Frame
from chronoforest.data.tracks import are_moves
from chronoforest.errors import BadDataset
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.models.params import FRAMES_PER_TOKEN
from chronoforest.presets.named import Setting, Value
from chronoforest.roadmap.states import StateParams, StateSpace, find_space, tracks_of
from chronoforest.search.junction import EXEC_SCALE
from chronoforest.types import BoolArray, FloatArray

Proposed = Iterator[tuple[str, Value, str]]
"""Names, values and reasons."""


PLAIN = {
    "world.is_one_way": "whether ways may be taken in one direction only",
    "world.jump": "a longer step is a jump, not a way",
    "models.density.bandwidth": "how far beside a recording its way reaches",
    "planner.anchor_tolerance": "how far beside the ways a stop may lie",
    "planner.assembly.keep_margin": "room that plans keep to the edge of the ways",
    "planner.assembly.spacing": "how far apart the points of a plan lie, at most",
    "execution.look_ahead": "how far ahead of itself a walker aims",
    "execution.drift": "how far a walker may stray before it plans anew",
}
"""What a person may want to change, in plain words."""


def head(command: str, name: str) -> list[str]:
    """The first lines of a preset's file."""
    return [
        f"Preset {name}: proposed by `chronoforest {command}`; every value may be changed.",
        "Lengths are in units of the coordinates, durations in steps. What is not here is as in the mazes.",
        "What you may want to change:",
        *(f"  {setting}: {words}" for setting, words in PLAIN.items()),
    ]


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
    most_apart: steps between recordings that still blend: what lies between others was never recorded;
    deviations: standard deviations in the width of a way; inside: share of the rows, along each axis, that
    the size of the world is measured on, so that a trip to another town is none of it.
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
        is_moving = are_moves(lengths) & (lengths <= self.episodes.jump)
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

    @cached_property
    def bandwidth(self) -> float:
        """Kernel of the density: what makes rows and recordings blend, but no wider than recordings spread
        across lanes and streets."""
        spread = self.space.width / self.deviations
        if self.is_one_way:
            return min(self.blur, spread)
        has_streets = self.space.width < 0.5 * self.step  # lines, closer to each other than two rows
        return min(self.blur, max(spread, self.gap)) if has_streets else self.blur

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
    def luck(self) -> str:
        """Whether jumps are luck, in words."""
        share = f"{100 * self.jumping.mean():.1f} % of the episodes jump"
        return f"{share}: {'luck' if self.has_luck else 'no luck'}"

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


def propose(episodes: Episodes, data: str, ways: Ways | None = None) -> list[Setting]:
    """Every setting of a preset for these recordings; data: the path the file will name; ways: what they need
    not show."""
    found = Statistics(episodes, ways or Ways())
    settings = (*_world(found), *_models(found), *_planner(found), *_execution(found))
    return [
        Setting("data", data, "the recordings; relative to this file"),
        *_frame(episodes.frame),
        *(Setting(name, _tidy(name, value), reason) for name, value, reason in settings),
    ]


def _frame(frame: Frame) -> Iterator[Setting]:
    """Written to the last digit: weights are refused in another frame."""
    if frame == Frame():
        return
    yield Setting("frame.kind", frame.kind, "the user's coordinates; degrees are longitude and latitude")
    yield Setting("frame.origin", frame.origin, "what is (0, 0) in the plane")
    yield Setting("frame.step_seconds", frame.step_seconds, "of a recorded step; 0 without a clock")


def _world(found: Statistics) -> Proposed:
    jump, shown = found.episodes.jump, "one direction" if found.is_one_way else "both directions"
    reason = f"places that several recordings pass mostly show {shown}"
    yield "world.is_reversible", found.is_reversible, reason
    yield "world.is_one_way", found.is_one_way, "whether going back over a way is a detour"
    if found.ways.turn_round:
        yield "world.turn_round", True, "stops may be left in any direction, as was said"
    yield "world.jump", jump, f"5 × the 99 % quantile of steps, {jump / 5:.3g}"


def _models(found: Statistics) -> Proposed:
    episodes, far, backup = found.episodes, found.far, found.backup
    why = f"episodes of {episodes.num_steps} rows: at most {found.num_frames} frames"
    yield "models.window.stride", found.stride, why
    yield "models.window.horizon", found.horizon, f"frames in an episode, whole tokens of {FRAMES_PER_TOKEN}"
    yield "models.distance.has_action_values", found.has_luck, found.luck
    yield "models.distance.expectile", 0.9 if found.is_one_way else 0.95, "few choices where one-way"
    why = "jumps: luck is no choice"
    if found.has_moves_for_actions:
        why = "no jumps" if episodes.has_actions else "no actions were recorded"
        why += ": what was moved stands in for the action"
    yield "models.distance.has_moves_for_actions", found.has_moves_for_actions, why
    why = f"far in about {found.num_backups} backups, at most half a recording"
    yield "models.distance.backup", backup, why
    yield "models.distance.discount", 1 - backup / far, f"1 − {backup}/{far:.0f}: {far:.0f} steps are far"
    yield "models.distance.reach", 4 * far, "4 × far, in steps"
    yield "models.distance.shortest_period", 7.5 * found.room, f"7.5 × the room of {found.room:.3g}"
    yield "models.distance.longest_period", found.diagonal, "the diagonal of the world"
    why = f"the larger of 0.75 steps and 1.5 × the {found.gap:.2g} to the next recording"
    if found.bandwidth < found.blur:
        why = f"recordings of one way lie within {found.space.width:.2g} of each other"
    yield "models.density.bandwidth", found.bandwidth, why
    if episodes.has_actions:
        yield "models.tracker.radius", 2.5 * found.step, "2.5 steps"
        yield "models.tracker.largest_subgoal", 20 * found.step, "20 steps"


def _planner(found: Statistics) -> Proposed:
    step, room, span, push = found.step, found.room, found.span, 1.35 * found.reach
    why = f"0.17 × the {found.reach:.3g} that a segment covers"
    yield "sampler.guidance.rdf_radius", 0.17 * found.reach, why
    tolerance = max(0.45 * room, 0.75 * step)
    yield "planner.anchor_tolerance", tolerance, "the larger of 0.45 × the room and 0.75 steps"
    if not found.is_reversible:
        yield "planner.challenge.doubt", 1.2, "no way back: a longer bridge is more often no detour"
        yield "planner.challenge.optimism", 0.75, "and a link more often shorter than it looks"
    # Where one-way, what the distance states of neighbours varies with their headings, and a way back is so
    # long that a larger bound tells it as well.
    continuity, why = EXEC_SCALE * 4 * found.stride, "4 frames"
    if found.is_one_way:
        yield "planner.challenge.max_doubts", 1, "one-way: what looks like a detour mostly is the way"
        yield "planner.challenge.max_challenges", 3, "so a complete route is challenged less"
        continuity, why = EXEC_SCALE * found.far / 4, "one-way: as far as the distance is taken at its word"
    yield "planner.search.meeting_radius", EXEC_SCALE * 1.2 * found.stride, "1.2 frames, in d_exec = 0.2 d"
    yield "planner.search.uncertainty_weight", 10.0 if found.has_luck else 0.1, found.luck
    yield "planner.search.junction.scales", (push, 0.0), "1.35 × what a segment covers, and unguided"
    yield "planner.search.junction.progress", EXEC_SCALE * 0.1 * span, "a tenth of a segment"
    yield "planner.search.junction.continuity", continuity, why
    yield "planner.search.junction.cluster_cut", 0.15 * span, "0.15 segments, in steps"
    yield "planner.search.junction.slip", 0.045 * room, "0.045 × the room"
    yield "planner.budget.certified_gap", 0.15 * span, "0.15 segments, in steps"
    spacing = min(1.25 * step, 0.5 * room)
    yield "planner.assembly.spacing", spacing, "the smaller of 1.25 steps and half the room"
    yield "planner.assembly.keep_margin", room, "the room that three quarters of all places keep"
    yield "planner.assembly.edge", 0.18 * room, "0.18 × the room"
    longest = min(push, 20 * room)
    yield "planner.assembly.longest_cut", longest, "1.35 × what a segment covers, at most 20 × the room"
    yield "planner.assembly.tube_width", 1.1 * room, "1.1 × the room"
    yield "planner.assembly.tube_step", 0.09 * room, "0.09 × the room"
    yield "planner.assembly.timing_hop", 20 * step, "20 steps"


def _execution(found: Statistics) -> Proposed:
    for name, num_steps in (("look_ahead", 7.0), ("window", 15.0), ("visit_radius", 2.5), ("drift", 10.0)):
        yield f"execution.{name}", num_steps * found.step, f"{num_steps:g} steps"
    yield "execution.stuck_steps", max(1, round(0.25 * found.span)), "a quarter of a segment"
    yield "execution.least_progress", 2.5 * found.step, "2.5 steps"


def _tidy(name: str, value: Value) -> Value:
    """Four digits are enough for a person; a discount needs more, being close to 1."""
    if isinstance(value, tuple):
        return tuple(float(f"{item:.4g}") for item in value)
    if isinstance(value, float):
        return float(f"{value:.6g}" if name.endswith("discount") else f"{value:.4g}")
    return value
