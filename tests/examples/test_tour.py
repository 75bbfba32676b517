"""The notebook runs from its first cell to its last, as a reader would run it."""

import json
import re
from pathlib import Path

import numpy as np
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


def timetable_rows(notebook):
    """Agent and stop of each row of the timetables that are printed, and what speaks for the leg there."""
    lines = [line.strip() for line in texts(notebook).splitlines() if "2026-11-16" in line]
    rows = [re.split(r"\s{2,}", line) for line in lines]
    return [(row[0], row[1], row[-1] if len(row) > 3 else "") for row in rows]


@pytest.mark.slow
def test_every_cell_runs_in_an_empty_folder(tmp_path):
    """What is shown is what comes out, and the routes of the town keep to its streets."""
    notebook = read()
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert timetable_rows(notebook) == timetable_rows(read())
    lines = json.loads((tmp_path / "plan.geojson").read_text())["features"][:2]
    places = np.concatenate([line["geometry"]["coordinates"] for line in lines])
    off_streets = np.abs(places - 100 * np.round(places / 100)).min(axis=1)
    assert len(places) > 20
    assert off_streets.max() < 25
