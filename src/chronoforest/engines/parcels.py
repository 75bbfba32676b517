"""Files that are sent to machines that do not have them: known by their content, kept once per machine."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from chronoforest.files import write_bytes

PACKAGE = Path(__file__).parents[1]
"""The installed package, which has weights of its own wherever it is installed."""

Contents = Mapping[str, bytes]


@dataclass(frozen=True)
class Parcel:
    """Files of one folder of the driver's; inside: its path within the package, where it lies there;
    digests: SHA-256 of each file, by name."""

    folder: Path
    inside: Path | None
    digests: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, folder: Path, names: Iterable[str]) -> Parcel:
        """Files of a folder, which are read once."""
        where = folder.resolve()
        inside = where.relative_to(PACKAGE) if where.is_relative_to(PACKAGE) else None
        return cls(folder, inside, tuple((name, _digest(folder / name)) for name in sorted(names)))

    @property
    def digest(self) -> str:
        """What tells the parcel from all others, wherever its files lie."""
        return sha256(repr(self.digests).encode()).hexdigest()[:32]

    def contents(self) -> dict[str, bytes]:
        """What is sent."""
        return {name: (self.folder / name).read_bytes() for name, _ in self.digests}

    def in_package(self) -> Path | None:
        """The package's own folder here, if it has the same files."""
        if self.inside is None:
            return None
        folder = PACKAGE / self.inside
        wanted = ((folder / name, digest) for name, digest in self.digests)
        same = all(path.is_file() and _digest(path) == digest for path, digest in wanted)
        return folder if same else None


def packed(files: Iterable[Path]) -> list[Parcel]:
    """A parcel for each folder."""
    there = sorted({path for path in files if path.is_file()})
    by_folder = groupby(there, key=lambda path: path.parent)
    return [Parcel.of(folder, [path.name for path in paths]) for folder, paths in by_folder]


def unpacked(parcel: Parcel, fetch: Callable[[], Contents]) -> tuple[Path, bool]:
    """Where the files of a parcel lie on this machine, and whether they had to be fetched for that.

    Processes of one machine wait for each other, so only the first of them fetches.
    """
    own = parcel.in_package()
    if own is not None:
        return own, False
    store = store_folder()
    store.mkdir(parents=True, exist_ok=True)
    target = store / parcel.digest
    with _waiting_for(store / f"{parcel.digest}.lock"):
        if target.is_dir():
            return target, False
        draft = store / f".{parcel.digest}.{secrets.token_hex(6)}"
        try:
            for name, content in fetch().items():
                write_bytes(draft / name, content)
            os.rename(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return target, True


def store_folder() -> Path:
    """Where a machine keeps what was sent to it; it may be deleted whenever no work is running."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "chronoforest" / "sent"


@contextmanager
def _waiting_for(path: Path) -> Iterator[None]:
    """Hold a lock, after whoever else holds it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
