"""Many machines: workers are Ray actors, on whatever nodes have room for them."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic

from chronoforest.engines.crew import Crew
from chronoforest.engines.desk import Desk
from chronoforest.engines.parcels import packed
from chronoforest.engines.protocol import Answer, Done, Item, Result, Work
from chronoforest.errors import InvalidParameter, NoCluster, require_at_least
from chronoforest.files import LONGEST_REASON
from chronoforest.modules import optional
from chronoforest.processes import unchanged

LOCAL = "local"
"""What Ray calls a cluster of its own, of this machine alone."""

STORE_BYTES = 512 * 2**20
"""Of memory for what is sent, in a cluster of our own."""

KNOCK_SECONDS = 5.0
"""How long a cluster may take to answer."""

NOISE = re.compile(r"\b(class_name|actor_id|pid|namespace|ip|Node Id): \S+|Some common causes.*", re.DOTALL)
"""In Ray's words about a death: what tells a user nothing."""


@dataclass(frozen=True)
class RayEngine:
    """Workers on the nodes of a Ray cluster.

    address: auto for the cluster that this machine is in, HOST:PORT or ray://HOST:PORT for another one, None
    for a new one of this machine alone; workers: as many as the cluster has room for unless told, and those
    without room wait for some; gpus_per_worker: a share of one, or a whole number; modules: packages outside
    the installed one that nodes may lack, by name.
    """

    address: str | None = None
    workers: int | None = None
    gpus_per_worker: float = 0.0
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_at_least(self, 1, "workers")
        check_gpus(self.gpus_per_worker)

    def answers(
        self, work: Work[Item, Result], items: Sequence[Item], files: Iterable[Path] = ()
    ) -> Generator[Answer[Result], None, None]:
        """One answer to each item, as they finish."""
        ray = optional("ray", "ray")
        with _connected(ray, self.address, self.modules):
            num_workers = min(self._num_workers(ray.cluster_resources()), len(items))
            sent = {parcel.folder: (parcel, ray.put(parcel.contents())) for parcel in packed(files)}
            actor = ray.remote(Desk).options(
                num_cpus=1, num_gpus=self.gpus_per_worker, max_restarts=0, scheduling_strategy="SPREAD"
            )

            def hire() -> _Actor[Item, Result]:
                return _Actor(ray, actor.remote(work, sent, ray.get, version("chronoforest")))

            yield from Crew(hire, items).answers(num_workers)

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


def check_gpus(share: float) -> None:
    """Refuse what Ray cannot give: less than nothing, or one GPU and a part of another."""
    if not (0.0 <= share <= 1.0 or (share > 1.0 and share.is_integer())):
        raise InvalidParameter(
            f"gpus_per_worker must be a share of one such as 0.125, or a whole number, got {share:g}"
        )


class _Actor(Generic[Item, Result]):
    """A worker somewhere in the cluster."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self._actor = ray, actor

    def start(self) -> Future[Done[None]]:
        """Done when a node had room for it and has the package."""
        return self._actor.ready.remote().future()

    def do(self, item: Item) -> Future[Done[Result]]:
        """Let it do an item."""
        return self._actor.do.remote(item).future()

    def death(self, error: BaseException) -> str | None:
        """What Ray says of its end; an error of the work itself is none."""
        errors = self._ray.exceptions
        if not isinstance(error, errors.RayError) or isinstance(error, errors.RayTaskError):
            return None
        words = " ".join(NOISE.sub("", str(error)).split())
        # Where a worker could not be made, the cause stands at the end of a traceback.
        is_unborn = getattr(error, "actor_init_failed", False)
        return words[-LONGEST_REASON:] if is_unborn else words[:LONGEST_REASON]

    def end(self) -> None:
        """End it at once; Ray does not mind if it is dead."""
        self._ray.kill(self._actor)


@contextmanager
def _connected(ray: Any, address: str | None, modules: Sequence[str]) -> Iterator[None]:
    """A connection to the cluster, unless this process has one; a cluster of our own ends with it."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    own = {"include_dashboard": False, "object_store_memory": STORE_BYTES} if address is None else {}
    paths = [path for module in modules if (path := _path_of(module))]
    _knock(address)
    try:
        with unchanged(signal.SIGTERM):  # which Ray takes for itself
            ray.init(
                address=address or LOCAL,
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
    """Refuse an address where nobody answers; Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), KNOCK_SECONDS).close()
    except OSError as error:
        raise NoCluster(
            f"nobody answers at {address} ({error.strerror or error}); `ray start --head` on that machine "
            "starts a cluster, and its ports must be open"
        ) from error


def _path_of(module: str) -> str | None:
    """The folder or file of a module, which Ray copies to the nodes."""
    spec = find_spec(module.partition(".")[0])
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    return folders[0] if folders else spec.origin
