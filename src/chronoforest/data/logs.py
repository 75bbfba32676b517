"""Recordings of programs and robots, read as named columns: arrays of NumPy, datasets of Minari and LeRobot,
bags of ROS 1 and 2 and MCAP files, which are read without ROS."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.columns import Column, Table, shortened
from chronoforest.errors import BadDataset
from chronoforest.files import DAMAGE, reading
from chronoforest.names import optional

PICKLE = (
    "pickles are not opened, because they can run programs; save its arrays with np.savez, as x, y, episode "
    "and time or observations, terminals and timeouts"
)
"""Advice on files that hold Python objects."""

INFO = Path("meta", "info.json")
"""What a folder of LeRobot says of itself."""


def read_numpy(path: Path) -> dict[str, Column]:
    """Arrays by name, field or position; rows of a stack [E, T, D] also have an episode and a number."""
    with reading(path, "a NumPy file", BadDataset):
        try:
            loaded = np.load(path, allow_pickle=False)
            with loaded if isinstance(loaded, np.lib.npyio.NpzFile) else nullcontext({"": loaded}) as named:
                arrays = dict(named)
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise ValueError(f"it holds Python objects; {PICKLE}") from error
    arrays = {name: array for name, array in arrays.items() if array.ndim > 0}
    shape = next((array.shape[:2] for array in arrays.values() if array.ndim == 3), None)
    if shape is not None:
        arrays = {name: _flat(path, name, array, shape) for name, array in arrays.items()}
        episode, frame = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
        arrays = {"episode": episode, "frame": frame, **arrays}
    return dict(column for name, array in arrays.items() for column in _named_columns(path, name, array))


def _flat(path: Path, name: str, array: Column, shape: tuple[int, ...]) -> Column:
    """[E × T, …] of an array [E, T, …] of every row or [E] of all rows of an episode."""
    if array.shape[:2] == shape:
        return array.reshape(shape[0] * shape[1], *array.shape[2:])
    if array.shape == shape[:1]:
        return np.repeat(array, shape[1])
    expected = f"[{shape[0]}, {shape[1]}, …] as others have"
    raise BadDataset(f"{path}: array {name!r} has shape {list(array.shape)}, expected {expected}")


def _named_columns(path: Path, name: str, array: Column) -> Iterator[tuple[str, Column]]:
    """[N] is a column; [N, D] gives NAME.0, NAME.1, …; fields of a structured array keep their names."""
    stem = f"{name}." if name else ""
    if array.dtype.names:
        yield from ((f"{stem}{field}", array[field].reshape(-1)) for field in array.dtype.names)
    elif array.ndim == 1:
        yield name or "0", array
    elif array.ndim == 2:
        yield from ((f"{stem}{k}", column) for k, column in enumerate(array.T))
    else:
        raise BadDataset(f"{path}: array {name!r} has shape {list(array.shape)}, expected [rows, columns]")


def read_minari(name: str) -> dict[str, Column]:
    """All episodes of a local Minari dataset: observations.0, …, actions.0, …, episode and frame."""
    minari = optional("minari", "minari")
    parts = []
    try:
        for episode in minari.load_dataset(name).iterate_episodes():
            columns = dict(_flattened("observations", episode.observations))
            frame = np.arange(len(next(iter(columns.values()))))
            # After the last observation nothing was done: it repeats the last action.
            actions = dict(_flattened("actions", episode.actions))
            columns |= {key: values[np.minimum(frame, len(values) - 1)] for key, values in actions.items()}
            parts.append({**columns, "episode": np.full(len(frame), episode.id), "frame": frame})
    except (ImportError, *DAMAGE) as error:
        raise BadDataset(
            f"minari:{name}: cannot be read ({shortened(str(error))}); "
            f"`minari download {name}` fetches it, `minari list local` shows what is there"
        ) from error
    if not parts:
        raise BadDataset(f"minari:{name}: no episodes")
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _flattened(name: str, values: Any) -> Iterator[tuple[str, Column]]:
    """Nested dictionaries and arrays [N, …] as columns with dotted names."""
    if isinstance(values, Mapping):
        for key, inner in values.items():
            yield from _flattened(f"{name}.{key}", inner)
    else:
        flat = np.asarray(values).reshape(len(values), -1)
        yield from ((f"{name}.{k}", column) for k, column in enumerate(flat.T))


def is_lerobot(folder: Path) -> bool:
    """Whether a folder says that it is a dataset of LeRobot."""
    path = folder / INFO
    return path.is_file() and b'"codebase_version"' in path.read_bytes()


def read_lerobot(folder: Path) -> dict[str, Column]:
    """All rows of a LeRobot dataset, of version 2 or 3, without pictures; what a feature of several numbers
    calls them names its columns: observation.state.x, or observation.state.0 where it calls them nothing."""
    pyarrow, parquet = optional("pyarrow", "parquet"), optional("pyarrow.parquet", "parquet")
    features = json.loads((folder / INFO).read_text())["features"]
    kept = [name for name, about in features.items() if about["dtype"] not in ("image", "video")]
    files = sorted(folder.glob("data/**/*.parquet"))
    if not files:
        raise BadDataset("there is no data/chunk-000/file-000.parquet")
    rows = pyarrow.concat_tables([parquet.read_table(path, columns=kept) for path in files])
    columns: dict[str, Column] = {}
    for name in rows.column_names:
        cells = rows.column(name).combine_chunks()
        while pyarrow.types.is_nested(cells.type):
            cells = cells.flatten()
        flat = cells.to_numpy(zero_copy_only=False).reshape(len(rows), -1)
        names = features[name].get("names") or ()
        while isinstance(names, Mapping):  # {"motors": ["x", "y"]}
            names = next(iter(names.values()), ())
        labels = names if len(set(names)) == flat.shape[1] else range(flat.shape[1])
        numbers = {f"{name}.{label}": column for label, column in zip(labels, flat.T, strict=True)}
        columns |= {name: flat[:, 0]} if flat.shape[1] == 1 else numbers
    return columns


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
    """Places over time of the kind of message that moves most often; each topic is a vehicle."""
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
