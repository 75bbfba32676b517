"""The worlds that the page can switch between: the opened one, those that ship, and trained ones of your own.

A world is loaded when it is first planned in. One that ships with a stored example is shown before that,
because torch alone takes longer to import than a page may take to open.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import chronoforest
from chronoforest.errors import InvalidParameter
from chronoforest.names import PRESETS, full_name
from chronoforest.view.overlays import Overlay
from chronoforest.view.rounds import dumps
from chronoforest.view.scenes import Scene, read_scene, stored_example
from chronoforest.view.world import ServedPreset

WEIGHTS = Path(chronoforest.__file__).parent / "weights"
MODES: tuple[Literal["default", "fast"], ...] = ("default", "fast")

MOST_LOADED = 4
"""Worlds whose models are kept in memory."""

Load = Callable[[str], ServedPreset]


class Worlds:
    """Worlds by name, the opened one first.

    load: makes what is served of a name; folders: of weights that can be looked at before they are loaded.
    """

    def __init__(
        self,
        opened: str,
        load: Load,
        names: tuple[str, ...] = (),
        folders: Mapping[str, Path] | None = None,
        overlay: Overlay | None = None,
    ) -> None:
        self.opened, self.overlay = opened, overlay
        self.names = (opened, *(name for name in names if name != opened))
        self.is_seen = threading.Event()
        self._load, self._folders = load, folders or {}
        self._loaded: dict[str, ServedPreset] = {}
        self._described: dict[str, str] = {}
        self._loading = threading.Lock()

    @classmethod
    def of(cls, served: ServedPreset, overlay: Overlay | None = None) -> Worlds:
        """One world that is loaded already."""
        worlds = cls(served.name, lambda _: served, overlay=overlay)
        worlds.served()
        return worlds

    @property
    def is_loaded(self) -> bool:
        """Whether the opened world can plan at once."""
        return self.opened in self._loaded

    def served(self, name: str | None = None) -> ServedPreset:
        """A world with its planners, the opened one unless named; takes a while when it is not loaded yet."""
        name = self._known(name)
        self.is_seen.set()
        with self._loading:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
                self._drop_oldest()
            return self._loaded[name]

    def describe(self, name: str | None = None) -> str:
        """JSON of everything the page has to know of a world."""
        name = self._known(name)
        if name not in self._described:
            self._described[name] = dumps({**self._description(name), "has_overlay": self._has_overlay(name)})
        return self._described[name]

    def list(self) -> dict[str, Any]:
        """The names, and which was opened."""
        return {"opened": self.opened, "worlds": list(self.names)}

    def scene(self, name: str | None = None) -> Scene:
        """What a world looks like, from its weights alone where these are at hand."""
        name = self._known(name)
        if name in self._loaded or name not in self._folders:
            return self.served(name).scene
        return read_scene(name, self._folders[name])

    def _description(self, name: str) -> dict[str, Any]:
        first = stored_example(name)
        if name in self._loaded or first is None or name not in self._folders:
            return self.served(name).describe()
        return self.scene(name).describe(first, MODES)

    def _has_overlay(self, name: str) -> bool:
        return self.overlay is not None and name == self.opened

    def _known(self, name: str | None) -> str:
        name = self.opened if name is None else full_name(name)
        if name not in self.names:
            raise InvalidParameter(f"this viewer serves {', '.join(self.names)}, not {name!r:.80}")
        return name

    def _drop_oldest(self) -> None:
        """Forget the models of the world that was loaded first, but for the opened one."""
        others = [name for name in self._loaded if name != self.opened]
        if len(self._loaded) > MOST_LOADED:
            del self._loaded[others[0]]


def trained(weights: Path = WEIGHTS, here: Path = Path()) -> dict[str, Path]:
    """Folders of weights by preset: those that ship, and runs/NAME for every NAME.toml in the folder."""
    own = {path.stem: here / "runs" / path.stem for path in sorted(here.glob("*.toml"))}
    folders = {**{name: weights / name for name in PRESETS.values()}, **own}
    return {name: folder for name, folder in folders.items() if (folder / "density.safetensors").is_file()}
