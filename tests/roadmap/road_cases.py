"""Worlds to lay a roadmap over: the fake square, and a wall with one gate."""

import numpy as np
from fakes import BLOCK, CALIBRATION, SPEED, EuclideanDistance, FakeModels, SquareDensity

from chronoforest.models.density import GridDensity
from chronoforest.roadmap.support import Ground, roadmap_of_support
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.types import Support

EDGE = 0.2


def ground(density=None, distance=None, step_length=SPEED):
    return Ground(density or SquareDensity(), distance or EuclideanDistance(), CALIBRATION, step_length, EDGE)


def square_road(block=BLOCK, distance=None):
    """The square with a block in its middle, and what is known of it."""
    density = SquareDensity(block)
    known = ground(density, distance)
    return roadmap_of_support(FakeModels(density=density).support, known), known


def grid_density(mask, cell=0.25, headings=None):
    """A density of a given support, and of headings [sectors, nx, ny] where ways have directions."""
    bits = None if headings is None else np.packbits(headings, axis=0)
    return GridDensity(np.zeros(2), cell, np.where(mask, 0.0, -20.0), mask, SPEED, bits)


def gate_road(width=3, distance=None):
    """Two rooms of 10 by 10 units; a wall of 2 between them has a gate of `width` cells."""
    mask = np.zeros((96, 48), dtype=bool)
    mask[4:44, 4:44] = mask[52:92, 4:44] = True
    mask[40:56, 20 : 20 + width] = True
    density = grid_density(mask)
    known = ground(density, distance)
    return roadmap_of_support(support_of(density), known), known


def support_of(density):
    return Support(density.origin, density.cell, density.support)


def ways_between(road, anchors):
    return Ways.of(Joined.of(road, np.asarray(anchors, dtype=float)))
