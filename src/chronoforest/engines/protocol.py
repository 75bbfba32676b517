"""What an engine does: items go to workers that keep what they loaded, answers come back as they finish."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from chronoforest.errors import ChronoForestError

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemIn = TypeVar("ItemIn", contravariant=True)

Places = Callable[[Path], Path]
"""Where a worker finds the files of a folder of the driver's."""

Work = Callable[[Item, Places], Result]
"""What is done with an item; a function of a module, or a partial one, because other processes import it."""


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """What came of an item; index: its place among the items; failure: why there is no result, or "".

    An item fails when it ended its worker again and again; an error that it raises is raised where answers
    are read.
    """

    index: int
    result: Result | None = None
    failure: str = ""


class Engine(Protocol):
    """A place to run work; workers live until all items are answered, so what they load is loaded once."""

    def answers(
        self, work: Work[Item, Result], items: Sequence[Item], files: Iterable[Path] = ()
    ) -> Generator[Answer[Result], None, None]:
        """One answer to each item, as they finish; workers end at once when the generator is closed.

        files: of the driver, that work asks its places for.
        """
        ...


@dataclass(frozen=True)
class Done(Generic[Result]):
    """What a worker sends back: a result or the sentence of a refusal, since not all errors can be pickled;
    received: what files had to be sent to its machine for it."""

    result: Result | None = None
    refusal: str | None = None
    received: tuple[str, ...] = ()


class Worker(Protocol[ItemIn, Result]):
    """A process that does one item at a time."""

    def start(self) -> Future[Done[None]]:
        """Done when it can take items, which may be much later, or never."""
        ...

    def do(self, item: ItemIn) -> Future[Done[Result]]:
        """Let it do an item."""
        ...

    def death(self, error: BaseException) -> str | None:
        """Why it is dead, as a sentence, if that is what an error of its futures means."""
        ...

    def end(self) -> None:
        """End it at once, dead or alive."""
        ...


def carried_out(work: Work[Item, Result], item: Item, places: Places) -> Done[Result]:
    """What a worker makes of an item."""
    try:
        return Done(work(item, places))
    except ChronoForestError as error:
        return Done(refusal=str(error))


def unmoved(folder: Path) -> Path:
    """The places of workers that see the driver's files."""
    return folder
