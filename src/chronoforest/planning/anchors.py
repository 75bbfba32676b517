"""Anchors as a person gives them: refused, or moved, where no recording came near."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import label

from chronoforest.data.frames import Frame, plainly
from chronoforest.errors import InvalidProblem
from chronoforest.types import FloatArray, IntArray, PlanningModels, Problem, Support

LEAST_STEPS_APART = 1e-3
"""Steps between two anchors of a problem; nearer ones are one place to any body."""

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
                f"away{self._hint(point)}"
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
        return Problem(starts, goals, waypoints), tuple(notices)

    def refuse_crowded(self, problem: Problem) -> None:
        """Between places that are hardly apart there is nothing to plan, and no pace to measure."""
        places = self.frame.to_local(problem.anchors)
        apart = np.linalg.norm(places[:, None] - places, axis=-1)
        np.fill_diagonal(apart, np.inf)
        one, other = np.unravel_index(np.argmin(apart), apart.shape)
        least, unit = LEAST_STEPS_APART * self.models.step_length, self.frame.unit
        if apart[one, other] < least:
            raise InvalidProblem(
                f"{problem.names[one]} and {problem.names[other]} are {apart[one, other]:.2g} {unit} apart; "
                f"anchors need a thousandth of a step between them, {least:.2g} {unit}"
            )

    def _unsupported(self, problem: Problem) -> IntArray:
        """Rows of anchors that no recording came near; what can be no coordinates at all is refused."""
        for row in np.flatnonzero(~self.frame.is_known(problem.anchors)):
            raise InvalidProblem(
                f"{problem.names[row]} at {self.frame.show(problem.anchors[row])} is no longitude and "
                "latitude; the longitude comes first"
            )
        return np.flatnonzero(self._margin(problem.anchors) <= -self.tolerance)

    def _margin(self, points: FloatArray) -> FloatArray:
        return self.models.density.margin(self.frame.to_local(points))

    def _nearest(self, point: FloatArray) -> tuple[FloatArray, float]:
        """The nearest supported place on no island, in the user's coordinates, and how far it is."""
        place, apart = _nearest_supported(self.frame.to_local(point), _without_islands(self.models.support))
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
                "where anything was recorded; what lies between them nobody knows"
            )
    return tuple(sentences)


def _nearest_supported(place: FloatArray, support: Support) -> tuple[FloatArray, float]:
    """The supported place that is nearest to one in the plane [d], and how far it is."""
    cells = support.places
    apart = np.linalg.norm(cells - place, axis=1)
    nearest = int(np.argmin(apart))
    return cells[nearest], float(apart[nearest])


def _without_islands(support: Support) -> Support:
    """The support without the small parts that nothing joins to the rest, unless there are only such."""
    parts, _ = label(support.mask, np.ones((3,) * support.mask.ndim))
    sizes = np.bincount(parts.ravel())
    is_large = sizes >= ISLAND * support.mask.sum()
    is_large[0] = False
    return replace(support, mask=is_large[parts]) if is_large.any() else support
