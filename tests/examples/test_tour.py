"""The notebook runs from its first cell to its last, as a reader would run it."""

import os
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the notebook needs nbclient, of the extra dev")
nbclient = pytest.importorskip("nbclient", reason="the notebook needs nbclient, of the extra dev")

PATH = Path(__file__).parents[2] / "examples" / "tour.ipynb"


def read():
    return nbformat.read(PATH, as_version=4)


def texts(notebook):
    """What the cells print."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_what_is_shown_is_of_a_whole_run():
    cells = [cell for cell in read().cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert PATH.stat().st_size < 150_000


@pytest.mark.slow
def test_every_cell_runs_in_an_empty_folder(tmp_path, monkeypatch):
    """`!chronoforest` is the command of the environment that runs the tests."""
    commands = Path(sys.executable).parent
    if not (commands / "chronoforest").exists():
        pytest.skip("the package is not installed, so that there is no command chronoforest")
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    notebook = read()
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = texts(notebook)
    assert said.count("complete; ") == 1
    assert "complete, 5 legs proposed" in said
    assert (tmp_path / "plan.geojson").is_file()
    assert [line.split("  ")[:2] for line in said.splitlines() if "→ G" in line] == [
        line.split("  ")[:2] for line in texts(read()).splitlines() if "→ G" in line
    ]
