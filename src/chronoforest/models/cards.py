"""The card of a weights folder: what made each model, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chronoforest.files import write_text
from chronoforest.models import checkpoint
from chronoforest.models.store import KINDS, files_of, model_path

CARD = "CARD.md"


def write_card(folder: Path) -> Path:
    """Write CARD.md from the metadata of the models that are there."""
    files = {file: kind for kind in KINDS for file in files_of(folder, kind)}
    cards = {file: checkpoint.read(model_path(folder, file), kind)[1] for file, kind in files.items()}
    preset = next(iter(cards.values()))["preset"]
    path = folder / CARD
    write_text(path, "\n".join([f"# {preset}", *(_section(file, card) for file, card in cards.items())]))
    return path


def _section(file: str, card: Mapping[str, Any]) -> str:
    """One model: its command, seed, data, time and figures."""
    training = card.get("training") or {}
    figures = ", ".join(f"{name} {value:.4g}" for name, value in card["figures"].items())
    rows = {
        "command": f"`{card['command']}`",
        "started from": _origin(card.get("started_from")),
        "seed": training.get("seed", "none needed"),
        "data": f"training {card['data']}, held out {card['held_out_data']}",
        "time": f"{card['seconds']} s on {card['device']}",
        "figures": figures,
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join(["", f"## {file}", "", "| | |", "|---|---|", *lines, ""])


def _origin(card: Mapping[str, Any] | None) -> str:
    return f"weights of `{card['command']}`" if card else "random weights"
