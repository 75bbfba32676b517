"""Datasets of LeRobot, in the layout of their version 3, written with pyarrow."""

import importlib
import json
import zipfile

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset
from chronoforest.presets.learning import learn

pyarrow = pytest.importorskip("pyarrow")

NUM_ROWS = 60


def write(folder, names, num_files=2):
    """Two episodes of a robot in circles in each file, and what LeRobot says of them."""
    state = {"dtype": "float32", "shape": [3], "names": names}
    plain = {"dtype": "int64", "shape": [1], "names": None}
    features = {
        "observation.images.top": {
            "dtype": "video",
            "shape": [4, 4, 3],
            "names": ["height", "width", "channels"],
        },
        "observation.state": state,
        "action": state,
        "timestamp": {**plain, "dtype": "float32"},
        "frame_index": plain,
        "episode_index": plain,
        "index": plain,
        "task_index": plain,
    }
    about = {
        "codebase_version": "v3.0",
        "fps": 10,
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "features": features,
    }
    (folder / "meta" / "episodes" / "chunk-000").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps(about))
    parquet = importlib.import_module("pyarrow.parquet")
    parquet.write_table(
        pyarrow.table({"episode_index": [0]}), folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    )
    for number in range(num_files):
        episode, frame = np.divmod(np.arange(2 * NUM_ROWS), NUM_ROWS)
        angle = frame / 10 + episode + number
        states = np.stack([np.cos(angle), np.sin(angle), angle], axis=1).astype(np.float32)
        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(states.reshape(-1)), 3)
        columns = {
            "observation.state": lists,
            "action": lists,
            "timestamp": (frame / 10).astype(np.float32),
            "frame_index": frame,
            "episode_index": 2 * number + episode,
            "index": np.arange(2 * NUM_ROWS),
            "task_index": 0 * frame,
        }
        parquet.write_table(
            pyarrow.table(columns), folder / "data" / "chunk-000" / f"file-{number:03d}.parquet"
        )
    return folder


@pytest.mark.parametrize("names", [["x", "y", "theta"], {"axes": ["x", "y", "theta"]}])
def test_positions_episodes_and_times_are_found_by_what_the_dataset_calls_them(tmp_path, names):
    result = import_files([write(tmp_path / "robot", names)], Columns(), ImportParams(length=NUM_ROWS))
    assert result.findings[1].found.startswith(
        "coordinates observation.state.x, observation.state.y; episode episode_index; time timestamp"
    )
    assert result.episodes.observations.shape == (4, NUM_ROWS, 2)
    assert result.episodes.frame.step_seconds == pytest.approx(0.1)
    np.testing.assert_allclose(np.linalg.norm(result.episodes.xy, axis=2), 1.0, atol=1e-5)


def test_names_that_say_no_place_are_listed_and_chosen(tmp_path):
    folder = write(tmp_path / "arm", {"motors": ["motor_0", "motor_1", "motor_2"]})
    with pytest.raises(BadDataset, match=r"observation\.state\.motor_0, observation\.state\.motor_1"):
        import_files([folder], Columns(), ImportParams())
    columns = Columns(
        ("observation.state.motor_0", "observation.state.motor_1"),
        states=("observation.state.motor_2",),
        actions=("action.motor_0", "action.motor_1"),
    )
    episodes = import_files([folder], columns, ImportParams()).episodes
    assert (episodes.observations.shape[2], episodes.actions.shape[2]) == (3, 2)
    assert "observation.state.2" in read_table(write(tmp_path / "nameless", None)).columns


def test_a_packed_dataset_is_read_as_its_folder_is(tmp_path):
    folder = write(tmp_path / "robot", ["x", "y", "theta"])
    with zipfile.ZipFile(tmp_path / "robot.zip", "w") as archive:
        for path in folder.rglob("*.*"):
            archive.write(path, path.relative_to(tmp_path))
    one, other = (
        import_files([tmp_path / name], Columns(), ImportParams()).episodes for name in ("robot", "robot.zip")
    )
    assert one.fingerprint == other.fingerprint


def test_a_dataset_is_learned_and_planned_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planner = learn(write(tmp_path / "robot", ["x", "y", "theta"], num_files=5), name="circle")
    assert planner.plan(starts=[1, 0], goals=[-1, 0], snap=True).complete


def test_what_lacks_its_rows_or_holds_too_much_is_refused(tmp_path):
    folder = write(tmp_path / "robot", ["x", "y", "theta"])
    with pytest.raises(BadDataset, match=r"robot holds .*--max-gib"):
        import_files([folder], Columns(), ImportParams(max_gib=1e-6))
    for path in folder.glob("data/*/*"):
        path.unlink()
    with pytest.raises(BadDataset, match="robot is damaged or not a LeRobot dataset"):
        import_files([folder], Columns(), ImportParams())
    (folder / "meta" / "info.json").write_text('{"codebase_version": "v3.0"}')
    with pytest.raises(BadDataset, match="robot is damaged or not a LeRobot dataset"):
        import_files([folder], Columns(), ImportParams())
