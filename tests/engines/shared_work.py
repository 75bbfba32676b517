"""Work for engines, which other processes import, and what to know of processes."""

import os
import signal
import subprocess
import time
from functools import lru_cache
from pathlib import Path

from chronoforest.errors import InvalidProblem

FATAL = 2
"""The item that ends every worker."""


def doubled(item, places):
    return 2 * item


def doubled_slowly(item, places):
    time.sleep(0.2)
    return 2 * item, os.getpid()


def deadly(item, places):
    if item == FATAL:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * item


def once_deadly(folder, item, places):
    """Ends the first worker that is given the item."""
    mark = Path(folder) / "was-here"
    if item == FATAL and not mark.exists():
        mark.touch()
        os._exit(7)
    return 2 * item


def refusing(item, places):
    raise InvalidProblem(f"item {item} is refused")


def failing(item, places):
    raise ZeroDivisionError(f"item {item}")


@lru_cache(maxsize=1)
def token():
    """What a process loaded."""
    return os.urandom(8)


def with_token(item, places):
    return token()


def where_it_is(folder, item, places):
    """The process, where it finds a folder, and what a file there says."""
    here = places(Path(folder))
    time.sleep(0.2)
    return os.getpid(), here, (here / "model.txt").read_text()


def is_alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(pid):
    """All processes below a process."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, listed.splitlines()[1:])}
    below = {pid}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return below - {pid}


def are_gone(pids, seconds=15):
    """Whether processes end within a time."""
    ends_at = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < ends_at:
        time.sleep(0.05)
    return not any(map(is_alive, pids))


def napping(seconds, places):
    time.sleep(seconds)
