"""The one way to write, lock and read back a file: complete or not there, by one process, or refused."""

from __future__ import annotations

import errno
import lzma
import os
import platform
import secrets
import shlex
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tokenize import TokenError
from typing import IO

from chronoforest.errors import CannotWrite, ChronoForestError, InUse, MissingExtra

DAMAGE = (
    OSError,
    EOFError,
    ValueError,  # text that is no UTF-8, JSON, TOML or CSV; a NumPy header that is none
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    SyntaxError,
    TokenError,
    RuntimeError,  # an archive with a password; nesting too deep
    MemoryError,  # a header that claims more than there is
    struct.error,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    ChronoForestError,  # a value that its own type refuses
)
"""All that reading a missing, truncated, foreign or edited file can raise."""

LONGEST_REASON = 300
"""Letters; parsers like to quote the whole file."""

WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
"""What file systems answer that cannot lock; there is nobody to be told of then."""


@contextmanager
def reading(path: str | Path, what: str, refusal: type[ChronoForestError]) -> Iterator[None]:
    """Whatever reading a file raises within the block becomes one sentence that names the file."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise refusal(f"{path}: no such file") from error
    except MissingExtra:  # which says nothing of the file
        raise
    except DAMAGE as error:
        words = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        reason = " ".join(words.split())[:LONGEST_REASON]
        raise refusal(f"{path} is damaged or not {what}: {reason}") from error


@contextmanager
def drafted(path: str | Path) -> Iterator[Path]:
    """A path of its own to write to, which takes the place of `path` when the block ends well.

    The file is on the disk before it gets its name, has the permissions of any other file, and is gone after
    a failure; `path` is untouched then.
    """
    path = Path(os.path.realpath(path))
    draft = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    try:
        if path.exists() and not path.is_file():
            raise CannotWrite(f"cannot write {path}: something is there that is no file")
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        _flush(draft)
        os.replace(draft, path)
        _flush(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, complete or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes, complete or not at all."""
    with drafted(path) as draft:
        draft.write_bytes(content)


def append_line(path: Path, line: str) -> None:
    """Add a line in one write, on the disk before this returns; what a killed process left of one goes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            _drop_torn_line(file)
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    """The refusal that names the file and the reason."""
    return CannotWrite(f"cannot write {path}: {error.strerror or error}")


@contextmanager
def locked(target: Path) -> Iterator[Path]:
    """Hold a folder, or a file that several could write, for this process; another is told who holds it."""
    from filelock import FileLock, Timeout  # takes as long to import as the whole command line

    path = target / ".lock" if target.is_dir() else target.with_name(f".{target.name}.lock")
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        path.write_text(f"process {os.getpid()} on {platform.node()}: {shlex.join(sys.argv)}")
    except Timeout:
        raise InUse(target, path.read_text() if path.is_file() else "another process") from None
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            lock.release()
            raise cannot_write(target, error) from error
    try:
        yield target
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def _drop_torn_line(file: IO[bytes]) -> None:
    """Cut what follows the last end of line, so that the next line starts on its own."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) != b"\n":
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def _flush(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fingerprint(*paths: Path) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of files, one after another; "" of none."""
    digest = sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16] if paths else ""
