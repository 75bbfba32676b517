"""The gallery has a small picture of every world that ships, of a problem that its recordings offer."""

import runpy
from pathlib import Path

import numpy as np
from fakes import make_planner, scattered_problem

from chronoforest.names import PRESETS
from chronoforest.types import Support

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images" / "gallery"
gallery = runpy.run_path(str(ROOT / "examples" / "gallery.py"))


def test_every_world_that_ships_has_its_picture_and_no_other():
    assert {path.stem for path in PICTURES.glob("*.png")} == set(PRESETS)
    assert all(path.stat().st_size < 150_000 for path in PICTURES.glob("*.png"))


def test_anchors_are_supported_have_room_and_lie_apart():
    mask = np.zeros((60, 40), dtype=bool)
    mask[5:55, 5:35] = True
    support = Support(np.zeros(2), 0.5, mask)
    problem = gallery["far_problem"](support)
    assert (problem.num_agents, problem.num_waypoints) == (2, 5)
    cells = np.rint(problem.anchors / support.cell).astype(int)
    assert mask[tuple(cells.T)].all()
    gaps = np.linalg.norm(problem.anchors[:, None] - problem.anchors[None], axis=2)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 1.0


def test_a_picture_has_few_colours(tmp_path):
    result = make_planner().plan(scattered_problem(2, 2), variant="online")
    result.plot(tmp_path / "large.png")
    gallery["draw"](result, tmp_path / "small.png")
    assert (tmp_path / "small.png").stat().st_size < 0.5 * (tmp_path / "large.png").stat().st_size
