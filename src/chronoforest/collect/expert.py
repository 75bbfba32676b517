"""The ant's locomotion expert: a trained network that walks in a direction, evaluated in NumPy."""

from __future__ import annotations

from pathlib import Path

EXPERT_FILE, CARD, KIND = "expert.safetensors", "CARD.md", "expert"
SHIPPED = Path(__file__).parent.parent / "weights" / "ant-expert" / EXPERT_FILE
