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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from chronoforest.data.arrays import PICKLE, read_minari, read_numpy
from chronoforest.data.bags import read_bag
from chronoforest.data.maps import read_arrow, read_json, read_kml, read_layers
from chronoforest.data.tables import Column, Table
from chronoforest.data.text import PLT, read_text
from chronoforest.errors import BadDataset
from chronoforest.files import reading
from chronoforest.names import optional

MINARI, UNPACKED = "minari:", "chronoforest-import-"
"""What the name of a Minari dataset begins with, and that of the folders that archives are unpacked to."""

ZIPS, TARS = (".zip", ".kmz"), (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
"""Endings of archives."""


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
    _remove_left_over()
    # The process is part of the name, so that the next import removes what a killed one left.
    with tempfile.TemporaryDirectory(prefix=f"{UNPACKED}{os.getpid()}-") as folder:
        try:
            largest = largest or largest_content()
            yield [found for source in sources for found in _found(source, Path(folder), largest)]
        except BadDataset as error:
            raise BadDataset(str(error).replace(f"{folder}/", "")) from error


def read_table(source: str | Path, header: Sequence[str] = (), largest: int | None = None) -> Table:
    """One file by its ending, or a Minari dataset by its name after `minari:`.

    header: names of the columns of text files; largest: bytes of text that a file may hold, what memory
    suffices for unless given.
    """
    if str(source).startswith(MINARI):
        return Table(str(source), read_minari(str(source).removeprefix(MINARI)))
    path, largest = Path(source), largest or largest_content()
    ending = ending_of(path)
    if ending not in READERS:
        known = f"known are {', '.join(READERS)}, text also with {', '.join(PACKED)}, folders, .zip and .tar "
        known += f"of them, and {MINARI}NAME for a Minari dataset"
        kind = path.suffix or "a file without an ending"
        raise BadDataset(f"{path}: cannot read {kind}; {advice(path) or known}")
    if not path.is_file():
        raise BadDataset(f"{path}: no such file")
    try:
        table = READERS[ending](path, header, largest * (4 if ending in WHOLE else 1))
        return table if isinstance(table, Table) else Table(str(path), table)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadDataset(f"{path}: cannot be read ({error})") from error


def largest_content() -> int:
    """Bytes of text that this machine can import at once: reading takes about eleven bytes of memory for each
    byte of a table."""
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


@contextmanager
def _from_zstandard(path: Path, _: str) -> Iterator[Any]:
    """A stream that is unpacked by the library that reads Parquet."""
    pyarrow = optional("pyarrow", "parquet")
    try:
        with pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd") as stream:
            yield stream
    except pyarrow.ArrowException as error:
        raise OSError(f"not packed by Zstandard: {error}") from error


def ending_of(path: Path) -> str:
    """The last part of the name, or the one before .gz and the like where a packed file is read like any
    other."""
    *_, inner, last = ("", "", *map(str.lower, path.suffixes))
    return inner if last in PACKED and inner not in WHOLE else last


Reader = Callable[[Path, Sequence[str], int], Table | dict[str, Column]]
"""Columns of a file; names for those of text without a header; bytes that it may hold."""


def _map(read: Callable[[Any], dict[str, Column]], what: str) -> Reader:
    """A reader of a map's format, whatever is wrong with a file in one sentence; GDAL opens some itself, with
    what belongs to them beside them."""

    def read_file(path: Path, _: Sequence[str], largest: int) -> dict[str, Column]:
        is_whole = ending_of(path) in WHOLE
        for part in path.parent.glob(f"{path.stem}.*") if is_whole else ():
            refuse_too_large(str(part), part.stat().st_size, largest)
        content = path if is_whole else content_of(path, largest)
        with reading(path, what, BadDataset):
            return read(content)

    return read_file


def _parquet(path: Path, _: Sequence[str], largest: int) -> dict[str, Column]:
    parquet = optional("pyarrow.parquet", "parquet")
    with reading(path, "a Parquet file", BadDataset):
        about = parquet.ParquetFile(path).metadata
        size = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    refuse_too_large(str(path), size, largest)
    with reading(path, "a Parquet file", BadDataset):
        return read_arrow(parquet.read_table(path))


def _feather(path: Path, _: Sequence[str], largest: int) -> dict[str, Column]:
    refuse_too_large(str(path), path.stat().st_size, largest)
    feather = optional("pyarrow.feather", "parquet")
    with reading(path, "an Arrow or Feather file", BadDataset):
        return read_arrow(feather.read_table(path))


def _bag(path: Path, _: Sequence[str], largest: int) -> Table:
    refuse_too_large(str(path), path.stat().st_size, largest)
    return read_bag(path)


def _numpy(path: Path, _: Sequence[str], largest: int) -> dict[str, Column]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            refuse_too_large(str(path), sum(part.file_size for part in file.infolist()), largest)
    return read_numpy(path)


READERS: dict[str, Reader] = {
    **dict.fromkeys(
        (".csv", ".tsv", ".txt"), lambda path, names, m: read_text(path, content_of(path, m), names)
    ),
    ".plt": lambda path, _, largest: read_text(path, content_of(path, largest), PLT, 6),
    ".gpx": _map(read_layers, "a GPX file"),
    ".kml": _map(read_kml, "a KML file"),
    **dict.fromkeys((".geojson", ".geojsonl"), _map(read_json, "a GeoJSON file")),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _map(read_json, "a JSON file with tracks")),
    ".gpkg": _map(read_layers, "a GeoPackage"),
    ".fgb": _map(read_layers, "a FlatGeobuf file"),
    ".shp": _map(read_layers, "a shapefile"),
    ".parquet": _parquet,
    **dict.fromkeys((".feather", ".arrow"), _feather),
    **dict.fromkeys((".bag", ".db3", ".mcap"), _bag),
    **dict.fromkeys((".npz", ".npy"), _numpy),
}
"""How each ending is read; the one place to add another."""

WHOLE = (
    *(".parquet", ".feather", ".arrow", ".npz", ".npy"),
    *(".bag", ".db3", ".mcap", ".shp", ".gpkg", ".fgb"),
)
"""Endings of files that are packed themselves, and take a quarter of the memory that text does."""

PACKED: dict[str, Callable[[Path, str], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _from_zstandard,
}
"""What opens a packed file, by the end of its name."""

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


def advice(path: Path) -> str:
    """What to do with a file that is not read, "" where nothing is known about it."""
    found = (words for endings, words in ADVICE.items() if path.suffix.lower() in endings.split())
    return next(found, "").format(name=path.name, stem=path.stem)


def _found(source: str | Path, folder: Path, largest: int) -> list[Source]:
    path = Path(source)
    if str(source).startswith(MINARI):
        return [Source(source, str(source))]
    if path.is_dir():
        return _below(path, path)
    if path.name.lower().endswith((*ZIPS, *TARS)) and path.is_file():
        _unpack(path, folder / path.name, largest)
        return _below(folder / path.name, path)
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
    hint = next((f"{path.name}: {found}" for path in paths if (found := advice(path))), "")
    raise BadDataset(f"{name}: no file that can be read in it; {hint or 'known are ' + ', '.join(READERS)}")


def _unpack(archive: Path, folder: Path, largest: int) -> None:
    """Unpack the files of an archive that can be read, once it is known that they are not too large.

    Not by `shutil.unpack_archive`, which unpacks all before anybody can see how much that is.
    """
    is_zip = archive.name.lower().endswith(ZIPS)
    what = "a zip archive" if is_zip else "a tar archive"
    with reading(archive, what, BadDataset):
        file: Any = zipfile.ZipFile(archive) if is_zip else tarfile.open(archive)  # noqa: SIM115
    with file:
        with reading(archive, what, BadDataset):
            members = list(_members(file, 4 * largest))
        wanted = [(name, size, member) for name, size, member in members if _is_wanted(name)]
        if not wanted:
            _refuse_all(archive, [Path(name) for name, _, _ in members])
        _refuse_members(archive, wanted, largest, shutil.disk_usage(folder.parent).free)
        with reading(archive, what, BadDataset):
            entries = [member for _, _, member in wanted]
            file.extractall(folder, entries, **({} if is_zip else {"filter": "data"}))


def _members(file: Any, largest: int) -> Iterator[tuple[str, int, Any]]:
    """Name, size and entry of every file in an archive; links and places outside the folder are left out.

    Ends at the first that is too large, since a tar is unpacked to see the next.
    """
    for entry in file.infolist() if isinstance(file, zipfile.ZipFile) else file:
        if isinstance(entry, zipfile.ZipInfo):
            yield entry.filename, entry.file_size, entry
        elif entry.isfile() and not entry.name.startswith("/") and ".." not in Path(entry.name).parts:
            yield entry.name, entry.size, entry
            if entry.size > largest:
                return


def _refuse_members(archive: Path, members: Sequence[tuple[str, int, Any]], largest: int, room: int) -> None:
    """Refuse two files of one name, one that memory does not suffice for, and more than the disk has room."""
    for name, size, _ in members:
        factor = 4 if ending_of(Path(name)) in WHOLE else 1
        refuse_too_large(f"{archive}: {name!r:.80}", size, factor * largest)
    repeated = next(
        (name for name, count in Counter(name for name, _, _ in members).items() if count > 1), ""
    )
    if repeated:
        raise BadDataset(f"{archive}: holds {repeated!r:.80} twice; rename one or import them unpacked")
    missing = sum(size for _, size, _ in members) - room
    if missing > 0:
        raise BadDataset(
            f"{archive}: unpacked, it needs {missing / 2**30:.3g} GiB more than the disk has free"
        )


def _is_wanted(name: str) -> bool:
    """Whether a file in an archive can be read or belongs to a shapefile."""
    return ending_of(Path(name)) in READERS or Path(name).suffix.lower() in (".shx", ".dbf", ".prj", ".cpg")


def _remove_left_over() -> None:
    """Remove what archives were unpacked to by imports that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{UNPACKED}*-*"):
        process = folder.name.removeprefix(UNPACKED).partition("-")[0]
        with suppress(OSError, ValueError):
            try:
                os.kill(int(process), 0)
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)
