"""Numbers as people write them: with decimal commas, and degrees with minutes, seconds and a hemisphere."""

from __future__ import annotations

import re

ANGLE = re.compile(
    r"([NSEW]?)\s*(\d+(?:\.\d+)?)\s*°?\s*(?:(\d+(?:\.\d+)?)\s*['′’]\s*)?(?:(\d+(?:\.\d+)?)\s*(?:[\"″”]|''))?\s*"
    r"([NSEW]?)",
    re.IGNORECASE,
)
"""41.87 N, W 87°38'58.66\", 41°52.3'N."""


def number_of(text: str) -> float:
    """A cell as a number; ValueError where it is none."""
    written = text.replace(",", ".", 1) if "." not in text else text
    try:
        return float(written)
    except ValueError:
        return _degrees(written)


def _degrees(text: str) -> float:
    """Degrees with a hemisphere; south and west are negative."""
    found = ANGLE.fullmatch(text)
    if found is None or not (found[1] or found[5] or "°" in text):
        raise ValueError(text)
    degrees = sum(float(part or 0) / 60**k for k, part in enumerate(found.groups()[1:4]))
    return -degrees if (found[1] or found[5]).upper() in ("S", "W") else degrees
