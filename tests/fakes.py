"""Worlds without torch weights: straight segments, a Euclidean clock and a square with or without a block."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from chronoforest import cancellation
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.search.expand import SearchModels
from chronoforest.types import Calibration, Problem, Support

SPEED = 0.1
"""World units per step."""

STRIDE = 5
SIDE = 20.0
BLOCK = ((7.0, 7.0), (13.0, 13.0))
CALIBRATION = Calibration(
    alpha=0.002,
    local_scale=1.0,
    local_ratios=(0.9, 1.1),
    all_ratios=(0.8, 1.3),
    local_window=50.0,
    local_error=((5.0, 0.5), (50.0, 3.0)),
)


@dataclass(frozen=True)
class EuclideanDistance:
    """Steps at constant speed along the straight line; codes are the points."""

    reach: float = 1e9

    def encode(self, points):
        return np.asarray(points, dtype=float)

    def between(self, source, target):
        return np.linalg.norm(source - target, axis=-1) / SPEED

    def pairwise(self, source, target):
        return self.between(source[:, None], target[None])


@dataclass(frozen=True)
class WindDistance(EuclideanDistance):
    """Against the wind, toward smaller x, a unit takes `penalty` units' time on top."""

    penalty: float = 1.0

    def between(self, source, target):
        against = np.maximum(0.0, source[..., 0] - target[..., 0])
        return (np.linalg.norm(source - target, axis=-1) + self.penalty * against) / SPEED


@dataclass(frozen=True)
class DriftingDistance(EuclideanDistance):
    """Right within the calibration's window, `drift` times too much beyond."""

    drift: float = 2.0

    def between(self, source, target):
        steps = super().between(source, target)
        return np.where(steps > CALIBRATION.local_window, self.drift * steps, steps)


@dataclass
class StraightSampler:
    """Guided rows head for their target, the others anywhere; at most `longest` units in a straight line."""

    horizon: int = 12
    stride: int = STRIDE
    shortest: float = 2.4
    longest: float = 4.8
    guidance: dict = field(default_factory=dict)
    denoising: dict = field(default_factory=dict)
    has_student: bool = False
    queries: list = field(default_factory=list)

    def guided_by(self, **changes):
        return replace(self, guidance=self.guidance | changes)

    def in_steps(self, num_steps):
        return self

    def denoising_by(self, **changes):
        return replace(self, denoising=self.denoising | changes, has_student=False)

    def __call__(self, query, rng):
        cancellation.step()
        self.queries.append(query)
        angle = rng.uniform(0.0, 2.0 * np.pi, len(query))
        anywhere = self.longest * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        ahead = query.target - query.boundary
        length = np.linalg.norm(ahead, axis=1, keepdims=True)
        toward = ahead / np.maximum(length, 1e-9) * np.clip(length, self.shortest, self.longest)
        tail = np.where(query.guidance[:, None] > 0, toward, anywhere)
        share = np.linspace(0.0, 1.0, self.horizon + 1)
        return query.boundary[:, None] + share[None, :, None] * tail[:, None]


class LazySampler(StraightSampler):
    """Nobody moves in the lower half: segments from there go nowhere."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        is_low = query.boundary[:, 1] < SIDE / 2
        segments[is_low] = query.boundary[is_low, None]
        return segments


@dataclass(frozen=True)
class SquareDensity:
    """The square [0, SIDE]² is supported, less an axis-aligned block; margins are exact."""

    block: tuple | None = None
    is_one_way: bool = False

    def margin(self, points):
        points = np.asarray(points, dtype=float)
        room = _inside_box(points, (0.0, 0.0), (SIDE, SIDE))
        return room if self.block is None else np.minimum(room, -_inside_box(points, *self.block))

    def log_density(self, points):
        return np.minimum(self.margin(points), 1.0)

    def follows(self, points, moves):
        return np.ones(np.shape(points)[:-1], dtype=bool)


def _inside_box(points, low, high):
    """Signed distance to a box's edge, positive inside."""
    beyond = np.maximum(np.array(low) - points, points - np.array(high))
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return np.where(outside > 0, -outside, -beyond.max(axis=-1))


@dataclass
class FakeModels:
    """The planner's `PlanningModels`, nothing of it learned."""

    sampler: StraightSampler = field(default_factory=StraightSampler)
    distance: EuclideanDistance = field(default_factory=EuclideanDistance)
    density: SquareDensity = field(default_factory=SquareDensity)
    calibration: Calibration = CALIBRATION
    step_length: float = SPEED
    gap: float = 0.0
    has_networks: bool = True

    @property
    def support(self):
        ticks = np.arange(-2.0, SIDE + 2.0, 0.5)
        places = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1)
        return Support(places[0, 0], 0.5, self.density.margin(places) > 0)

    def for_search(self):
        return SearchModels(
            self.sampler,
            self.distance,
            self.density,
            self.calibration,
            largest_hop=STRIDE * self.step_length,
            step_length=self.step_length,
        )


def make_planner(block=None, **params):
    return Planner(FakeModels(density=SquareDensity(block)), PlannerParams(**params), "fake")


def scattered_problem(num_agents, num_waypoints, block=None, seed=0):
    """Anchors at random places with room around them, none within three units of another."""
    rng = np.random.default_rng([seed, num_agents, num_waypoints])
    density, places = SquareDensity(block), []
    while len(places) < 2 * num_agents + num_waypoints:
        place = rng.uniform(2.0, SIDE - 2.0, 2)
        if density.margin(place) > 1.5 and all(np.linalg.norm(place - other) > 3.0 for other in places):
            places.append(place)
    return Problem(
        starts=places[:num_agents],
        goals=places[num_agents : 2 * num_agents],
        waypoints=places[2 * num_agents :],
    )
