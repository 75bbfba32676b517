"""Whether trained models are good enough to plan with: figures, each good, fair or poor, and what to do."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading, write_text
from chronoforest.models.store import Stored, load_models
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import VERIFIED
from chronoforest.presets.named import Preset
from chronoforest.presets.roadmaps import kept_roadmap
from chronoforest.roadmap.verify import Checker, cut
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.types import FloatArray, Pair

FILE = "quality.json"
FORMAT = "chronoforest-quality/1"

NUM_PLACES = 40
"""Held-out places between which ways are asked for."""

NUM_PIECES = 48
"""Pieces of held-out recordings that the denoiser is asked about."""

LEAST_CONFIRMED = 0.5
"""Of held-out ways: a denoiser that confirms fewer is not asked about proposed ways, since its verdicts would
speak against itself."""

LEAST_BELIEVED = 0.97
"""Of held-out ways: a denoiser that confirms fewer is not believed where it refutes one. Proposed ways lead
where recordings went, so hardly one in fifty is none; one that refutes more than that of the ways that were
driven is more often wrong than right, and ways round what it refutes are longer for nothing."""

Grade = Literal["good", "fair", "poor"]
Subject = Literal["routes", "distances", "verification"]


class WeakModels(UserWarning):
    """Models were loaded that training had found too poor to plan with."""


@dataclass(frozen=True)
class Measure:
    """about: what of a plan it tells; meaning: the figure in words; good, fair: the bounds of these grades, a
    rising scale where good is the larger; advice: what to do where it is not good."""

    about: Subject
    meaning: str
    good: float
    fair: float
    advice: str
    is_share: bool = True


MORE = "record more where recordings are few (`chronoforest data inspect` shows where)"
LONGER = "train the denoiser longer (more --steps, no --quick)"

MEASURES: dict[str, Measure] = {
    "unseen_places": Measure("routes", "of held-out places nothing else was recorded near", 0.01, 0.05, MORE),
    "joined_places": Measure(
        "routes",
        "of the ways between held-out places were driven all along",
        0.95,
        0.7,
        "record ways between parts that nobody drove from one to the other",
    ),
    "distance_order": Measure(
        "distances",
        "rank correlation of the distance with held-out step counts",
        0.95,
        0.85,
        "train the distance longer (more --steps)",
        is_share=False,
    ),
    "learned_by_heart": Measure(
        "verification",
        "times the training loss is the denoiser's held-out loss",
        1.5,
        3.0,
        MORE,
        is_share=False,
    ),
    "unsupported_frames": Measure(
        "verification", "of generated frames lie where nothing was recorded", 0.02, 0.08, LONGER
    ),
    "torn_segments": Measure(
        "verification", "of generated segments jump where recordings do not", 0.1, 0.3, LONGER
    ),
    "confirmed_ways": Measure(
        "verification", "of held-out ways are confirmed by the denoiser", 0.95, 0.8, LONGER
    ),
}
"""What is measured, and what it means for plans."""


@dataclass(frozen=True)
class Mark:
    """A figure that was measured."""

    name: str
    value: float

    @property
    def about(self) -> Subject:
        """What of a plan it is about."""
        return MEASURES[self.name].about

    @property
    def grade(self) -> Grade:
        """Good, fair or poor; what is no number is poor."""
        good, fair = MEASURES[self.name].good, MEASURES[self.name].fair
        sign = 1.0 if good > fair else -1.0
        if sign * self.value >= sign * good:
            return "good"
        return "fair" if sign * self.value >= sign * fair else "poor"

    @property
    def advice(self) -> str:
        """What to do, "" where it is good."""
        return "" if self.grade == "good" else MEASURES[self.name].advice

    @property
    def figure(self) -> str:
        """The figure in words."""
        measure = MEASURES[self.name]
        number = f"{100 * self.value:.1f} %" if measure.is_share else f"{self.value:.2f}"
        return f"{number} {measure.meaning}"

    def __str__(self) -> str:
        return f"{self.grade}: {self.figure}{f'; {self.advice}' if self.advice else ''}"


def assess(preset: Preset, folder: Path, held_out: FloatArray, distance: str = "distance") -> list[Mark]:
    """Marks of the models in a folder, written beside them; held_out: [E, T, 2] recordings they never saw."""
    models = load_models(folder, preset.name, preset.sampler, tracker=None, distance=distance)
    roadmap = kept_roadmap(folder, preset.name)
    prepared = Planner(models, preset.planner, preset.name, roadmap=roadmap).prepared("verified")
    places = held_out.reshape(-1, held_out.shape[-1])
    places = places[prepared.models.density.margin(places) > 0]
    some = np.random.default_rng(0).permutation(len(places))[:NUM_PLACES]
    values = {
        **card_figures(folder, distance),
        "joined_places": joined_share(Joined.of(prepared.roadmap, places[some])),
        "confirmed_ways": confirmed_share(prepared.checker, held_out),
    }
    marks = [Mark(name, float(values[name])) for name in MEASURES]
    rows = [{**asdict(one), "grade": one.grade, "advice": one.advice} for one in marks]
    write_text(folder / FILE, json.dumps({"format": FORMAT, "marks": rows}, indent=1))
    return marks


def card_figures(folder: Path, distance: str = "distance") -> dict[str, float]:
    """What training itself has measured, from the cards."""
    files = {"density": "density", "distance": distance, "denoiser": "denoiser"}
    cards = {kind: Stored.read(folder, kind, file).card["figures"] for kind, file in files.items()}
    denoiser = cards["denoiser"]
    unsupported, torn = (
        max(denoiser[f"leaving_{name}_share"], denoiser[f"arriving_{name}_share"])
        for name in ("unsupported", "jump")
    )
    return {
        "unseen_places": cards["density"]["held_out_unsupported_share"],
        "distance_order": cards["distance"]["held_out_rank_correlation"],
        "unsupported_frames": unsupported,
        "learned_by_heart": denoiser["held_out_loss"] / max(denoiser["training_loss"], 1e-9),
        "torn_segments": torn - denoiser["recorded_jump_share"],
    }


def joined_share(joined: Joined) -> float:
    """Share of the ordered pairs of anchors that ways join, by recorded hops if there are any."""
    ways, pairs = Ways.of(joined), permutations(range(joined.num_anchors), 2)
    found = [ways.way(Pair(*pair)) for pair in pairs]
    from_models = not joined.roadmap.has_recorded_hops
    are_joined = [way is not None and (way.is_recorded or from_models) for way in found]
    return float(np.mean(are_joined)) if are_joined else 0.0


def confirmed_share(checker: Checker, recordings: FloatArray) -> float:
    """Share of the first pieces of recordings [E, T, d] that the denoiser realises in as many tries as a plan
    makes."""
    rng = np.random.default_rng(0)
    some = recordings[rng.permutation(len(recordings))[:NUM_PIECES]]
    pieces = [cut(path, checker.piece_length)[0] for path in some]
    found = checker.settled(pieces, VERIFIED.piece_samples, rng)
    return float(np.mean([piece.segment is not None for piece in found]))


def read_marks(folder: Path) -> list[Mark]:
    """The marks that lie beside weights; none where earlier versions wrote them."""
    path = folder / FILE
    if not path.is_file():
        return []
    with reading(path, "marks of models", BadCheckpoint):
        values = json.loads(path.read_text())
        if values["format"] != FORMAT:
            raise BadCheckpoint(f"its format is {values['format']!r}, expected {FORMAT!r}")
        return [Mark(one["name"], float(one["value"])) for one in values["marks"] if one["name"] in MEASURES]


def confirmed_ways(folder: Path) -> float:
    """Share of the held-out ways that the denoiser in a folder confirms; if unsure, all."""
    return next((one.value for one in read_marks(folder) if one.name == "confirmed_ways"), 1.0)


def verdicts(marks: Sequence[Mark]) -> list[Mark]:
    """The worst mark about each subject that any is about."""
    worst: dict[Subject, Mark] = {}
    for one in sorted(marks, key=lambda one: get_args(Grade).index(one.grade), reverse=True):
        worst.setdefault(one.about, one)
    return [worst[about] for about in get_args(Subject) if about in worst]


def warn_of_weak(folder: Path) -> None:
    """Warn, once, of what training had found poor, say what depends on it and what to do about it."""
    poor = [one for one in verdicts(read_marks(folder)) if one.grade == "poor"]
    words = [f"{one.about} may be poor: {one.figure}; {one.advice}" for one in poor]
    if confirmed_ways(folder) < LEAST_CONFIRMED:
        words.append("the denoiser is not asked and no way is verified, which changes no route")
    if poor:
        _warn(f"{folder}: {'. '.join(words)}")


@cache
def _warn(text: str) -> None:
    warnings.warn(text, WeakModels, stacklevel=4)
