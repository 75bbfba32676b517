"""The files of a preset's weights: what is written for each model, and how it is put together again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.frames import Frame
from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading, write_text
from chronoforest.models import checkpoint
from chronoforest.models.density import GridDensity
from chronoforest.models.params import SamplerParams
from chronoforest.types import Calibration, Support

if TYPE_CHECKING:
    import torch

    from chronoforest.models.distance import TemporalDistance
    from chronoforest.models.sampler import SegmentSampler
    from chronoforest.models.tracking import SubgoalTracker

KINDS = ("density", "distance", "denoiser", "tracker")
STUDENT = "student"
"""What a folder of weights holds, and what it may hold besides."""

Card = Mapping[str, Any]

_Module = TypeVar("_Module", bound="torch.nn.Module")


@dataclass(frozen=True)
class Models:
    """Everything the planner and the execution learned from the recordings; there is no tracker where no
    actions were recorded."""

    sampler: SegmentSampler
    distance: TemporalDistance
    calibration: Calibration
    density: GridDensity
    tracker: SubgoalTracker | None
    frame: Frame | None = None
    has_networks: ClassVar[bool] = True

    @property
    def support(self) -> Support:
        """The supported region, for pictures."""
        return Support(self.density.origin, self.density.cell, self.density.support)

    @property
    def step_length(self) -> float:
        """World units that hardly any recording exceeded in one step."""
        return self.density.step_length

    @property
    def gap(self) -> float:
        """World units that recordings lie apart where they are thin; 0 where that was not measured."""
        return self.density.gap


@dataclass(frozen=True)
class Untrained:
    """What is known of a world before any training: where recordings went."""

    density: GridDensity
    frame: Frame | None = None
    tracker: None = None
    has_networks: ClassVar[bool] = False
    support, step_length, gap = Models.support, Models.step_length, Models.gap

    @property
    def _network(self) -> Any:
        raise BadCheckpoint(
            "this world was learned without training, or its training has not ended: there is a roadmap and "
            "no network; `chronoforest learn --train` adds them"
        )

    sampler = distance = calibration = _network


def model_path(folder: Path, kind: str) -> Path:
    """Where a finished model lies."""
    return folder / f"{kind}.safetensors"


def distance_file(recipe: str) -> str:
    """Name of the file of a distance's recipe, without its ending; only our own has the plain one."""
    return "distance" if recipe == "own" else f"distance-{recipe}"


def tracker_file(name: str, default: str) -> str:
    """Name of a tracker's file without its ending; only the preset's own, the default, has the plain one."""
    return "tracker" if name == default else f"tracker-{name}"


def files_of(folder: Path, kind: str) -> list[str]:
    """Names of the files in a folder that hold a model of a kind, without their ending; its own first."""
    if not os.path.isdir(folder):
        return []
    return sorted(
        path.stem for path in folder.glob(f"{kind}*.safetensors") if ".training" not in path.suffixes
    )


@dataclass(frozen=True)
class Stored:
    """A model's file as it was read."""

    path: Path
    arrays: checkpoint.Arrays
    card: Card

    @classmethod
    def read(cls, folder: Path, kind: str, file: str = "", preset: str | None = None) -> Stored:
        """The file of a kind, by its name without the ending; checked to belong to the preset if one is
        named."""
        path = model_path(folder, file or kind)
        there = ", ".join(f"{name}.safetensors" for name in files_of(folder, kind))
        if there and not path.is_file():
            raise BadCheckpoint(
                f"no checkpoint at {path}; {folder} has {there}; `chronoforest train {kind}` trains others"
            )
        arrays, card = checkpoint.read_arrays(path, kind)
        if preset is not None and card.get("preset") != preset:
            raise BadCheckpoint(
                f"{path} was trained for {card.get('preset')!r}, not for {preset!r}; "
                f"train it with `chronoforest train all --preset {preset}`"
            )
        return cls(path, arrays, card)

    def filled(self, make: Callable[[Stored], _Module]) -> _Module:
        """The network that the card describes, with these weights; a card from another version, or a damaged
        one, is a bad checkpoint and not a programming error."""
        with reading(self.path, "a model that this version can build", BadCheckpoint):
            return checkpoint.filled(lambda: make(self), self.arrays)


def load_models(
    folder: Path,
    preset: str,
    sampler: SamplerParams,
    device: str = "cpu",
    tracker: str | None = "tracker",
    distance: str = "distance",
) -> Models | Untrained:
    """All models of a preset, each checked to belong to it; tracker, distance: their files without the
    ending, no tracker where that is None. A folder may have no student, and until its training has ended
    what needs no torch, a density and a roadmap of states, is all that counts."""
    density, frame = Stored.read(folder, "density", preset=preset), None
    if "frame" in density.card:
        with reading(density.path, "a model with a frame", BadCheckpoint):
            frame = Frame.from_dict(density.card["frame"])
    can_walk = tracker is not None and density.card.get("has_actions", True)
    networks = ("distance", "denoiser", "tracker") if can_walk else ("distance", "denoiser")
    if files_of(folder, "states") and not all(files_of(folder, kind) for kind in networks):
        return Untrained(_density(density), frame)
    from chronoforest.models.distance import load_distance
    from chronoforest.models.sampler import load_sampler
    from chronoforest.models.tracking import load_tracker
    from chronoforest.models.train import pick_device

    there = pick_device(device)
    measure, fitted = load_distance(folder, there, distance, preset)
    return Models(
        sampler=load_sampler(folder, preset, sampler, measure, there),
        distance=measure,
        calibration=fitted,
        density=_density(density),
        tracker=load_tracker(folder, tracker or "tracker", preset) if can_walk else None,
        frame=frame,
    )


def density_arrays(density: GridDensity) -> dict[str, NDArray[Any]]:
    """Tables in half precision and bits."""
    arrays = {
        "log_table": density.log_table.astype(np.float16),
        "support": density.support,
        "origin": density.origin,
        "cell": np.array(density.cell, dtype=np.float64),
        "step_length": np.array(density.step_length, dtype=np.float64),
    }
    if density.heading_bits is not None:
        arrays["heading_bits"] = density.heading_bits
    if density.gap:
        arrays["gap"] = np.array(density.gap, dtype=np.float64)
    return arrays


def load_density(folder: Path) -> GridDensity:
    """The density of a folder."""
    return _density(Stored.read(folder, "density"))


def _density(stored: Stored) -> GridDensity:
    arrays = stored.arrays
    with reading(stored.path, "a density", BadCheckpoint):
        return GridDensity(
            origin=arrays["origin"],
            cell=float(arrays["cell"]),
            log_table=arrays["log_table"].astype(np.float64),
            support=arrays["support"].astype(np.bool_),
            step_length=float(arrays["step_length"]),
            heading_bits=arrays.get("heading_bits"),
            gap=float(arrays["gap"]) if "gap" in arrays else 0.0,
        )


def write_card(folder: Path) -> Path:
    """Write CARD.md from the metadata of the models that are there."""
    kinds = (*KINDS, STUDENT)
    cards = {file: Stored.read(folder, kind, file).card for kind in kinds for file in files_of(folder, kind)}
    preset = next(iter(cards.values()))["preset"]
    path = folder / "CARD.md"
    write_text(path, "\n".join([f"# {preset}", *(_section(file, card) for file, card in cards.items())]))
    return path


def _section(file: str, card: Mapping[str, Any]) -> str:
    """One model: its command, seed, data, time and figures."""
    training, origin = card.get("training") or {}, card.get("started_from")
    figures = ", ".join(f"{name} {value:.4g}" for name, value in card["figures"].items())
    started = f"weights of `{origin['command']}`" if origin else "random weights"
    rows = {
        "command": f"`{card['command']}`",
        "started from": "the denoiser, its teacher" if "teacher" in card else started,
        "seed": training.get("seed", "none needed"),
        "data": f"training {card['data']}, held out {card['held_out_data']}",
        "time": f"{card['seconds']} s on {card['device']}",
        "figures": figures,
    } | ({"rounded": card["rounded"]} if "rounded" in card else {})
    return "\n".join(["", f"## {file}", "", *facts_table(rows), ""])


def facts_table(rows: Mapping[str, Any]) -> list[str]:
    """Lines of a table in Markdown, a fact in each row."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]
