"""The walls of the OGBench mazes, for the page that shows plans in them; cell (i, j) is row i, column j."""

from __future__ import annotations

import numpy as np

from chronoforest.errors import UnknownEnvironment
from chronoforest.types import BoolArray, FloatArray, IntArray

CELL_SIZE = 4.0
"""Edge of a cell in world units."""

ORIGIN_OFFSET = 4.0
"""Cell (0, 0) has its centre at (-ORIGIN_OFFSET, -ORIGIN_OFFSET), so cell (1, 1) is at the origin."""

MAPS = {
    "medium": """
        ########
        #..##..#
        #..#...#
        ##...###
        #..#...#
        #.#..#.#
        #...#..#
        ########
    """,
    "large": """
        ############
        #....#.....#
        #.##.#.#.#.#
        #......#...#
        #.####.###.#
        #..#.#.....#
        ##.#.#.#.###
        #..#...#...#
        ############
    """,
    "giant": """
        ################
        #.#......##....#
        #.#.##.#.#..##.#
        #...#..#...#...#
        #.###.######.#.#
        #...#...#....#.#
        ###.#.#..#.#.###
        #...#..#...#...#
        #.#.#.######.#.#
        #.###...#...##.#
        #.....#...#....#
        ################
    """,
    "teleport": """
        ############
        #.....#.#..#
        ##.#...#..##
        ##.###.....#
        #....#.#.#.#
        #.##.#.#.#.#
        #.##.#.#.#.#
        #....#...#.#
        ############
    """,
}


def is_wall(name: str) -> BoolArray:
    """[rows, columns] of the maze called medium, large, giant or teleport."""
    if name not in MAPS:
        raise UnknownEnvironment(name, choices=MAPS)
    walls = np.array([[letter == "#" for letter in row] for row in MAPS[name].split()])
    walls.setflags(write=False)
    return walls


def cell_centre(cells: IntArray) -> FloatArray:
    """[…, 2] cells (i, j) → […, 2] world units (x, y)."""
    return np.asarray(cells, dtype=np.float64)[..., ::-1] * CELL_SIZE - ORIGIN_OFFSET
