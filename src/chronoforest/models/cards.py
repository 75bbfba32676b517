"""The card of a weights folder: what made each model, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chronoforest.files import write_text
from chronoforest.models.store import KINDS, STUDENT, Stored, files_of

CARD = "CARD.md"


def write_card(folder: Path) -> Path:
    """Write CARD.md from the metadata of the models that are there."""
    kinds = (*KINDS, STUDENT)
    cards = {file: Stored.read(folder, kind, file).card for kind in kinds for file in files_of(folder, kind)}
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
        "started from": _origin(card),
        "seed": training.get("seed", "none needed"),
        "data": f"training {card['data']}, held out {card['held_out_data']}",
        "time": f"{card['seconds']} s on {card['device']}",
        "figures": figures,
    }
    return "\n".join(["", f"## {file}", "", *facts_table(rows), ""])


def _origin(card: Mapping[str, Any]) -> str:
    if "teacher" in card:
        return "the denoiser, its teacher"
    origin = card.get("started_from")
    return f"weights of `{origin['command']}`" if origin else "random weights"


def facts_table(rows: Mapping[str, Any]) -> list[str]:
    """Lines of a table in Markdown, a fact in each row."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]
