from dataclasses import replace
from io import StringIO

from rich.console import Console

from chronoforest.cli.live import NUM_SHOWN, round_cells, rounds_table, rounds_view
from chronoforest.types import JointRoute, Pair, Problem, RoundStats

PROBLEM = Problem([[0, 0]], [[4, 4]], [[2, 2]])
ROUTE = JointRoute(((0, 1, 2),))


def stats(round_index):
    return RoundStats(round_index, ROUTE, 9.0, ROUTE.legs, (Pair(1, 0),), 3, 12, 0.5)


def test_a_round_shows_route_legs_nodes_and_seconds():
    """A leg counts as met in either direction."""
    screen = StringIO()
    Console(file=screen, width=100).print(rounds_table([stats(0)], PROBLEM))
    assert all(text in screen.getvalue() for text in ("S1 → W1 → G1", "1/2", "12", "0.5"))


def test_a_route_that_is_met_before_anything_was_asked_is_proposed():
    """So the first round over the roadmap looks; a tree's first round has paid for pairs."""
    first = replace(stats(0), pairs=(), accepted=ROUTE.legs)
    assert round_cells(first, PROBLEM)[2] == "2/2 proposed"
    assert round_cells(replace(first, pairs=ROUTE.legs), PROBLEM)[2] == "2/2"


def test_a_terminal_sees_the_latest_rounds_and_a_file_one_line_each(capsys):
    screen = StringIO()
    with rounds_view(Console(file=screen, force_terminal=True, width=100)) as show:
        for round_index in range(NUM_SHOWN + 3):
            show(stats(round_index), PROBLEM)
    assert "tentative route" in screen.getvalue()
    assert capsys.readouterr().out == ""
    with rounds_view(Console(file=StringIO())) as show:
        show(stats(0), PROBLEM)
        show(stats(1), PROBLEM)
    assert len(capsys.readouterr().out.splitlines()) == 2
