"""A preset for recordings nobody has seen before: every value from statistics, each with its reason.

The factors are those of the mazes that the package ships, so that for their recordings the proposal comes out
close to the shipped presets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chronoforest.data.episodes import Episodes
from chronoforest.data.frames import Frame
from chronoforest.models.params import FRAMES_PER_TOKEN
from chronoforest.presets.files import Setting, Value
from chronoforest.presets.statistics import Statistics, Ways
from chronoforest.search.junction import EXEC_SCALE

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


def propose(episodes: Episodes, data: str, ways: Ways | None = None) -> list[Setting]:
    """Every setting of a preset for these recordings; data: the path the file will name; ways: what they need
    not show."""
    found = Statistics(episodes, ways or Ways())
    return [
        Setting("data", data, "the recordings; relative to this file"),
        *_frame_settings(episodes.frame),
        *(Setting(name, _tidy(name, value), reason) for part in PARTS for name, value, reason in part(found)),
    ]


def _frame_settings(frame: Frame) -> Iterator[Setting]:
    """Written to the last digit: weights are refused in another frame."""
    if frame == Frame():
        return
    yield Setting("frame.kind", frame.kind, "the user's coordinates; degrees are longitude and latitude")
    yield Setting("frame.origin", frame.origin, "what is (0, 0) in the plane")
    yield Setting("frame.step_seconds", frame.step_seconds, "of a recorded step; 0 without a clock")


def _world_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    jump = found.episodes.jump
    yield "world.is_reversible", found.is_reversible, _direction_reason(found)
    yield "world.is_one_way", found.is_one_way, "whether going back over a way is a detour"
    if found.ways.turn_round:
        yield "world.turn_round", True, "stops may be left in any direction, as was said"
    yield "world.jump", jump, f"5 × the 99 % quantile of steps, {jump / 5:.3g}"


def _window_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    num_rows = found.episodes.num_steps
    yield (
        "models.window.stride",
        found.stride,
        f"episodes of {num_rows} rows: at most {found.num_frames} frames",
    )
    yield "models.window.horizon", found.horizon, f"frames in an episode, whole tokens of {FRAMES_PER_TOKEN}"


def _distance_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    is_moving, backup, far = found.has_moves_for_actions, found.backup, found.far
    why = "no jumps" if found.episodes.has_actions else "no actions were recorded"
    moves = f"{why}: what was moved stands in for the action" if is_moving else "jumps: luck is no choice"
    yield "models.distance.has_action_values", found.has_luck, _luck_reason(found)
    yield "models.distance.expectile", 0.9 if found.is_one_way else 0.95, "few choices where one-way"
    yield "models.distance.has_moves_for_actions", is_moving, moves
    yield (
        "models.distance.backup",
        backup,
        f"far in about {found.num_backups} backups, at most half a recording",
    )
    yield "models.distance.discount", 1 - backup / far, f"1 − {backup}/{far:.0f}: {far:.0f} steps are far"
    yield "models.distance.reach", 4 * far, "4 × far, in steps"
    yield "models.distance.shortest_period", 7.5 * found.room, f"7.5 × the room of {found.room:.3g}"
    yield "models.distance.longest_period", found.diagonal, "the diagonal of the world"


def _density_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    why = f"the larger of 0.75 steps and 1.5 × the {found.gap:.2g} to the next recording"
    if found.bandwidth < found.blur:
        why = f"recordings of one way lie within {found.space.width:.2g} of each other"
    yield "models.density.bandwidth", found.bandwidth, why


def _tracker_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    if not found.episodes.has_actions:
        return
    yield "models.tracker.radius", 2.5 * found.step, "2.5 steps"
    yield "models.tracker.largest_subgoal", 20 * found.step, "20 steps"


def _continuity(found: Statistics) -> tuple[float, str]:
    """Where one-way, what the distance states of neighbours varies with their headings, and a way back is so
    long that a larger bound tells it as well."""
    if found.is_one_way:
        return EXEC_SCALE * found.far / 4, "one-way: as far as the distance is taken at its word"
    return EXEC_SCALE * 4 * found.stride, "4 frames"


def _search_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    step, room, span = found.step, found.room, found.span
    push = 1.35 * found.reach
    why = f"0.17 × the {found.reach:.3g} that a segment covers"
    yield "sampler.guidance.rdf_radius", 0.17 * found.reach, why
    tolerance = max(0.45 * room, 0.75 * step)
    yield "planner.anchor_tolerance", tolerance, "the larger of 0.45 × the room and 0.75 steps"
    if not found.is_reversible:
        yield (
            "planner.challenge.doubt",
            1.2,
            "no way back: a longer bridge is more often no detour",
        )
        yield "planner.challenge.optimism", 0.75, "and a link more often shorter than it looks"
    if found.is_one_way:
        yield "planner.challenge.max_doubts", 1, "one-way: what looks like a detour mostly is the way"
        yield "planner.challenge.max_challenges", 3, "so a complete route is challenged less"
    yield "planner.search.meeting_radius", EXEC_SCALE * 1.2 * found.stride, "1.2 frames, in d_exec = 0.2 d"
    yield "planner.search.uncertainty_weight", 10.0 if found.has_luck else 0.1, _luck_reason(found)
    yield "planner.search.junction.scales", (push, 0.0), "1.35 × what a segment covers, and unguided"
    yield "planner.search.junction.progress", EXEC_SCALE * 0.1 * span, "a tenth of a segment"
    yield "planner.search.junction.continuity", *_continuity(found)
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


def _walking_settings(found: Statistics) -> Iterator[tuple[str, Value, str]]:
    for name, num_steps in (("look_ahead", 7.0), ("window", 15.0), ("visit_radius", 2.5), ("drift", 10.0)):
        yield f"execution.{name}", num_steps * found.step, f"{num_steps:g} steps"
    yield "execution.stuck_steps", max(1, round(0.25 * found.span)), "a quarter of a segment"
    yield "execution.least_progress", 2.5 * found.step, "2.5 steps"


PARTS: tuple[Callable[[Statistics], Iterator[tuple[str, Value, str]]], ...] = (
    _world_settings,
    _window_settings,
    _distance_settings,
    _density_settings,
    _tracker_settings,
    _search_settings,
    _walking_settings,
)
"""In the order of the file."""


def _luck_reason(found: Statistics) -> str:
    return (
        f"{100 * found.jumping.mean():.1f} % of the episodes jump: {'luck' if found.has_luck else 'no luck'}"
    )


def _direction_reason(found: Statistics) -> str:
    if found.is_one_way:
        return "places that several recordings pass mostly show one direction"
    return "places that several recordings pass mostly show both directions"


def _tidy(name: str, value: Value) -> Value:
    """Four digits are enough for a person; a discount needs more, being close to 1."""
    if isinstance(value, tuple):
        return tuple(float(f"{item:.4g}") for item in value)
    if isinstance(value, float):
        return float(f"{value:.6g}" if name.endswith("discount") else f"{value:.4g}")
    return value
