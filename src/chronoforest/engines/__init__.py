"""Where work runs, in processes of this machine or on many machines with Ray: items go to workers that keep
what they loaded, answers come back as they finish."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from chronoforest.errors import ChronoForestError, InvalidParameter, require_at_least
from chronoforest.names import require

Item = TypeVar("Item")
Result = TypeVar("Result")

Places = Callable[[Path], Path]
"""Where a worker finds the files of a folder of the driver's."""

Work = Callable[[Item, Places], Result]
"""What is done with an item; a function of a module, or a partial one, because other processes import it."""

NUM_ATTEMPTS = 3
"""How many workers an item may end before it fails."""


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """What came of an item; index: its place among the items; failure: why there is no result, or "".

    An item fails when it ends its worker again and again; what it raises is raised where answers are read.
    """

    index: int
    result: Result | None = None
    failure: str = ""


class Engine(Protocol):
    """A place to run work; workers live until all items are answered, so what they load is loaded once."""

    def answers(
        self, work: Work[Item, Result], items: Sequence[Item], files: Iterable[Path] = ()
    ) -> Generator[Answer[Result], None, None]:
        """One answer to each item, as they finish; workers end at once when the generator is closed; files:
        of the driver, that work asks its places for."""
        ...


@dataclass(frozen=True)
class Done(Generic[Result]):
    """What a worker sends back: a result, or the sentence of a refusal, as not all errors can be pickled."""

    result: Result | None = None
    refusal: str | None = None

    def answer(self, index: int) -> Answer[Result]:
        """The answer to the item of that index; a refusal is raised."""
        if self.refusal is not None:
            raise ChronoForestError(self.refusal)
        return Answer(index, self.result)


def carried_out(work: Work[Item, Result], item: Item, places: Places) -> Done[Result]:
    """What a worker makes of an item."""
    try:
        return Done(work(item, places))
    except ChronoForestError as error:
        return Done(refusal=str(error))


def failed(index: int, reason: str) -> Answer[Result]:
    """The answer to an item that ended its worker too often; reason: of the last time."""
    return Answer(index, failure=f"it ended its worker {NUM_ATTEMPTS} times; the last time {reason}")


def unmoved(folder: Path) -> Path:
    """The places of workers that see the driver's files."""
    return folder


@dataclass(frozen=True)
class EngineChoice:
    """Where work runs.

    Args:
        workers: processes with one thread each; unless given one, all cores for recording a dataset, and on
            Ray as many as there is room for.
        engine: local for this machine, or ray for many.
        address: of the Ray cluster: auto for the one this machine is in, HOST:6379 or ray://HOST:10001; one
            of this machine alone is started unless given.
        gpus_per_worker: share of a GPU that a worker on Ray takes, such as 0.125.
    """

    workers: int | None = None
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    gpus_per_worker: float = 0.0

    def check(self, device: str = "cpu") -> None:
        """Refuse what cannot be run, before anything is imported that takes time."""
        require_at_least(self, 1, "workers")
        if self.engine == "ray":
            from chronoforest.engines.cluster import RayEngine

            require("ray")
            RayEngine(self.address, self.workers, self.gpus_per_worker)
            if device.startswith("cuda") and not self.gpus_per_worker:
                raise InvalidParameter("--device cuda on Ray needs --gpus-per-worker, such as 1 or 0.125")
        elif self.address is not None or self.gpus_per_worker:
            raise InvalidParameter("--address and --gpus-per-worker are for Ray; add --engine ray")

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked for."""
        return self == EngineChoice()

    def make(self, modules: tuple[str, ...] = ()) -> Engine:
        """The engine; modules: those that nodes may lack, by name."""
        if self.engine == "ray":
            from chronoforest.engines.cluster import RayEngine

            return RayEngine(self.address, self.workers, self.gpus_per_worker, modules)
        from chronoforest.engines.local import LocalEngine

        return LocalEngine(self.workers or 1)
