"""A preset for recordings nobody has seen before: every value from statistics, each with its reason.

Four measures of the recordings carry all of them: how far a step goes, how long recordings are, how wide the
world is, and how much room there is beside the ways that were taken. The factors are those of the mazes that
the package ships, so that for their recordings the proposal comes out close to the shipped presets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.data.episodes import Episodes
from chronoforest.errors import BadDataset
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.presets.files import Setting, Value
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_FRAMES = 40  # of a segment, as in the mazes
FRAMES_PER_TOKEN = 10
EXEC_SCALE = 0.2  # d_exec per step
NUM_BACKUPS = 30  # of the distance, to what is far
NUM_PROBES = 2000  # places at which neighbours are looked for
ONE_WAY_SHARE = 0.15  # of the places that can be judged
LEAST_EVIDENCE = 8  # recordings that pass a place one way before none the other way means anything
LEAST_JUDGED = 0.2  # of the probes


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
        is_moving = (lengths > 0.1 * np.quantile(lengths, 0.9)) & (lengths <= self.jump)
        if not is_moving.any():
            raise BadDataset("the recordings hardly move; a preset needs motion")
        return float(np.median(lengths[is_moving]))

    @property
    def jump(self) -> float:
        """Length beyond which a step is a jump."""
        return self.episodes.jump

    @cached_property
    def jump_share(self) -> float:
        """Share of episodes that jump."""
        return float((self.episodes.step_lengths > self.jump).any(axis=1).mean())

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
        walks = self.xy[~(self.episodes.step_lengths > self.jump).any(axis=1)]
        walks = walks if len(walks) else self.xy
        return float(np.median(np.linalg.norm(walks[:, self.span] - walks[:, 0], axis=-1)))

    @cached_property
    def spacing(self) -> float:
        """How far nine hundred and ninety of a thousand places are, at most, from another recording."""
        probes = self._probes(np.ones(len(self._places), dtype=bool))
        gaps, rows = self._tree.query(self._places[probes], k=min(400, len(self._places)))
        is_other = self._recording[rows] != self._recording[probes][:, None]
        nearest = np.where(is_other, gaps, np.inf).min(axis=1)
        return float(np.quantile(np.where(np.isfinite(nearest), nearest, gaps[:, -1]), 0.99))

    @property
    def bandwidth(self) -> float:
        """Of the density: neighbouring rows and neighbouring recordings must blend, on a table that fits."""
        return max(0.75 * self.step, 1.5 * self.spacing, self.diagonal / 1000)

    @cached_property
    def room(self) -> float:
        """Distance to the edge of the support that three quarters of all places keep."""
        params = DensityParams(bandwidth=self.bandwidth, cell=self.bandwidth / 3, jump=self.jump)
        margin = fit_density(self.xy, params).margin(self._places[:: max(1, len(self._places) // 50_000)])
        return max(float(np.quantile(margin, 0.25)), self.bandwidth / 3)

    @cached_property
    def one_way(self) -> tuple[float, float]:
        """Share of places passed in one direction only, and the share of places that can be judged.

        A place is judged where at least `LEAST_EVIDENCE` passages by other recordings go one way.
        """
        heading, is_usable = self._headings
        found = [self._passages(row, heading, is_usable) for row in self._probes(is_usable)]
        counts = np.array(found).reshape(-1, 2)
        is_judged = counts[:, 0] >= LEAST_EVIDENCE
        if not is_judged.any():
            return 0.0, 0.0
        return float((counts[is_judged, 1] == 0).mean()), float(is_judged.mean())

    @property
    def is_one_way(self) -> bool:
        """Whether going back over a way is a detour; if unsure, it is."""
        one_way, judged = self.one_way
        return one_way >= ONE_WAY_SHARE or judged < LEAST_JUDGED

    @property
    def has_luck(self) -> bool:
        """Whether recordings jump."""
        return self.jump_share >= 0.01

    @property
    def is_reversible(self) -> bool:
        """Whether any recorded motion could have been made backward."""
        return not (self.is_one_way or self.has_luck)

    @property
    def far(self) -> float:
        """Steps that count as far: about half of what crossing the world takes, all of it where one-way."""
        return 0.6 * self.diagonal / self.step * (2.0 if self.is_one_way else 1.0)

    @property
    def num_actions(self) -> int:
        """Numbers per recorded action."""
        return int(self.episodes.actions.shape[2])

    @property
    def acts_by_moving(self) -> bool:
        """Whether what was moved may stand in for the action: always, except where jumps make it luck."""
        return not (self.has_luck and self.episodes.has_actions)

    @property
    def backup(self) -> int:
        """Steps per backup of the distance; a recorded action says nothing about more than its own step."""
        return max(1, round(self.far / NUM_BACKUPS)) if self.acts_by_moving else 1

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
        near: IntArray = np.array(self._tree.query_ball_point(self._places[row], 2.0 * self.bandwidth))
        near = near[is_usable[near] & (self._recording[near] != self._recording[row])]
        agreement = heading[near] @ heading[row]
        same, against = (self._recording[near[mask]] for mask in (agreement > 0.5, agreement < -0.5))
        return len(np.unique(same)), len(np.unique(against))


def propose(episodes: Episodes, data: str) -> list[Setting]:
    """Every setting of a preset for these recordings; `data` is the path the file will name."""
    found = Statistics(episodes)
    return [
        Setting("data", data, "the recordings; relative to this file"),
        *(Setting(name, _tidy(name, value), reason) for name, value, reason in _settings(found)),
    ]


def _settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    for part in (
        _window_settings,
        _distance_settings,
        _density_settings,
        _tracker_settings,
        _search_settings,
        _walking_settings,
    ):
        yield from part(found)


def _window_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    num_rows = found.episodes.num_steps
    yield "models.window.stride", found.stride, f"episodes of {num_rows} rows: at most {NUM_FRAMES} frames"
    yield "models.window.horizon", found.horizon, f"frames in an episode, whole tokens of {FRAMES_PER_TOKEN}"
    yield "models.window.max_late", round(0.4 * found.span), f"0.4 of a segment of {found.span} steps"
    if not found.is_reversible:
        yield (
            "models.level_mix.independent",
            0.2,
            "directed: trees that arrive grow as often as those that leave",
        )
        yield "models.level_mix.leaving", 0.35, "so as many windows are learned that leave"
        yield "models.level_mix.arriving", 0.35, "as windows that arrive"


def _distance_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    is_moving, backup, far = found.acts_by_moving, found.backup, found.far
    why = "no jumps" if found.episodes.has_actions else "no actions were recorded"
    moves = f"{why}: what was moved stands in for the action" if is_moving else "jumps: luck is no choice"
    yield "models.distance.is_directed", not found.is_reversible, _direction_reason(found)
    yield "models.distance.averages_luck", found.has_luck, _luck_reason(found)
    yield "models.distance.expectile", 0.9 if found.is_one_way else 0.95, "few choices where one-way"
    yield "models.distance.acts_by_moving", is_moving, moves
    yield "models.distance.action_dim", 2 if is_moving else found.num_actions, "numbers per action"
    yield "models.distance.move_unit", backup * found.step, f"{backup} steps of {found.step:.3g}"
    yield "models.distance.backup", backup, f"far in about {NUM_BACKUPS} backups"
    yield "models.distance.discount", 1 - backup / far, f"1 − {backup}/{far:.0f}: {far:.0f} steps are far"
    yield "models.distance.reach", 4 * far, "4 × far, in steps"
    yield "models.distance.shortest_period", 7.5 * found.room, f"7.5 × the room of {found.room:.3g}"
    yield "models.distance.longest_period", found.diagonal, "the diagonal of the world"
    yield "models.goals.discount", 1 - 2 * backup / far, "goals half as far ahead, on average"
    if not found.is_reversible:
        past = 0.2 if found.is_one_way else 0.0
        yield "models.goals.future_share", 0.55 - past, "directed: a little less, to make place for"
        yield "models.goals.current_share", 0.1, "goals that are reached, where a directed distance learns 0"
        yield "models.goals.past_share", past, "goals that were just passed, which are far where one-way"
    yield "models.calibration.local_window", far / 4, "far / 4, in steps"
    yield "models.calibration.arrival_radius", 5 * found.step, f"5 steps of {found.step:.3g}"
    yield "models.calibration.jump", found.jump, f"5 × the 99 % quantile of steps, {found.jump / 5:.3g}"


def _density_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    why = f"the larger of 0.75 steps and 1.5 × the {found.spacing:.2g} to the next recording"
    yield "models.density.bandwidth", found.bandwidth, why
    yield "models.density.cell", found.bandwidth / 3, "bandwidth / 3"
    yield "models.density.jump", found.jump, "as above"
    yield "models.density.hazard_radius", 2.5 * found.step, "2.5 steps"
    if found.is_one_way:
        yield "models.density.num_headings", 8, "one-way: directions of motion are tabulated too"
        yield "models.density.heading_steps", found.stride, "over one frame"


def _tracker_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    if not found.episodes.has_actions:
        return
    num_observed = found.episodes.observations.shape[2]
    yield "models.tracker.observation_dim", num_observed, "numbers per observation"
    yield "models.tracker.action_dim", found.num_actions, "numbers per action"
    yield "models.tracker.nearest", found.stride, "one frame ahead"
    yield "models.tracker.farthest", 6 * found.stride, "6 frames ahead"
    yield "models.tracker.radius", 2.5 * found.step, "2.5 steps"
    yield "models.tracker.largest_subgoal", 20 * found.step, "20 steps"


def _search_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    step, room, span = found.step, found.room, found.span
    radius = 0.17 * found.reach
    push = 1.35 * found.reach
    yield "sampler.guidance.reliable", found.far, "far, in steps"
    yield "sampler.guidance.rdf_radius", radius, f"0.17 × the {found.reach:.3g} that a segment covers"
    yield "sampler.guidance.rdf_weight", (radius / 2) ** 3, "keeps its effect in proportion to the radius"
    yield "sampler.guidance.softness", 0.5 * step, "half a step"
    yield "planner.is_reversible", found.is_reversible, _direction_reason(found)
    yield "planner.stride", found.stride, "as in models.window"
    yield "planner.anchor_tolerance", 0.45 * room, "0.45 × the room"
    if not found.is_reversible:
        yield "planner.landmark_spacing", 0.0, "far distances over landmarks are for ways that lead back"
        yield "planner.challenge.doubt", 1.2, "without landmarks a longer bridge is more often no detour"
        yield "planner.challenge.optimism", 0.75, "and a link more often shorter than it looks"
    if found.is_one_way:
        yield "planner.challenge.max_doubts", 1, "one-way: what looks like a detour mostly is the way"
        yield "planner.challenge.max_challenges", 3, "so a complete route is challenged less"
    yield "planner.search.meeting_radius", EXEC_SCALE * 1.2 * found.stride, "1.2 frames, in d_exec = 0.2 d"
    yield "planner.search.uncertainty_weight", 10.0 if found.has_luck else 0.1, _luck_reason(found)
    yield "planner.search.junction.scales", (push, 0.0), "1.35 × what a segment covers, and unguided"
    yield "planner.search.junction.progress", EXEC_SCALE * 0.1 * span, "a tenth of a segment"
    yield "planner.search.junction.overlap", EXEC_SCALE * 0.1 * span, "a tenth of a segment"
    yield "planner.search.junction.continuity", EXEC_SCALE * 4 * found.stride, "4 frames"
    yield "planner.search.junction.is_one_way", found.is_one_way, "whether ways lead back"
    yield "planner.search.junction.cluster_cut", 0.15 * span, "0.15 segments, in steps"
    yield "planner.search.junction.slip", 0.045 * room, "0.045 × the room"
    yield "planner.budget.certified_gap", 0.15 * span, "0.15 segments, in steps"
    yield (
        "planner.assembly.spacing",
        min(1.25 * step, 0.5 * room),
        "the smaller of 1.25 steps and half the room",
    )
    yield "planner.assembly.keep_margin", room, "the room that three quarters of all places keep"
    yield "planner.assembly.edge", 0.18 * room, "0.18 × the room"
    yield "planner.assembly.longest_cut", push, "1.35 × what a segment covers"
    turn = 45.0 if found.is_one_way else 180.0
    yield "planner.assembly.largest_turn", turn, "no cut against a one-way lane"
    yield "planner.assembly.tube_width", 1.1 * room, "1.1 × the room"
    yield "planner.assembly.tube_step", 0.09 * room, "0.09 × the room"
    yield "planner.assembly.timing_hop", 20 * step, "20 steps"


def _walking_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    for name, num_steps in (("look_ahead", 7.0), ("window", 15.0), ("visit_radius", 2.5), ("drift", 10.0)):
        yield f"execution.{name}", num_steps * found.step, f"{num_steps:g} steps"
    yield "execution.stuck_steps", max(1, round(0.25 * found.span)), "a quarter of a segment"
    yield "execution.least_progress", 2.5 * found.step, "2.5 steps"
    yield "execution.jump", found.jump, "as above"


def _luck_reason(found: Statistics) -> str:
    return f"{100 * found.jump_share:.1f} % of the episodes jump: {'luck' if found.has_luck else 'no luck'}"


def _direction_reason(found: Statistics) -> str:
    one_way, judged = found.one_way
    if judged < LEAST_JUDGED:
        return f"only {100 * judged:.0f} % of the places were passed often enough to tell: to be safe"
    return f"{100 * one_way:.0f} % of the places are passed in one direction only"


def _tidy(name: str, value: Value) -> Value:
    """Four digits are enough for a person; a discount needs more, being close to 1."""
    if isinstance(value, tuple):
        return tuple(float(f"{item:.4g}") for item in value)
    if isinstance(value, float):
        return float(f"{value:.6g}" if name.endswith("discount") else f"{value:.4g}")
    return value
