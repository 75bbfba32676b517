"""What was asked to be read: files, all files below a folder or in an archive, datasets by name."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chronoforest.data.tables import MINARI, READERS, ending_of
from chronoforest.errors import BadDataset
from chronoforest.files import reading

ARCHIVE = ".zip"

LARGEST = 2**35
"""Bytes that an archive may hold."""


@dataclass(frozen=True)
class Source:
    """A file or a dataset; name: what people know it as; is_named: whether it was asked for itself, and not
    the folder or the archive that it lies in."""

    place: str | Path
    name: str
    is_named: bool = True


@contextmanager
def opened(sources: Sequence[str | Path]) -> Iterator[list[Source]]:
    """Every single file that was asked for; what archives hold is there until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield [found for source in sources for found in _found(source, Path(folder))]
        except BadDataset as error:
            raise BadDataset(str(error).replace(f"{folder}/", "")) from error


def _found(source: str | Path, folder: Path) -> list[Source]:
    path = Path(source)
    if str(source).startswith(MINARI):
        return [Source(source, str(source))]
    if path.is_dir():
        return _below(path, path)
    if path.suffix.lower() == ARCHIVE and path.is_file():
        return _below(_unpacked(path, folder / path.name), path)
    return [Source(path, str(path))]


def _below(folder: Path, name: Path) -> list[Source]:
    """All files that can be read in a folder and the folders in it, in the order of their names."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))
    found = [
        Source(path, str(name / path.relative_to(folder)), is_named=False)
        for path in paths
        if ending_of(path) in READERS
    ]
    if not found:
        raise BadDataset(f"{name}: no file that can be read in it; known are {', '.join(READERS)}")
    return found


def _unpacked(archive: Path, folder: Path) -> Path:
    """A folder with all files of an archive that can be read."""
    with reading(archive, "a zip archive", BadDataset), zipfile.ZipFile(archive) as file:
        members = [member for member in file.infolist() if ending_of(Path(member.filename)) in READERS]
        size = sum(member.file_size for member in members)
        if size > LARGEST:
            raise BadDataset(f"it holds {size / 2**30:.0f} GiB, more than {LARGEST / 2**30:.0f}; unpack it")
        folder.mkdir(exist_ok=True)
        for member in members:
            file.extract(member, folder)
    return folder
