"""What was asked to be read: files, all files below a folder or in an archive, datasets by name."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NoReturn

from chronoforest.data.foreign import advice_on
from chronoforest.data.tables import MINARI, READERS, ending_of
from chronoforest.errors import BadDataset
from chronoforest.files import reading

ZIPS = (".zip", ".kmz")
TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")

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
    unpack = _unpacker(path)
    if unpack is not None and path.is_file():
        return _below(unpack(path, folder / path.name), path)
    return [Source(path, str(path))]


def _below(folder: Path, name: Path) -> list[Source]:
    """All files that can be read in a folder and the folders in it, in the order of their names."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    found = [
        Source(path, str(name / path.relative_to(folder)), is_named=False)
        for path in paths
        if ending_of(path) in READERS
    ]
    if not found:
        _refuse_all(name, paths)
    return found


def _refuse_all(name: Path, paths: Iterable[Path]) -> NoReturn:
    """Refuse a folder or an archive of which no file can be read."""
    told = advice_on(paths)
    raise BadDataset(f"{name}: no file that can be read in it; {told or 'known are ' + ', '.join(READERS)}")


def _unpacker(path: Path) -> Callable[[Path, Path], Path] | None:
    """What unpacks an archive into a folder, by its name."""
    name = path.name.lower()
    if name.endswith(ZIPS):
        return _unzipped
    return _untarred if name.endswith(TARS) else None


def _unzipped(archive: Path, folder: Path) -> Path:
    """A folder with all files of a zip archive that can be read."""
    with reading(archive, "a zip archive", BadDataset), zipfile.ZipFile(archive) as file:
        names = [Path(member.filename) for member in file.infolist()]
        members = [member for member in file.infolist() if ending_of(Path(member.filename)) in READERS]
        _refuse_too_large(sum(member.file_size for member in members))
        folder.mkdir(exist_ok=True)
        for member in members:
            file.extract(member, folder)
    if not members:
        _refuse_all(archive, names)
    return folder


def _untarred(archive: Path, folder: Path) -> Path:
    """A folder with all files of a tar archive that can be read; links and places outside are left out."""
    with reading(archive, "a tar archive", BadDataset), _opened_tar(archive) as file:
        members = [member for member in file.getmembers() if _is_wanted(member)]
        _refuse_too_large(sum(member.size for member in members))
        for member in members:
            target, content = folder / member.name, file.extractfile(member)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                shutil.copyfileobj(content, out)  # type: ignore[arg-type]  # plain files have a content
    return folder


def _opened_tar(archive: Path) -> tarfile.TarFile:
    """A tar archive, however it is packed; why not is a list of every way that was tried, which says nothing
    to people."""
    try:
        return tarfile.open(archive)
    except tarfile.ReadError as error:
        raise BadDataset("nothing in it can be unpacked") from error


def _is_wanted(member: tarfile.TarInfo) -> bool:
    path = PurePosixPath(member.name)
    is_inside = not path.is_absolute() and ".." not in path.parts
    return member.isfile() and is_inside and ending_of(Path(member.name)) in READERS


def _refuse_too_large(size: int) -> None:
    if size > LARGEST:
        raise BadDataset(f"it holds {size / 2**30:.0f} GiB, more than {LARGEST / 2**30:.0f}; unpack it")
