"""What a report can be about: suites, what is shown of each, and where such contents are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chronoforest.bench.suite import Suite
from chronoforest.bench.trials import Trial
from chronoforest.errors import InvalidParameter
from chronoforest.modules import value_in

BESIDE = "benchmarks.contents"
"""The module that is looked for in the current folder when none is named: the paper's suites."""


class Exhibit(Protocol):
    """A table or a picture; it writes its own files into the folder of a report."""

    @property
    def name(self) -> str:
        """Of its files."""

    def save(self, folder: Path) -> None:
        """Write its files."""

    def to_markdown(self) -> str:
        """As a part of report.md."""

    def to_html(self, folder: Path) -> str:
        """As a part of the page, which needs no other file; `save` comes first."""


@dataclass(frozen=True)
class Contents:
    """Suites and how each is shown; title: of the report; command: what makes such records."""

    title: str
    suites: Mapping[str, Suite]
    exhibits: Mapping[str, Callable[[Sequence[Trial]], Sequence[Exhibit]]]
    command: str

    def num_files(self, folder: Path) -> int:
        """How many of the files in a folder are records of these suites."""
        files = {suite.file for suite in self.suites.values()}
        return sum((folder / name).is_file() or (folder / f"{name}.gz").is_file() for name in files)


def contents_of(module: str) -> Contents:
    """CONTENTS of a module, which may lie in the current folder."""
    found = value_in(module, "CONTENTS")
    if not isinstance(found, Contents):
        raise InvalidParameter(f"no module {module!r} with the CONTENTS of a report")
    return found


def known_contents(folder: Path, own: Contents) -> Contents:
    """The contents that more of a folder's files belong to: our own, or those beside the current folder."""
    try:
        beside = contents_of(BESIDE)
    except InvalidParameter:
        return own
    return beside if beside.num_files(folder) > own.num_files(folder) else own
