"""Recordings of programs and robots: arrays, datasets of Minari and LeRobot, bags of ROS."""

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

COUNT = 150
CIRCLES = 10.0 * np.stack([np.cos(np.arange(COUNT) / 10), np.sin(np.arange(COUNT) / 10)], axis=1)


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
    places = np.arange(12.0).reshape(2, 3, 2)
    np.save(tmp_path / "a.npy", places)
    table = read_table(tmp_path / "a.npy")
    assert table.labels("episode") == ["0", "0", "0", "1", "1", "1"]
    assert table.numbers("frame").tolist() == [0, 1, 2, 0, 1, 2]
    assert table.numbers("0").tolist() == [0, 2, 4, 6, 8, 10]
    found = Columns().found_in(table)
    assert (found.coordinates, found.ids, found.has_clock) == (("0", "1"), ("episode",), False)
    # What lies beside a stack belongs to its rows or its episodes.
    np.savez(tmp_path / "a.npz", places=places, speed=places[..., 0], car=np.array([7, 9]))
    table = read_table(tmp_path / "a.npz")
    assert table.numbers("places.1").tolist() == [1, 3, 5, 7, 9, 11]
    assert table.numbers("speed").tolist() == [0, 2, 4, 6, 8, 10]
    assert table.numbers("car").tolist() == [7, 7, 7, 9, 9, 9]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"x": np.zeros(3), "y": np.zeros(4)}, "different lengths"),
        ({"x": np.zeros((2, 2, 2)), "y": np.zeros(3)}, r"'y' has shape \[3\], expected \[2, 2, …\]"),
        ({"x": np.array([{}])}, "not a NumPy file: it holds Python objects; pickles are not opened"),
    ],
)
def test_arrays_that_are_no_table_are_refused(tmp_path, arrays, sentence):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(BadDataset, match=sentence):
        read_table(tmp_path / "a.npz")


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


def lerobot(folder, names=("x", "y", "theta"), num_files=2):
    """A dataset in the layout of version 3: two episodes of a robot in circles in each file."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    state = {"dtype": "float32", "shape": [3], "names": names}
    plain = {"dtype": "int64", "shape": [1], "names": None}
    counts = dict.fromkeys(("frame_index", "episode_index", "index", "task_index"), plain)
    features = {
        "observation.images.top": {
            "dtype": "video",
            "shape": [4, 4, 3],
            "names": ["height", "width", "channels"],
        },
        "observation.state": state,
        "action": state,
        "timestamp": {**plain, "dtype": "float32"},
        **counts,
    }
    path = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
    about = {"codebase_version": "v3.0", "fps": 10, "data_path": path, "features": features}
    for part in ("meta/episodes/chunk-000", "data/chunk-000"):
        (folder / part).mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps(about))
    episodes = pyarrow.table({"episode_index": [0]})
    parquet.write_table(episodes, folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    for number in range(num_files):
        episode, frame = np.divmod(np.arange(120), 60)
        angle = frame / 10 + episode + number
        states = np.stack([np.cos(angle), np.sin(angle), angle], axis=1).astype(np.float32)
        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(states.reshape(-1)), 3)
        columns = {"observation.state": lists, "action": lists, "timestamp": (frame / 10).astype(np.float32)}
        columns |= {"frame_index": frame, "episode_index": 2 * number + episode}
        columns |= {"index": np.arange(120), "task_index": 0 * frame}
        file = folder / path.format(chunk_index=0, file_index=number)
        parquet.write_table(pyarrow.table(columns), file)
    return folder


@pytest.mark.parametrize("names", [["x", "y", "theta"], {"axes": ["x", "y", "theta"]}])
def test_lerobots_names_say_what_the_position_is(tmp_path, names):
    result = import_files([lerobot(tmp_path / "robot", names)], Columns(), ImportParams(length=60))
    assert result.findings[1].found.startswith(
        "coordinates observation.state.x, observation.state.y; episode episode_index; time timestamp"
    )
    assert result.episodes.observations.shape == (4, 60, 2)
    assert result.episodes.frame.step_seconds == pytest.approx(0.1)
    np.testing.assert_allclose(np.linalg.norm(result.episodes.xy, axis=2), 1.0, atol=1e-5)


def test_names_of_lerobot_that_say_no_place_are_listed_and_chosen(tmp_path):
    folder = lerobot(tmp_path / "arm", {"motors": ["motor_0", "motor_1", "motor_2"]})
    with pytest.raises(BadDataset, match=r"observation\.state\.motor_0, observation\.state\.motor_1"):
        import_files([folder], Columns(), ImportParams())
    columns = Columns(
        ("observation.state.motor_0", "observation.state.motor_1"),
        states=("observation.state.motor_2",),
        actions=("action.motor_0", "action.motor_1"),
    )
    episodes = import_files([folder], columns, ImportParams()).episodes
    assert (episodes.observations.shape[2], episodes.actions.shape[2]) == (3, 2)
    assert "observation.state.2" in read_table(lerobot(tmp_path / "nameless", None)).columns


def test_a_packed_dataset_of_lerobot_is_read_as_its_folder_is(tmp_path):
    folder = lerobot(tmp_path / "robot")
    with zipfile.ZipFile(tmp_path / "robot.zip", "w") as archive:
        for path in folder.rglob("*.*"):
            archive.write(path, path.relative_to(tmp_path))
    one, other = (
        import_files([tmp_path / name], Columns(), ImportParams()).episodes for name in ("robot", "robot.zip")
    )
    assert one.fingerprint == other.fingerprint


def test_a_dataset_of_lerobot_without_rows_or_with_too_many_is_refused(tmp_path):
    folder = lerobot(tmp_path / "robot")
    with pytest.raises(BadDataset, match=r"robot holds .*--max-gib"):
        import_files([folder], Columns(), ImportParams(max_gib=1e-6))
    first, second = sorted(folder.glob("data/*/*"))
    first.write_bytes(b"PAR1")
    with pytest.raises(BadDataset, match="robot is damaged or not a LeRobot dataset"):
        import_files([folder], Columns(), ImportParams())
    first.unlink()
    second.unlink()
    for about in ((folder / "meta" / "info.json").read_text(), '{"codebase_version": "v3.0"}'):
        (folder / "meta" / "info.json").write_text(about)
        with pytest.raises(BadDataset, match="robot is damaged or not a LeRobot dataset"):
            import_files([folder], Columns(), ImportParams())


def messages(store):
    """Topic, message and seconds: odometry in circles, a pose that stands still, fixes that are half none."""
    types = store.types
    point, turn = types["geometry_msgs/msg/Point"], types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    pose, vector = types["geometry_msgs/msg/Pose"], types["geometry_msgs/msg/Vector3"]
    twist = types["geometry_msgs/msg/Twist"](vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0))
    twisted = types["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36))
    posed, time = types["geometry_msgs/msg/PoseWithCovariance"], types["builtin_interfaces/msg/Time"]
    no_fix, fix = (types["sensor_msgs/msg/NavSatStatus"](status, 1) for status in (-1, 0))
    ros1 = {"seq": 0} if "seq" in types["std_msgs/msg/Header"].__dataclass_fields__ else {}
    for k, (x, y) in enumerate(CIRCLES.tolist()):
        header = types["std_msgs/msg/Header"](stamp=time(k, 0), frame_id="odom", **ros1)
        at = posed(pose(point(x, y, 0.0), turn), np.zeros(36))
        yield "/odom", types["nav_msgs/msg/Odometry"](header, "base_link", at, twisted), k
        home = posed(pose(point(1.0, 1.0, 0.0), turn), np.zeros(36))
        yield "/amcl_pose", types["geometry_msgs/msg/PoseWithCovarianceStamped"](header, home), k
        status = fix if k % 2 else no_fix
        place = (47.0, 8.0 + 1e-5 * k, 400.0, np.zeros(9), 0)
        yield "/gps", types["sensor_msgs/msg/NavSatFix"](header, status, *place), k


def bag(tmp_path, ending, topics=("/odom", "/amcl_pose", "/gps")):
    """A bag with some of the topics, in the file that people have."""
    typesys = pytest.importorskip("rosbags.typesys", reason="bags need the extra robot")
    if ending == ".bag":
        writer = importlib.import_module("rosbags.rosbag1").Writer(tmp_path / "log.bag")
        store = typesys.get_typestore(typesys.Stores.ROS1_NOETIC)
        encode = store.serialize_ros1
    else:
        rosbag2 = importlib.import_module("rosbags.rosbag2")
        plugin = rosbag2.StoragePlugin.MCAP if ending == ".mcap" else rosbag2.StoragePlugin.SQLITE3
        writer = rosbag2.Writer(tmp_path / "log", version=9, storage_plugin=plugin)
        store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
        encode = store.serialize_cdr
    connections = {}
    with writer:
        for topic, message, second in messages(store):
            kind = message.__msgtype__
            if topic in topics:
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=store)
                writer.write(connections[topic], 10**9 * (1_700_000_000 + second), encode(message, kind))
    return next(tmp_path.rglob(f"log*{ending}"))


@pytest.mark.parametrize("ending", [".bag", ".db3", ".mcap"])
def test_the_message_that_moves_is_found_and_named(tmp_path, ending):
    table = read_table(bag(tmp_path, ending))
    assert "/odom" in table.source
    assert "/amcl_pose" not in table.source
    np.testing.assert_allclose(np.stack([table.numbers("x"), table.numbers("y")], axis=1), CIRCLES)
    np.testing.assert_allclose(table.numbers("time"), 1_700_000_000 + np.arange(COUNT))
    assert set(table.labels("vehicle")) == {"/odom"}


def test_fixes_are_in_degrees_and_those_that_are_none_are_left_out(tmp_path):
    table = read_table(bag(tmp_path, ".mcap", ["/gps"]))
    np.testing.assert_allclose(table.numbers("longitude"), 8.0 + 1e-5 * np.arange(1, COUNT, 2))


@pytest.mark.parametrize("topics", [["/amcl_pose"], []])
def test_a_log_in_which_nothing_moves_is_refused(tmp_path, topics):
    with pytest.raises(BadDataset, match="log"):
        read_table(bag(tmp_path, ".mcap", topics))


@pytest.mark.parametrize("ending", [".bag", ".db3", ".mcap"])
def test_a_file_that_is_no_bag_is_refused(tmp_path, ending):
    pytest.importorskip("rosbags")
    (tmp_path / f"odom{ending}").write_bytes(b"no bag")
    with pytest.raises(BadDataset, match="odom"):
        read_table(tmp_path / f"odom{ending}")


@pytest.mark.parametrize(
    ("make", "size"),
    [(lambda path: bag(path, ".mcap"), 10), (lambda path: lerobot(path / "robot", num_files=5), 1)],
)
def test_a_log_is_learned_and_planned_in(tmp_path, monkeypatch, make, size):
    monkeypatch.chdir(tmp_path)
    planner = learn(make(tmp_path), name="circle")
    assert planner.plan(starts=[size, 0], goals=[-size, 0], snap=True).complete
