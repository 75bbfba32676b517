"""Recordings in logs of robots: bags of ROS 1 and 2, and MCAP files, read without ROS."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.tables import Column, Table
from chronoforest.errors import BadDataset
from chronoforest.files import reading
from chronoforest.names import optional

Place = tuple[str, float, float]
"""What moves, beside its topic, and where it is."""


def _posed(message: Any) -> Iterator[Place]:
    pose = message.pose.pose if hasattr(message.pose, "pose") else message.pose
    yield "", pose.position.x, pose.position.y


def _transformed(message: Any) -> Iterator[Place]:
    for one in getattr(message, "transforms", [message]):
        if "base" in one.child_frame_id:  # the body, and not its wheels or what corrects its odometry
            move = one.transform.translation
            yield f" {one.header.frame_id} to {one.child_frame_id}", move.x, move.y


def _fixed(message: Any) -> Iterator[Place]:
    if message.status.status >= 0:
        yield "", message.longitude, message.latitude


KINDS: dict[str, Callable[[Any], Iterator[Place]]] = {
    "geometry_msgs/msg/PoseWithCovarianceStamped": _posed,
    "nav_msgs/msg/Odometry": _posed,
    "sensor_msgs/msg/NavSatFix": _fixed,
    "geometry_msgs/msg/PoseStamped": _posed,
    "tf2_msgs/msg/TFMessage": _transformed,
    "geometry_msgs/msg/TransformStamped": _transformed,
}
"""Messages with places. Of several that move, those with the most are read: a body is in all of them."""


def read_bag(path: Path) -> Table:
    """Places over time of the kind of message that moves most often; each topic is a vehicle of its own, and
    the table is named by them."""
    found = _places(path)
    moving = {key: rows for key, rows in found.items() if np.ptp(np.array(rows), axis=0)[1:].any()}
    if not moving:
        seen = f"{', '.join(sorted({topic for _, topic in found}))} stand still" if found else "there is none"
        raise BadDataset(f"{path}: no message in it moves; read are {', '.join(KINDS)}; {seen}")
    counts: dict[str, int] = defaultdict(int)
    for (kind, _), rows in moving.items():
        counts[kind] += len(rows)
    chosen = max(KINDS, key=lambda kind: counts[kind])
    tracks = {topic: np.array(rows) for (kind, topic), rows in moving.items() if kind == chosen}
    time, x, y = np.concatenate(list(tracks.values())).T
    names = ("longitude", "latitude") if KINDS[chosen] is _fixed else ("x", "y")
    vehicle = np.repeat(list(tracks), [len(rows) for rows in tracks.values()])
    columns: dict[str, Column] = {"vehicle": vehicle, "time": time, names[0]: x, names[1]: y}
    return Table(f"{path} ({', '.join(tracks)}: {chosen})", columns)


def _places(path: Path) -> dict[tuple[str, str], list[tuple[float, float, float]]]:
    """[time, x, y] of every kind of message with places, by kind and topic; seconds since 1970."""
    highlevel = optional("rosbags.highlevel", "robot")
    typesys = optional("rosbags.typesys", "robot")
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    # Older files of ROS 2 do not say what their messages are made of; these have not changed since.
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    with reading(path, "a bag of ROS", BadDataset):
        try:
            with highlevel.AnyReader([path], default_typestore=store) as bag:
                wanted = [one for one in bag.connections if one.msgtype in KINDS]
                for connection, nanoseconds, raw in bag.messages(wanted) if wanted else ():
                    kind = connection.msgtype
                    for what, x, y in KINDS[kind](bag.deserialize(raw, kind)):
                        found[kind, connection.topic + what].append((nanoseconds / 1e9, x, y))
        except highlevel.AnyReaderError as error:
            raise BadDataset(str(error)) from error
    return found
