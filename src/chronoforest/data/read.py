"""What to import: files, all files below a folder or in an archive, and Minari datasets by name, each read by
its ending as a table. One bound says how much a file may hold, unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from chronoforest.data.columns import Column, Table
from chronoforest.data.logs import (
    INFO,
    PICKLE,
    is_lerobot,
    read_bag,
    read_lerobot,
    read_minari,
    read_numpy,
)
from chronoforest.data.maps import read_arrow, read_json, read_kml, read_layers
from chronoforest.data.text import PLT, read_text
from chronoforest.errors import BadDataset
from chronoforest.files import reading
from chronoforest.names import optional

MINARI, UNPACKED = "minari:", "chronoforest-import-"
"""What the name of a Minari dataset begins with, and that of the folders that archives are unpacked to."""

ZIPS, TARS = (".zip", ".kmz"), (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
"""Endings of archives."""

BESIDE = (".shx", ".dbf", ".prj", ".cpg")
"""Endings of the files that belong to a shapefile."""


@dataclass(frozen=True)
class Source:
    """A file or a dataset; name: what people know it as; is_named: whether it was asked for itself, and not
    the folder or the archive that it lies in."""

    place: str | Path
    name: str
    is_named: bool = True


@contextmanager
def opened(sources: Sequence[str | Path], largest: int | None = None) -> Iterator[list[Source]]:
    """Every single file that was asked for; what archives hold is there until the block ends.

    largest: bytes that a file in an archive may hold, what this machine's memory suffices for unless given.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{UNPACKED}*-*"):
        # The process is part of the name, so that the next import removes what a killed one left.
        with suppress(OSError, ValueError):
            try:
                os.kill(int(left.name.removeprefix(UNPACKED).partition("-")[0]), 0)
            except ProcessLookupError:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{UNPACKED}{os.getpid()}-") as folder:
        try:
            yield [found for one in sources for found in _found(one, Path(folder), largest or _largest())]
        except BadDataset as error:
            raise BadDataset(str(error).replace(f"{folder}/", "")) from error


def read_table(source: str | Path, header: Sequence[str] = (), largest: int | None = None) -> Table:
    """One file by its ending, or a dataset of Minari or LeRobot.

    header: names of the columns of text files; largest: bytes of text that a file may hold, what memory
    suffices for unless given.
    """
    if str(source).startswith(MINARI):
        return Table(str(source), read_minari(str(source).removeprefix(MINARI)))
    path, largest = Path(source), largest or _largest()
    form = LEROBOT if is_lerobot(path) else FORMATS.get(ending_of(path))
    if form is None:
        known = f"known are {', '.join(FORMATS)}, text also with {', '.join(PACKED)}, folders, .zip and .tar "
        known += f"of them, and {MINARI}NAME for a Minari dataset"
        kind = path.suffix or "a file without an ending"
        raise BadDataset(f"{path}: cannot read {kind}; {_advice(path) or known}")
    if not path.is_file() and form is not LEROBOT:
        raise BadDataset(f"{path}: no such file")
    try:
        return _read(path, form, header, largest)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadDataset(f"{path}: cannot be read ({error})") from error


def _read(path: Path, form: Format, header: Sequence[str], largest: int) -> Table:
    in_a_sentence = partial(reading, path, form.what, BadDataset) if form.what else nullcontext
    if form.is_whole:
        with in_a_sentence():
            size = _size_of(path)
        refuse_too_large(str(path), size, 4 * largest)
    content: Any = path if form.is_whole else content_of(path, largest)
    if form.read is None:
        return read_text(path, content, *((PLT, 6) if ending_of(path) == ".plt" else (header, 0)))
    with in_a_sentence():
        table = form.read(content)
    return table if isinstance(table, Table) else Table(str(path), table)


def _largest() -> int:
    """Bytes of text that this machine can import: reading takes about eleven bytes of memory for each."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 16


def refuse_too_large(name: str, size: int, largest: int) -> None:
    """Refuse more bytes than this machine has memory to import."""
    if size > largest:
        raise BadDataset(
            f"{name} holds {size / 2**30:.3g} GiB or more, and {largest / 2**30:.3g} GiB can be imported "
            "with this machine's memory; import it in parts, or raise --max-gib"
        )


def content_of(path: Path, largest: int) -> bytes:
    """A file's bytes, unpacked where it is packed; of too many, no more than the largest is read."""
    refuse_too_large(str(path), path.stat().st_size, largest)
    content = io.BytesIO()
    with PACKED.get(path.suffix.lower(), Path.open)(path, "rb") as stream:
        while chunk := stream.read(2**20):
            content.write(chunk)
            refuse_too_large(str(path), content.tell(), largest)
    return content.getvalue()


def _size_of(path: Path) -> int:
    """Bytes that a file that is packed itself holds, with what belongs to it beside it or in a folder."""
    if path.is_dir():
        return sum(map(_size_of, path.glob("data/**/*.parquet")))
    if path.suffix.lower() == ".parquet":
        about = optional("pyarrow.parquet", "parquet").ParquetFile(path).metadata
        return sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    if path.suffix.lower() in (".npz", ".npy") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            return sum(part.file_size for part in file.infolist())
    parts = path.parent.glob(f"{path.stem}.*") if path.suffix.lower() == ".shp" else [path]
    return max(part.stat().st_size for part in parts)


PACKED: dict[str, Callable[[Path, str], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": lambda path, _: optional("pyarrow", "parquet").input_stream(str(path), compression="zstd"),
}
"""What opens a packed file, by the end of its name."""


@dataclass(frozen=True)
class Format:
    """read: columns of a file that is whole, or of the content of others, None for text; what: a file of it
    is called in messages, where the reader does not say itself; is_whole: files are packed themselves, and
    take a quarter of the memory that text does."""

    read: Callable[[Any], Table | dict[str, Column]] | None
    what: str = ""
    is_whole: bool = False


FORMATS: dict[str, Format] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".plt"), Format(None)),
    ".gpx": Format(read_layers, "a GPX file"),
    ".kml": Format(read_kml, "a KML file"),
    **dict.fromkeys((".geojson", ".geojsonl"), Format(read_json, "a GeoJSON file")),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), Format(read_json, "a JSON file with tracks")),
    ".gpkg": Format(read_layers, "a GeoPackage", is_whole=True),
    ".fgb": Format(read_layers, "a FlatGeobuf file", is_whole=True),
    ".shp": Format(read_layers, "a shapefile", is_whole=True),
    ".parquet": Format(read_arrow, "a Parquet file", is_whole=True),
    **dict.fromkeys((".feather", ".arrow"), Format(read_arrow, "an Arrow or Feather file", is_whole=True)),
    **dict.fromkeys((".bag", ".db3", ".mcap"), Format(read_bag, is_whole=True)),
    **dict.fromkeys((".npz", ".npy"), Format(read_numpy, is_whole=True)),
}
"""How each ending is read; the one place to add another."""

LEROBOT = Format(read_lerobot, "a LeRobot dataset", is_whole=True)

ADVICE = {
    ".xlsx .xls .ods": "save it as CSV, which every spreadsheet can do, and import that",
    ".gdb .gml .sqlite .tab": "convert it: ogr2ogr -f GeoJSON {stem}.geojson {name}",
    ".h5 .hdf5 .mat .nc .pt .zarr": PICKLE.partition("; ")[2],
    ".pkl .pickle .joblib": PICKLE,
    ".7z .rar": "unpack it and import the folder",
    ".fit": "convert it: gpsbabel -i garmin_fit -f {name} -o gpx -F {stem}.gpx",
    ".tcx": "convert it: gpsbabel -i gtrnctr -f {name} -o gpx -F {stem}.gpx",
    ".igc": "convert it: gpsbabel -i igc -f {name} -o gpx -F {stem}.gpx",
    ".nmea .log": "convert it: gpsbabel -i nmea -f {name} -o gpx -F {stem}.gpx",
}
"""What turns files that are not read into such that are."""


def ending_of(path: Path) -> str:
    """The last part of the name, or the one before .gz and the like where a packed file is read."""
    *_, inner, last = ("", "", *map(str.lower, path.suffixes))
    return inner if last in PACKED and not (inner in FORMATS and FORMATS[inner].is_whole) else last


def _advice(path: Path) -> str:
    """What to do with a file that is not read, "" where nothing is known about it."""
    found = (words for endings, words in ADVICE.items() if path.suffix.lower() in endings.split())
    return next(found, "").format(name=path.name, stem=path.stem)


def _found(source: str | Path, folder: Path, largest: int) -> list[Source]:
    """A source itself, or all files that can be read in a folder or an archive, by name."""
    path = place = Path(source)
    if str(source).startswith(MINARI):
        return [Source(source, str(source))]
    if path.name.lower().endswith((*ZIPS, *TARS)) and path.is_file():
        place = folder / path.name
        _unpack(path, place, largest)
    elif not path.is_dir():
        return [Source(path, str(path))]
    roots = sorted(info.parents[1] for info in place.rglob(str(INFO)) if is_lerobot(info.parents[1]))
    if roots:
        return [Source(one, str(path / one.relative_to(place))) for one in roots]
    paths = [one for one in sorted(place.rglob("*")) if one.is_file() and not one.name.startswith(".")]
    found = [
        Source(one, str(path / one.relative_to(place)), is_named=False)
        for one in paths
        if ending_of(one) in FORMATS
    ]
    if not found:
        _refuse_all(path, paths)
    return found


def _refuse_all(name: Path, paths: Iterable[Path]) -> NoReturn:
    """Refuse a folder or an archive of which no file can be read."""
    hint = next((f"{path.name}: {found}" for path in paths if (found := _advice(path))), "")
    raise BadDataset(f"{name}: no file that can be read in it; {hint or 'known are ' + ', '.join(FORMATS)}")


def _unpack(archive: Path, folder: Path, largest: int) -> None:
    """Unpack what can be read, once its size is known; `shutil.unpack_archive` unpacks all unseen."""
    is_zip = archive.name.lower().endswith(ZIPS)
    what = "a zip archive" if is_zip else "a tar archive"
    with reading(archive, what, BadDataset):
        file: Any = zipfile.ZipFile(archive) if is_zip else tarfile.open(archive)  # noqa: SIM115
    with file:
        with reading(archive, what, BadDataset):
            members = list(_members(file, 4 * largest))
        wanted = [one for one in members if ending_of(Path(one[0])) in FORMATS or one[0].endswith(BESIDE)]
        if not wanted:
            _refuse_all(archive, [Path(name) for name, _, _ in members])
        for name, size, _ in wanted:
            form = FORMATS.get(ending_of(Path(name)))
            factor = 4 if form is not None and form.is_whole else 1
            refuse_too_large(f"{archive}: {name!r:.80}", size, factor * largest)
        twice = [name for name, count in Counter(name for name, _, _ in wanted).items() if count > 1]
        if twice:
            raise BadDataset(f"{archive}: holds {twice[0]!r:.80} twice; rename one or import them unpacked")
        missing = sum(size for _, size, _ in wanted) - shutil.disk_usage(folder.parent).free
        if missing > 0:
            more = f"{missing / 2**30:.3g} GiB more than the disk has free"
            raise BadDataset(f"{archive}: unpacked, it needs {more}")
        with reading(archive, what, BadDataset):
            entries = [member for _, _, member in wanted]
            file.extractall(folder, entries, **({} if is_zip else {"filter": "data"}))


def _members(file: Any, largest: int) -> Iterator[tuple[str, int, Any]]:
    """Name, size and entry of every file, no links and nothing outside; a tar's first too large one ends it,
    since the next is seen only by unpacking."""
    for entry in file.infolist() if isinstance(file, zipfile.ZipFile) else file:
        if isinstance(entry, zipfile.ZipInfo):
            yield entry.filename, entry.file_size, entry
        elif entry.isfile() and not entry.name.startswith("/") and ".." not in Path(entry.name).parts:
            yield entry.name, entry.size, entry
            if entry.size > largest:
                return
