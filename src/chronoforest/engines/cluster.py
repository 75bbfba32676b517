"""Many machines: workers are Ray actors, on whatever nodes have room for them."""

from __future__ import annotations

import os
import platform
import re
import signal
import socket
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock

from chronoforest.engines import NUM_ATTEMPTS, Answer, Done, Item, Result, Work, carried_out, failed
from chronoforest.errors import InvalidParameter, NoCluster, require_at_least
from chronoforest.files import LONGEST_REASON, fingerprint, write_bytes
from chronoforest.names import optional
from chronoforest.processes import unchanged

STORE_BYTES = 512 * 2**20
"""Of memory for what is sent, in a cluster of our own."""

KNOCK_SECONDS = 5.0
"""How long a cluster may take to answer, and how often it is asked while nothing is finished."""

NOISE = re.compile(r"\b(class_name|actor_id|pid|namespace|ip|Node Id): \S+|Some common causes.*", re.DOTALL)
"""In Ray's words about a death: what tells a user nothing."""

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": ".*"}
"""Ray's own settings: no statistics are sent, and what happens to its processes is not printed here."""


@dataclass(frozen=True)
class RayEngine:
    """Workers on the nodes of a Ray cluster.

    address: auto for the cluster that this machine is in, HOST:PORT or ray://HOST:PORT for another one, None
    for a new one of this machine alone; workers: as many as the cluster has room for unless given, and those
    without room wait for some; gpus_per_worker: a share of one, or a whole number; modules: packages outside
    the installed one that nodes may lack, by name.
    """

    address: str | None = None
    workers: int | None = None
    gpus_per_worker: float = 0.0
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_at_least(self, 1, "workers")
        share = self.gpus_per_worker
        if not (0.0 <= share <= 1.0 or (share > 1.0 and share.is_integer())):
            raise InvalidParameter(
                f"gpus_per_worker must be a share of one such as 0.125, or a whole number, got {share:g}"
            )

    def answers(
        self, work: Work[Item, Result], items: Sequence[Item], files: Iterable[Path] = ()
    ) -> Generator[Answer[Result], None, None]:
        """One answer to each item, as they finish; Ray does an item again whose worker or node was lost."""
        os.environ.update({name: value for name, value in QUIET.items() if name not in os.environ})
        ray = optional("ray", "ray")
        with _connected(ray, self.address, self.modules):
            sent = {folder: (name, ray.put(content)) for folder, name, content in packed(files)}
            # Where the head listens: as given for a client, else as Ray knows it.
            is_client = self.address is not None and self.address.startswith("ray://")
            head = self.address if is_client else str(ray.get_runtime_context().gcs_address)
            actor = ray.remote(Worker).options(
                num_cpus=1,
                num_gpus=self.gpus_per_worker,
                max_restarts=-1,
                max_task_retries=NUM_ATTEMPTS - 1,
                scheduling_strategy="SPREAD",
            )
            num_workers = min(self._num_workers(ray.cluster_resources()), len(items))
            workers = [actor.remote(work, sent, ray.get, version("chronoforest")) for _ in range(num_workers)]
            yield from _answers(ray, workers, items, head)

    def _num_workers(self, resources: dict[str, float]) -> int:
        """As asked for, or as many as fit; refused where not even one does."""
        cpus, gpus = resources.get("CPU", 0.0), resources.get("GPU", 0.0)
        room = int(cpus)
        if self.gpus_per_worker:
            room = min(room, int(gpus / self.gpus_per_worker))
        if room < 1:
            raise NoCluster(
                f"the cluster has {cpus:g} cores and {gpus:g} GPUs, a worker takes a core and "
                f"{self.gpus_per_worker:g} GPUs; add a node with `ray start --address HOST:6379`"
            )
        return self.workers or room


def _answers(
    ray: Any, workers: Iterable[Any], items: Sequence[Any], head: str | None
) -> Generator[Answer[Any], None, None]:
    """One answer to each item; while there is none, the head is asked whether it is still there."""
    waiting, idle = deque(enumerate(items)), list(workers)
    jobs: dict[Any, tuple[Any, int]] = {}
    answers: list[Answer[Any]] = []
    try:
        while waiting or jobs or answers:
            while waiting and idle:
                worker, (index, item) = idle.pop(), waiting.popleft()
                jobs[worker.do.remote(item)] = worker, index
            while idle:
                ray.kill(idle.pop())  # makes room for a worker that was lost with its node
            yield from answers  # which are read while the workers go on
            answers.clear()
            done = ray.wait(list(jobs), timeout=KNOCK_SECONDS)[0] if jobs else []
            if jobs and not done:
                _knock(head)
            for job in done:
                worker, index = jobs.pop(job)
                idle.append(worker)
                answers.append(_answer(ray, job, index))
    finally:
        for worker in (*idle, *(worker for worker, _ in jobs.values())):
            ray.kill(worker)


def _answer(ray: Any, job: Any, index: int) -> Answer[Any]:
    """What came of an item; errors of the work itself are raised."""
    try:
        return ray.get(job).answer(index)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        return failed(index, " ".join(NOISE.sub("", str(error)).split())[:LONGEST_REASON])


Contents = Mapping[str, bytes]


def packed(files: Iterable[Path]) -> Iterator[tuple[Path, str, Contents]]:
    """Every folder of files that are there, a name for what they hold, and their contents by name."""
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(path for path in set(files) if path.is_file()):
        by_folder[path.parent].append(path)
    for folder, paths in by_folder.items():
        held = repr([(path.name, fingerprint(path)) for path in paths])
        yield folder, sha256(held.encode()).hexdigest()[:32], {path.name: path.read_bytes() for path in paths}


def store_folder() -> Path:
    """Where a machine keeps what was sent to it; it may be deleted whenever no work is running."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "chronoforest" / "sent"


class Worker:
    """Does one item after another, in a process of its own; what work caches stays."""

    def __init__(
        self,
        work: Work[Any, Any],
        sent: Mapping[Path, tuple[str, Any]],
        fetch: Callable[[Any], Contents],
        wanted: str,
    ) -> None:
        """sent: for each folder of the driver's the name of its contents, and what they are fetched by;
        wanted: the version of the package that the driver has."""
        self._work, self._sent, self._fetch, self._wanted = work, sent, fetch, wanted

    def do(self, item: Any) -> Done[Any]:
        """What came of an item; a machine with another version of the package is refused."""
        here = version("chronoforest")
        if here != self._wanted:
            return Done(
                refusal=f"{platform.node()} has chronoforest {here}, the driver {self._wanted}; "
                f"`pip install chronoforest=={self._wanted}` there"
            )
        return carried_out(self._work, item, self._place)

    def _place(self, folder: Path) -> Path:
        """Where the files of a folder lie on this machine; the first worker that needs them fetches them."""
        if folder not in self._sent:
            return folder
        name, content = self._sent[folder]
        target = store_folder() / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock")):
            if not target.is_dir():
                with tempfile.TemporaryDirectory(dir=target.parent) as draft:
                    for file, held in self._fetch(content).items():
                        write_bytes(Path(draft) / "whole" / file, held)
                    os.rename(Path(draft) / "whole", target)
        return target


@contextmanager
def _connected(ray: Any, address: str | None, modules: Sequence[str]) -> Iterator[None]:
    """A connection to the cluster, unless this process has one; a cluster of our own ends with it."""
    if ray.is_initialized():
        yield
        return
    own = {"include_dashboard": False, "object_store_memory": STORE_BYTES} if address is None else {}
    specs = [spec for module in modules if (spec := find_spec(module.partition(".")[0]))]
    # Folders or files, which Ray copies to the nodes.
    paths = [next(iter(spec.submodule_search_locations or ()), spec.origin) for spec in specs]
    _knock(address)
    try:
        with unchanged(signal.SIGTERM):  # which Ray takes for itself
            ray.init(
                address=address or "local",  # what Ray calls a new cluster of this machine alone
                runtime_env={"py_modules": paths} if paths else None,
                log_to_driver=False,
                logging_level="ERROR",
                **own,
            )
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:LONGEST_REASON]
        raise NoCluster(f"no Ray cluster at {address}: {reason}; `ray start --head` starts one") from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """Refuse an address where nothing listens, at which Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), KNOCK_SECONDS).close()
    except OSError as error:
        raise NoCluster(
            f"nothing answers at {address} ({error.strerror or error}); `ray start --head` on that machine "
            "starts a cluster, and its ports must be open"
        ) from error
