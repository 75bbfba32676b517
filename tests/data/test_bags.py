"""Logs of robots, written by the library that reads them."""

import numpy as np
import pytest

from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset
from chronoforest.presets.learning import learn

typesys = pytest.importorskip("rosbags.typesys", reason="bags need the extra robot")
rosbag1 = pytest.importorskip("rosbags.rosbag1")
rosbag2 = pytest.importorskip("rosbags.rosbag2")


COUNT = 150
CIRCLES = 10.0 * np.stack([np.cos(np.arange(COUNT) / 10), np.sin(np.arange(COUNT) / 10)], axis=1)


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


def write(writer, store, topics):
    connections = {}
    with writer:
        for topic, message, second in messages(store):
            if topic not in topics:
                continue
            kind = message.__msgtype__
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            encode = store.serialize_ros1 if isinstance(writer, rosbag1.Writer) else store.serialize_cdr
            content = encode(message, kind)
            writer.write(connections[topic], 10**9 * (1_700_000_000 + second), content)


def bag(tmp_path, ending, topics=("/odom", "/amcl_pose", "/gps")):
    """A bag with some of the topics, in the file that people have."""
    if ending == ".bag":
        write(rosbag1.Writer(tmp_path / "log.bag"), typesys.get_typestore(typesys.Stores.ROS1_NOETIC), topics)
        return tmp_path / "log.bag"
    plugin = rosbag2.StoragePlugin.MCAP if ending == ".mcap" else rosbag2.StoragePlugin.SQLITE3
    writer = rosbag2.Writer(tmp_path / "log", version=9, storage_plugin=plugin)
    write(writer, typesys.get_typestore(typesys.Stores.ROS2_HUMBLE), topics)
    return next((tmp_path / "log").glob(f"*{ending}"))


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


def test_a_file_that_is_no_bag_is_refused(tmp_path):
    for ending in (".bag", ".db3", ".mcap"):
        path = tmp_path / f"odom{ending}"
        path.write_bytes(b"no bag")
        with pytest.raises(BadDataset, match="odom"):
            read_table(path)


def test_a_log_is_learned_and_planned_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planner = learn(bag(tmp_path, ".mcap"), name="robot")
    assert planner.plan(starts=[10, 0], goals=[-10, 0], snap=True).complete


def test_feather_is_read_as_parquet_is(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    columns = {"x": [0.0, 1.0], "y": [2.0, 3.0], "trip": ["a", "a"]}
    for ending in (".feather", ".arrow"):
        feather.write_feather(pyarrow.table(columns), tmp_path / f"walk{ending}")
        np.testing.assert_array_equal(read_table(tmp_path / f"walk{ending}").numbers("y"), [2.0, 3.0])
