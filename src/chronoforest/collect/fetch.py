"""Downloads the official datasets where there is a network."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chronoforest.data.episodes import load
from chronoforest.envs.tasks import world
from chronoforest.errors import FetchFailed
from chronoforest.modules import optional

CONNECT_SECONDS = 5.0
STALL_SECONDS = 60.0


def fetch(name: str, out_dir: Path) -> list[Path]:
    """Download and check the training and validation file; fails within seconds without a network."""
    world(name)
    paths = [out_dir / f"{name}.npz", out_dir / f"{name}-val.npz"]
    if not all(path.exists() for path in paths):
        _download(name, out_dir)
    for path in paths:
        load(path)
    return paths


def _download(name: str, out_dir: Path) -> None:
    ogbench, url = optional("ogbench", "sim"), optional("ogbench.utils", "sim").DATASET_URL
    if not _can_reach(f"{url}/{name}-val.npz"):
        raise FetchFailed(_advice(name, f"{url} cannot be reached"))
    try:
        with _stalls_fail():
            ogbench.download_datasets([name], str(out_dir))
    except OSError as error:
        raise FetchFailed(_advice(name, f"the download broke off ({error})")) from error


def _can_reach(url: str) -> bool:
    """Whether the server answers in time; in a thread because looking a name up has no time limit."""
    answers: list[bool] = []

    def ask() -> None:
        request = urllib.request.Request(url, method="HEAD")
        try:
            with urllib.request.urlopen(request, timeout=CONNECT_SECONDS):
                answers.append(True)
        except OSError:
            answers.append(False)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    return answers == [True]


@contextmanager
def _stalls_fail() -> Iterator[None]:
    """Let a connection that has gone silent raise instead of waiting for ever, which ogbench would."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(STALL_SECONDS)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _advice(name: str, reason: str) -> str:
    return f"{reason}; `chronoforest data generate {name}` records the same kind of data here"
