"""What runs on the other machines: a worker's half of the Ray engine, which imports no Ray itself."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chronoforest.engines.parcels import Contents, Parcel, unpacked
from chronoforest.engines.protocol import Done, Work, carried_out

Sent = Mapping[Path, tuple[Parcel, Any]]
"""Parcels by the driver's folder, each with what its content is fetched by when it is needed."""


class Desk:
    """Does one item after another, in a process of its own; what work caches stays."""

    def __init__(
        self, work: Work[Any, Any], sent: Sent, fetch: Callable[[Any], Contents], wanted: str
    ) -> None:
        """wanted: the version of the package that the driver has."""
        self._work, self._sent, self._fetch, self._wanted = work, sent, fetch, wanted
        self._found: dict[Path, Path] = {}
        self._received: list[str] = []

    def ready(self) -> Done[None]:
        """The first answer; a machine with another version of the package is refused."""
        here = version("chronoforest")
        if here == self._wanted:
            return Done()
        return Done(
            refusal=f"{platform.node()} has chronoforest {here}, the driver {self._wanted}; "
            f"`pip install chronoforest=={self._wanted}` there"
        )

    def do(self, item: Any) -> Done[Any]:
        """What came of an item, and what was received for it."""
        self._received.clear()
        done = carried_out(self._work, item, self._place)
        return Done(done.result, done.refusal, tuple(self._received))

    def _place(self, folder: Path) -> Path:
        if folder not in self._sent:
            return folder
        if folder not in self._found:
            parcel, content = self._sent[folder]
            self._found[folder], is_new = unpacked(parcel, lambda: self._fetch(content))
            if is_new:
                self._received.append(f"{folder} ({parcel.digest}) was sent to {self._found[folder]}")
        return self._found[folder]
