"""Files of other people as named columns."""

import importlib

import numpy as np
import pytest

from chronoforest.data.columns import Columns, Table
from chronoforest.data.read import FORMATS, read_table
from chronoforest.errors import BadDataset, MissingExtra


def write_csv(path, text):
    path.write_text(text)
    return path


def test_a_csv_is_read_by_column_whatever_separates_it(tmp_path):
    for delimiter in ",;\t|":
        rows = ["x", "y", "name"], ["1", "2.5", "a"], ["", "-3e2", "b"]
        table = read_table(
            write_csv(tmp_path / "a.csv", "\n".join(delimiter.join(row) for row in rows) + "\n\n")
        )
        assert len(table) == 2
        np.testing.assert_array_equal(table.numbers("x"), [1.0, np.nan])
        np.testing.assert_array_equal(table.numbers("y"), [2.5, -300.0])
        assert table.labels("name") == ["a", "b"]


def test_parquet_columns_keep_their_names_and_types(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    when = np.array(["2026-05-01T10:00:00", "2026-05-01T10:00:01"], dtype="datetime64[ms]")
    parquet.write_table(
        pyarrow.table({"x": [1.0, None], "trip": ["a", "b"], "t": when}), tmp_path / "a.parquet"
    )
    table = read_table(tmp_path / "a.parquet")
    np.testing.assert_array_equal(table.numbers("x"), [1.0, np.nan])
    assert table.labels("trip") == ["a", "b"]
    assert np.diff(table.clock("t").seconds).tolist() == [1.0]


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr("chronoforest.names.import_module", refuse)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=r"needs pyarrow; .*chronoforest\[parquet\]"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(MissingExtra, match=r"needs minari; .*chronoforest\[minari\]"):
        read_table("minari:some/dataset-v0")


def test_numpy_arrays_become_columns(tmp_path):
    np.savez(tmp_path / "a.npz", time=np.arange(3), obs=np.arange(6.0).reshape(3, 2), note=np.array("hi"))
    table = read_table(tmp_path / "a.npz")
    assert set(table.columns) == {"time", "obs.0", "obs.1"}
    assert table.numbers("obs.1").tolist() == [1.0, 3.0, 5.0]
    np.save(tmp_path / "b.npy", np.array([(1.0, 2)], dtype=[("x", "f8"), ("y", "i4")]))
    assert set(read_table(tmp_path / "b.npy").columns) == {"x", "y"}
    np.save(tmp_path / "c.npy", np.zeros((4, 2)))
    assert set(read_table(tmp_path / "c.npy").columns) == {"0", "1"}


def test_a_stack_of_episodes_gets_an_episode_and_an_order(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(12.0).reshape(2, 3, 2))
    table = read_table(tmp_path / "a.npy")
    assert table.labels("episode") == ["0", "0", "0", "1", "1", "1"]
    assert table.numbers("frame").tolist() == [0, 1, 2, 0, 1, 2]
    assert table.numbers("0").tolist() == [0, 2, 4, 6, 8, 10]
    found = Columns().found_in(table)
    assert (found.coordinates, found.ids, found.has_clock) == (("0", "1"), ("episode",), False)


def test_what_lies_beside_a_stack_belongs_to_its_rows_or_episodes(tmp_path):
    places = np.arange(12.0).reshape(2, 3, 2)
    np.savez(tmp_path / "a.npz", places=places, speed=places[..., 0], car=np.array([7, 9]))
    table = read_table(tmp_path / "a.npz")
    assert table.numbers("places.1").tolist() == [1, 3, 5, 7, 9, 11]
    assert table.numbers("speed").tolist() == [0, 2, 4, 6, 8, 10]
    assert table.numbers("car").tolist() == [7, 7, 7, 9, 9, 9]


def test_a_minari_dataset_is_read_with_its_nested_names(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    gymnasium = importlib.import_module("gymnasium")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    box = gymnasium.spaces.Box(-10, 10, (2,), dtype=np.float64)
    episode = minari.data_collector.EpisodeBuffer(
        observations={"place": [np.array([k, 2.0 * k]) for k in range(4)]},
        actions=[np.array([k / 4, 0.0]) for k in range(3)],
        rewards=[0.0] * 3,
        terminations=[False] * 3,
        truncations=[False, False, True],
    )
    minari.create_dataset_from_buffers(
        "yard/test-v0",
        [episode, episode],
        observation_space=gymnasium.spaces.Dict({"place": box}),
        action_space=box,
    )
    table = read_table("minari:yard/test-v0")
    assert set(table.columns) == {
        "observations.place.0", "observations.place.1", "actions.0", "actions.1", "episode", "frame"
    }  # fmt: skip
    assert table.numbers("observations.place.1").tolist() == [0, 2, 4, 6] * 2
    assert table.numbers("actions.0").tolist() == [0, 0.25, 0.5, 0.5] * 2
    with pytest.raises(BadDataset, match=r"minari:yard/none-v0: .*minari download"):
        read_table("minari:yard/none-v0")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("x,y\n", "no rows"),
        ("1,116.5,39.9\n2,116.6,39.9\n", "name every column once"),
        ("x,y\n1\n", "row 1 has 1 cells, the header names 2"),
        ("x,y\n1,2\n3,4,5\n", "row 2 has 3 cells"),
    ],
)
def test_a_malformed_csv_is_one_sentence(text, sentence, tmp_path):
    with pytest.raises(BadDataset, match=sentence) as error:
        read_table(write_csv(tmp_path / "a.csv", text))
    assert str(error.value).count(str(tmp_path / "a.csv")) == 1


def test_odd_cells_and_columns_are_named(tmp_path):
    table = read_table(write_csv(tmp_path / "a.csv", "x,t\n1,noon\nleft,2\n"))
    with pytest.raises(BadDataset, match="x holds 'left' in row 2, expected a number"):
        table.numbers("x")
    with pytest.raises(BadDataset, match="t holds 'noon' in row 1, expected seconds or a date"):
        table.clock("t")
    with pytest.raises(BadDataset, match="no column 'y'; there are: x, t"):
        table.numbers("y")


def test_a_few_odd_cells_are_empty_as_units_below_a_header_and_totals_are(tmp_path):
    rows = "".join(f"2026-05-01 10:00:{k:02d},{k}.5\n" for k in range(30))
    table = read_table(write_csv(tmp_path / "a.csv", f"t,x\nUTC,m\n{rows}"))
    assert np.isnan(table.numbers("x")).tolist() == [True] + 30 * [False]
    assert np.diff(table.clock("t").seconds)[1:].tolist() == 29 * [1.0]
    with pytest.raises(BadDataset, match="x holds 'm' in row 1"):
        read_table(write_csv(tmp_path / "a.csv", f"t,x\nUTC,m\nUTC,m\n{rows}")).numbers("x")


def test_whole_seconds_and_nanoseconds_are_one_clock():
    table = Table("t.csv", {"stamp.sec": np.array([5, 5, 6]), "stamp.nanosec": np.array([0, 5e8, 0])})
    assert table.clock("stamp.sec").seconds.tolist() == [5.0, 5.5, 6.0]


def test_an_unknown_ending_lists_the_known_ones(tmp_path):
    with pytest.raises(BadDataset) as error:
        read_table(tmp_path / "a.doc")
    assert all(ending in str(error.value) for ending in FORMATS)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(BadDataset, match="no such file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(BadDataset, match="no such file"):
        read_table(tmp_path / "folder.csv")


def test_arrays_that_are_no_table_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(3), y=np.zeros(4))
    with pytest.raises(BadDataset, match="different lengths"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=np.zeros((2, 2, 2)), y=np.zeros(3))
    with pytest.raises(BadDataset, match=r"'y' has shape \[3\], expected \[2, 2, …\]"):
        read_table(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(BadDataset, match="not a NumPy file: it holds Python objects; pickles are not opened"):
        read_table(tmp_path / "c.npy")
