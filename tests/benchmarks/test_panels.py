import numpy as np
import pytest
from fake_planner import support_of

from benchmarks.report.panels import Panel, Panels, Way, shared_labels
from chronoforest.bench.case import Case
from chronoforest.bench.run import run_cases
from chronoforest.bench.suite import Suite
from chronoforest.bench.trials import Trial
from chronoforest.envs.mazes import maze
from chronoforest.errors import CannotWrite
from chronoforest.peers.choice import PlannerChoice
from chronoforest.report.contents import Contents
from chronoforest.report.page import write_report
from chronoforest.types import Problem

PRESET = "antmaze-giant-stitch-v0"
ONE = Problem([[0.0, 0.0]], [[52.0, 36.0]])
TWO = Problem([[0.0, 0.0], [52.0, 0.0]], [[52.0, 36.0], [0.1, 0.0]], [[20.0, 0.0]])
LINE = np.array([[0.0, 0.0], [0.0, 8.0]])


def panels(problem=ONE, roles=("planned", "reference", "walked"), count=2, **more):
    ways = tuple(Way(role, LINE, agent) for role in roles for agent in range(problem.num_agents))
    maps = tuple(Panel(f"map {k}", "a note", problem, ways) for k in range(count))
    return Panels("maps", "All <maps>", "Figure 99", PRESET, maps, **more)


def drawn(shown, folder):
    """The words of the picture, as the SVG tells them."""
    shown.save(folder)
    assert (folder / "figures" / "maps.png").read_bytes().startswith(b"\x89PNG")
    return (folder / "figures" / "maps.svg").read_text()


def test_maps_are_drawn_with_titles_notes_headings_and_legend(tmp_path):
    text = drawn(panels(num_columns=2, headings=("left", "right")), tmp_path)
    for words in ("map 0", "map 1", "a note", "left", "right", "plan", "walk", "start", "goal"):
        assert f"<!-- {words} -->" in text
    assert "<!-- waypoint -->" not in text
    assert "<!-- shortest way over cells (BFS) -->" in text


def test_an_unfinished_row_is_no_obstacle(tmp_path):
    assert "<!-- map 4 -->" in drawn(panels(count=5), tmp_path)


def test_routes_are_told_apart_by_agent(tmp_path):
    text = drawn(panels(TWO, ("tree", "tentative", "route"), num_columns=2), tmp_path)
    for words in ("route of agent 1", "route of agent 2", "leg not met yet", "waypoint"):
        assert text.count(f"<!-- {words} -->") == 1


def test_anchors_in_one_place_share_a_label():
    assert shared_labels(TWO) == {"S1": "S1, G2", "S2": "S2", "W1": "W1", "G1": "G1", "G2": "S1, G2"}


def test_the_ground_may_be_the_data_s_support(tmp_path):
    giant = support_of(maze("giant"))
    assert "<!-- map 0 -->" in drawn(panels(support=giant, count=1, num_columns=1), tmp_path)


def test_the_page_shows_maps_and_their_notes(tmp_path):
    case = Case("figures", PlannerChoice(PRESET), 1, 0)
    toy = Suite(
        "toy", "a toy", lambda request: [case], lambda case, _: Trial(case, None), lambda choice: None
    )
    run_cases(toy, [case], tmp_path)
    shown = {"toy": lambda trials: [panels(notes=("what <this> is",))]}
    report = write_report(tmp_path, Contents("All of it", {"toy": toy}, shown, "make toys")).parent
    page = (report / "index.html").read_text()
    assert "All &lt;maps&gt; (paper: Figure 99)" in page
    assert "<li>what &lt;this&gt; is</li>" in page
    assert page.count("data:image/svg+xml;base64,") == 1
    text = (report / "report.md").read_text()
    assert "![All <maps>](figures/maps.svg)\n\n- what <this> is\n" in text


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="file"):
        panels().save(tmp_path / "file")
