"""What a caller hands to the planner, refused before any work where it cannot be used."""

from __future__ import annotations

from collections.abc import Iterable

from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.search.memory import ForestMemory
from chronoforest.types import Problem


def check_problem(problem: object) -> None:
    """Refuse what is no problem."""
    if not isinstance(problem, Problem):
        example = "Problem(starts=[[0, 0]], goals=[[9, 9]])"
        raise InvalidProblem(f"problem must be a Problem, such as {example}, got {problem!r:.60}")


def check_observers(**observers: object) -> None:
    """Refuse observers, by their names, that cannot be called."""
    for name, observer in observers.items():
        if observer is not None and not callable(observer):
            raise InvalidParameter(f"{name} must be a function, got {observer!r:.40}")


def check_memory(memory: object) -> None:
    """Refuse a memory that is none."""
    if memory is not None and not isinstance(memory, ForestMemory):
        raise InvalidParameter(
            f"memory must be a ForestMemory() that is kept between plans, got {memory!r:.40}"
        )


def with_seeds(problems: Iterable[Problem], seeds: int | Iterable[int]) -> list[tuple[Problem, int]]:
    """Every problem with its seed; a single number is the seed of all."""
    if isinstance(problems, Problem) or not isinstance(problems, Iterable):
        raise InvalidParameter(f"problems must be a list of them, got {problems!r:.60}")
    asked = list(problems)
    known = list(seeds) if isinstance(seeds, Iterable) else [seeds] * len(asked)
    if len(known) != len(asked):
        raise InvalidParameter(f"every problem needs a seed, got {len(known)} for {len(asked)} problems")
    return list(zip(asked, known, strict=True))
