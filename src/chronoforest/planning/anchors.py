"""Checks of what a caller passes to the planner: argument types, and anchors that must lie in the support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.ndimage import label

from chronoforest.data.frames import Frame, plainly
from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.search.tree import ForestMemory
from chronoforest.types import FloatArray, IntArray, PlanningModels, Problem, Support

ISLAND = 0.01
"""Of the support: a part of it that is smaller is what a stray left, and hardly any way leads on from it."""


@dataclass(frozen=True)
class AnchorCheck:
    """Whether the anchors of a problem, in the user's coordinates, lie where recordings went.

    tolerance: units of the plane by which an anchor may lie outside the support.
    """

    models: PlanningModels
    frame: Frame
    tolerance: float

    def refuse_unsupported(self, problem: Problem) -> None:
        """Refuse the first anchor that no recording came near, and name the nearest place that would do."""
        for row in self._unsupported(problem)[:1]:
            point = problem.anchors[row]
            place, apart = self._nearest(point)
            raise InvalidProblem(
                f"{problem.names[row]} at {self.frame.show(point)} lies outside the data's support; the "
                f"nearest supported place is {self.frame.show(place)}, {plainly(apart)} {self.frame.unit} "
                f"away{self._hint(point)}; snap moves it there"
            )

    def snapped(self, problem: Problem) -> tuple[Problem, tuple[str, ...]]:
        """The problem with unsupported anchors at the nearest supported place, and a sentence about each."""
        places, notices = problem.anchors.copy(), []
        for row in self._unsupported(problem):
            places[row], apart = self._nearest(problem.anchors[row])
            notices.append(
                f"{problem.names[row]} moved from {self.frame.show(problem.anchors[row])} to "
                f"{self.frame.show(places[row])}, {plainly(apart)} {self.frame.unit} away: "
                "nothing was recorded where it was"
            )
        if not notices:
            return problem, ()
        ends = [problem.num_agents, problem.num_agents + problem.num_waypoints]
        starts, waypoints, goals = np.split(places, ends)
        return Problem(starts, goals, waypoints, problem.labels, problem.rules), tuple(notices)

    def _unsupported(self, problem: Problem) -> IntArray:
        """Rows of anchors that no recording came near; what can be no coordinates at all is refused."""
        for row in np.flatnonzero(~self.frame.is_known(problem.anchors)):
            raise InvalidProblem(
                f"{problem.names[row]} at {self.frame.show(problem.anchors[row])} is no longitude and "
                "latitude; the longitude comes first"
            )
        support, places = self.models.support, self.frame.to_local(problem.anchors)
        is_outside = np.array([not support.holds(place) for place in places])
        if is_outside.any():  # else the table of margins, which takes longer than a plan, is not made
            is_outside &= self._margin(problem.anchors) <= -self.tolerance
        return np.flatnonzero(is_outside)

    def _margin(self, points: FloatArray) -> FloatArray:
        return self.models.density.margin(self.frame.to_local(points))

    def _nearest(self, point: FloatArray) -> tuple[FloatArray, float]:
        """The nearest supported place in the user's coordinates, and how far it is; not on a small island
        that nothing joins to the rest, unless there are only such."""
        support = self.models.support
        parts, _ = label(support.mask, np.ones((3,) * support.mask.ndim))
        is_large = np.bincount(parts.ravel()) >= ISLAND * support.mask.sum()
        is_large[0] = False
        mainland = replace(support, mask=is_large[parts]) if is_large.any() else support
        place, apart = _nearest_supported(self.frame.to_local(point), mainland)
        return self.frame.to_user(place), apart

    def _hint(self, point: FloatArray) -> str:
        """For those who type the latitude first."""
        turned = point[::-1]
        if not self.frame.is_degrees or not self.frame.is_known(turned):
            return ""
        return "; the longitude comes first" if self._margin(turned[None])[0] > -self.tolerance else ""


def unrecorded(problem: Problem, support: Support, frame: Frame) -> tuple[str, ...]:
    """A sentence about every anchor of a problem, in the user's coordinates, that lies outside the support;
    for where recordings are thin it is planned for all the same."""
    sentences = []
    for name, place in zip(problem.names, frame.to_local(problem.anchors), strict=True):
        nearest, apart = (place, 0.0) if support.holds(place) else _nearest_supported(place, support)
        if apart > support.cell:
            sentences.append(
                f"{name} lies {apart:.2g} {frame.unit} from {frame.show_local(nearest)}, the nearest place "
                "where anything was recorded; what lies between them is not known"
            )
    return tuple(sentences)


def _nearest_supported(place: FloatArray, support: Support) -> tuple[FloatArray, float]:
    """The supported place that is nearest to one in the plane [d], and how far it is."""
    cells = support.places
    apart = np.linalg.norm(cells - place, axis=1)
    nearest = int(np.argmin(apart))
    return cells[nearest], float(apart[nearest])


def asked(
    problem: object,
    starts: object,
    goals: object,
    waypoints: object,
    fix: Mapping[str, str] | str | None = None,
) -> Problem:
    """The problem that is meant: as it is, by its parts, or by its stops; `InvalidProblem` where it is more
    than one of these or none."""
    if isinstance(problem, Mapping):
        try:
            problem = Problem.from_dict(problem)
        except ValueError as error:
            raise InvalidProblem(str(error)) from error
    if problem is not None and not isinstance(problem, Problem) and starts is None:
        problem, starts = None, problem
    if problem is None and starts is not None:
        return Problem(starts, goals, waypoints, fix=fix)
    stops = {"starts": starts, "goals": goals, "waypoints": waypoints}
    if more := [name for name, value in stops.items() if value is not None]:
        alone = "starts=... is missing" if problem is None else f"leave out {', '.join(more)}"
        raise InvalidProblem(f"plan takes a Problem, or starts=..., goals=..., waypoints=...; {alone}")
    check_problem(problem)
    known = cast(Problem, problem)
    return known if fix is None else Problem(known.starts, known.goals, known.waypoints, known.labels, fix)


def check_problem(problem: object) -> None:
    """Raise `InvalidProblem` unless the value is a `Problem`."""
    if not isinstance(problem, Problem):
        example = "plan(starts=[0, 0], goals=[9, 9]) or plan(Problem([0, 0], [9, 9]))"
        raise InvalidProblem(f"problem must be a Problem, as in {example}; got {problem!r:.60}")


def check_arguments(memory: object = None, **observers: object) -> None:
    """Raise `InvalidParameter` unless memory and observers are None or what they should be."""
    if memory is not None and not isinstance(memory, ForestMemory):
        raise InvalidParameter(
            f"memory must be a ForestMemory() that is kept between plans, got {memory!r:.40}"
        )
    for name, observer in observers.items():
        if observer is not None and not callable(observer):
            raise InvalidParameter(f"{name} must be a function, got {observer!r:.40}")


def with_seeds(problems: Iterable[Problem], seeds: int | Iterable[int]) -> list[tuple[Problem, int]]:
    """Pairs of problem and seed; a single number is the seed of every problem."""
    if isinstance(problems, Problem) or not isinstance(problems, Iterable):
        raise InvalidParameter(f"problems must be a list of them, got {problems!r:.60}")
    asked = list(problems)
    known = list(seeds) if isinstance(seeds, Iterable) else [seeds] * len(asked)
    if len(known) != len(asked):
        raise InvalidParameter(f"every problem needs a seed, got {len(known)} for {len(asked)} problems")
    return list(zip(asked, known, strict=True))
