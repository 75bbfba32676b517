import json

import pytest
from fakes import make_planner

from chronoforest.cli import main


@pytest.fixture
def opened(monkeypatch):
    """Pages that would have been opened; nothing is loaded and nothing is served."""
    pages = []
    monkeypatch.setattr("webbrowser.open", pages.append)
    monkeypatch.setattr("chronoforest.presets.loading.load_planner", lambda name, **options: make_planner())

    def serve(worlds, listener, on_ready):
        with listener:
            modes = json.loads(worlds.describe())["modes"]
            on_ready(f"http://127.0.0.1:{listener.getsockname()[1]}/ for {', '.join(modes)}")

    monkeypatch.setattr("chronoforest.view.server.serve", serve)
    return pages


def test_the_address_is_printed_and_the_page_is_opened(opened, capsys):
    assert main(["view"]) == 0
    (page,) = opened
    assert page.endswith("/ for default, fast")
    assert f"pointmaze-giant-stitch-v0 is at {page}  (ctrl-C ends)" in capsys.readouterr().out


def test_the_page_is_not_opened_when_nobody_wants_it(opened):
    assert main(["view", "--no-open-page", "--preset", "pointmaze-medium-stitch-v0"]) == 0
    assert opened == []


def test_an_unknown_preset_and_a_port_that_cannot_be_are_sentences(capsys):
    assert main(["view", "--preset", "moon"]) == 2
    assert "unknown preset 'moon'" in capsys.readouterr().err
    assert main(["view", "--port", "99999"]) == 2
    assert "cannot listen on port 99999" in capsys.readouterr().err


def test_an_overlay_is_read_and_placed_before_anything_is_served(opened, capsys, tmp_path):
    path = tmp_path / "streets.geojson"
    assert main(["view", "--overlay", str(path)]) == 2
    assert f"{path}: no such file" in capsys.readouterr().err
    path.write_text(json.dumps({"type": "LineString", "coordinates": [[446000, 4636000], [446010, 4636000]]}))
    assert main(["view", "--overlay", str(path)]) == 2
    assert "nothing of it lies where the recordings do" in capsys.readouterr().err
    assert opened == []
    path.write_text(json.dumps({"type": "LineString", "coordinates": [[0, 0], [20, 30]]}))
    assert main(["view", "--overlay", str(path)]) == 0
