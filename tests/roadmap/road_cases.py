"""Worlds to lay a roadmap over: the fake square, a wall with one gate, and a one-way ring from recordings."""

import numpy as np
from fakes import BLOCK, CALIBRATION, SPEED, EuclideanDistance, FakeModels, SquareDensity
from toy_world import ring_episodes

from chronoforest.models.density import DensityParams, GridDensity, fit_density
from chronoforest.roadmap.hops import Ground
from chronoforest.roadmap.ways import build_roadmap
from chronoforest.types import Support

EDGE = 0.2


def ground(density=None, distance=None, step_length=SPEED):
    return Ground(density or SquareDensity(), distance or EuclideanDistance(), CALIBRATION, step_length, EDGE)


def square_road(block=BLOCK, distance=None):
    """The square with a block in its middle, and what is known of it."""
    density = SquareDensity(block)
    known = ground(density, distance)
    return build_roadmap(FakeModels(density=density).support, known), known


def grid_density(mask, cell=0.25, headings=None):
    """A density of a given support."""
    return GridDensity(np.zeros(2), cell, np.where(mask, 0.0, -20.0), mask, SPEED, headings)


def gate_road(width=3, distance=None):
    """Two rooms of 10 by 10 units; a wall of 2 between them has a gate of `width` cells."""
    mask = np.zeros((96, 48), dtype=bool)
    mask[4:44, 4:44] = mask[52:92, 4:44] = True
    mask[40:56, 20 : 20 + width] = True
    density = grid_density(mask)
    known = ground(density, distance)
    return build_roadmap(support_of(density), known), known


def support_of(density):
    return Support(density.origin, density.cell, density.support)


def ring_road():
    """Recordings go round a ring of radius 10, always counter-clockwise."""
    xy = ring_episodes().xy.astype(float)
    density = fit_density(xy, DensityParams(cell=0.2), jump=3.0, heading_steps=1)
    known = ground(density, EuclideanDistance(), density.step_length)
    return build_roadmap(support_of(density), known), known
