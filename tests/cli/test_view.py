import pytest
from fakes import make_planner

from chronoforest.cli import main
from chronoforest.service import worlds


@pytest.fixture
def opened(monkeypatch):
    """Pages that would have been opened; nothing is loaded and nothing is served."""
    pages = []
    monkeypatch.setattr("webbrowser.open", pages.append)
    monkeypatch.setattr(
        worlds.Worlds.__init__,
        "__defaults__",
        (lambda choice: worlds.World(choice.preset, make_planner()),),
    )

    def serve(served, listener, on_ready, origins):
        with listener:
            on_ready(f"http://127.0.0.1:{listener.getsockname()[1]}/?{served.opened}")

    monkeypatch.setattr("chronoforest.service.server.serve", serve)
    return pages


@pytest.mark.parametrize(
    "command", [["view"], ["serve", "--preset", "point-giant", "--port", "0", "--open-page"]]
)
def test_the_address_is_printed_and_the_page_is_opened(opened, capsys, command):
    assert main(command) == 0
    (page,) = opened
    assert page.endswith("/?pointmaze-giant-stitch-v0")
    assert page in capsys.readouterr().out


def test_the_page_is_not_opened_when_nobody_wants_it(opened):
    assert main(["view", "--no-open-page", "--preset", "pointmaze-medium-stitch-v0"]) == 0
    assert opened == []
