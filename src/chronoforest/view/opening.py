"""Opens the worlds of `chronoforest view`: which there are, how they are loaded, what is drawn over one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from chronoforest.names import PRESETS
from chronoforest.peers.choice import PlannerChoice
from chronoforest.view.overlays import read_overlay
from chronoforest.view.scenes import stored_example
from chronoforest.view.world import ServedPreset
from chronoforest.view.worlds import MODES, Worlds, trained


def open_worlds(choice: PlannerChoice, overlay: Path | None = None) -> Worlds:
    """The chosen world and those that can be switched to.

    One that ships is looked at and loaded later; one of your own is loaded at once, so that whatever is wrong
    with it is told before anything is served.
    """
    drawn = read_overlay(overlay) if overlay is not None else None
    opened = Path(choice.preset).stem if choice.preset.endswith(".toml") else choice.preset
    folders = trained() if choice.weights is None else {}

    def load(name: str) -> ServedPreset:
        return load_served(choice if name == opened else PlannerChoice(name, device=choice.device))

    worlds = Worlds(opened, load, tuple(folders), folders)
    if opened not in PRESETS.values() or stored_example(opened) is None or choice.weights is not None:
        worlds.served()
    if drawn is not None and overlay is not None:
        scene = worlds.scene()
        worlds.overlay = drawn.placed(scene.frame, scene.support, overlay)
    return worlds


def load_served(choice: PlannerChoice) -> ServedPreset:
    """A planner for each mode; torch on one thread, because two that wait for each other are slower."""
    import torch

    from chronoforest.presets import loading

    torch.set_num_threads(1)
    load = partial(loading.load_planner, choice.preset, device=choice.device, weights=choice.weights)
    return ServedPreset({mode: load(mode=mode) for mode in MODES})
