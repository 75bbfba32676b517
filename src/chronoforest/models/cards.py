"""The card of a weights folder: what made each model, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chronoforest.files import write_text
from chronoforest.models.store import KINDS, Stored, files_of

CARD = "CARD.md"


def write_card(folder: Path) -> Path:
    """Write CARD.md from the metadata of the models that are there."""
    cards = {file: Stored.read(folder, kind, file).card for kind in KINDS for file in files_of(folder, kind)}
    preset = next(iter(cards.values()))["preset"]
    path = folder / CARD
    write_text(path, "\n".join([f"# {preset}", *(_section(file, card) for file, card in cards.items())]))
    return path


def _section(file: str, card: Mapping[str, Any]) -> str:
    """One model: its command, seed, data, time and figures."""
    training, origin = card.get("training") or {}, card.get("started_from")
    figures = ", ".join(f"{name} {value:.4g}" for name, value in card["figures"].items())
    rows = {
        "command": f"`{card['command']}`",
        "started from": f"weights of `{origin['command']}`" if origin else "random weights",
        "seed": training.get("seed", "none needed"),
        "data": f"training {card['data']}, held out {card['held_out_data']}",
        "time": f"{card['seconds']} s on {card['device']}",
        "figures": figures,
    }
    return "\n".join(["", f"## {file}", "", *facts_table(rows), ""])


def facts_table(rows: Mapping[str, Any]) -> list[str]:
    """Lines of a table in Markdown, a fact in each row."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]
