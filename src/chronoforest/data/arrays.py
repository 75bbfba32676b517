"""Recordings in arrays of NumPy and in datasets of Minari, read as named columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.foreign import PICKLE
from chronoforest.data.textfiles import shortened
from chronoforest.errors import BadDataset
from chronoforest.files import DAMAGE, reading
from chronoforest.modules import optional

Column = NDArray[Any]


def read_numpy(path: Path) -> dict[str, Column]:
    """`.npz` arrays by name; a table in a `.npy` by field or by position."""
    arrays = _loaded(path)
    arrays = {name: array for name, array in arrays.items() if array.ndim > 0}
    stack = next((array for array in arrays.values() if array.ndim == 3), None)
    if stack is not None:
        return _unstacked(path, arrays, stack.shape[:2])
    return dict(column for name, array in arrays.items() for column in _named_columns(path, name, array))


def _loaded(path: Path) -> dict[str, Column]:
    """Arrays by name; nothing that is pickled is opened."""
    with reading(path, "a NumPy file", BadDataset):
        try:
            loaded = np.load(path, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                return {"": loaded}
            with loaded:
                return {name: loaded[name] for name in loaded.files}
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise ValueError(f"it holds Python objects; {PICKLE}") from error


def _unstacked(path: Path, arrays: Mapping[str, Column], shape: tuple[int, ...]) -> dict[str, Column]:
    """Episodes of one length as columns with an episode and a number in it: [E, T, D], [E, T] of every row,
    [E] of all rows of an episode."""
    num_episodes, num_steps = shape
    columns: dict[str, Column] = {
        "episode": np.repeat(np.arange(num_episodes), num_steps),
        "frame": np.tile(np.arange(num_steps), num_episodes),
    }
    for name, array in arrays.items():
        if array.shape[:2] == shape:
            flat = array.reshape(num_episodes * num_steps, *array.shape[2:])
        elif array.shape == shape[:1]:
            flat = np.repeat(array, num_steps)
        else:
            raise BadDataset(
                f"{path}: array {name!r} has shape {list(array.shape)}, expected [{num_episodes}, "
                f"{num_steps}, …] as others have"
            )
        columns |= dict(_named_columns(path, name, flat))
    return columns


def _named_columns(path: Path, name: str, array: Column) -> Iterator[tuple[str, Column]]:
    """[N] is a column; [N, D] gives NAME.0, NAME.1, …; fields of a structured array keep their names."""
    if array.dtype.names:
        for field in array.dtype.names:
            yield _joined(name, field), array[field].reshape(-1)
    elif array.ndim == 1:
        yield name or "0", array
    elif array.ndim == 2:
        for k in range(array.shape[1]):
            yield _joined(name, k), array[:, k]
    else:
        raise BadDataset(f"{path}: array {name!r} has shape {list(array.shape)}, expected [rows, columns]")


def _joined(name: str, part: object) -> str:
    return f"{name}.{part}" if name else str(part)


def read_minari(name: str) -> dict[str, Column]:
    """All episodes of a local Minari dataset: observations.0, …, actions.0, …, episode and frame."""
    minari = optional("minari", "minari")
    try:
        dataset = minari.load_dataset(name)
        parts = [_minari_columns(episode) for episode in dataset.iterate_episodes()]
    except (ImportError, *DAMAGE) as error:
        raise BadDataset(
            f"minari:{name}: cannot be read ({shortened(str(error))}); "
            f"`minari download {name}` fetches it, `minari list local` shows what is there"
        ) from error
    if not parts:
        raise BadDataset(f"minari:{name}: no episodes")
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _minari_columns(episode: Any) -> dict[str, Column]:
    """One episode; its last observation, after which nothing was done, repeats the last action."""
    columns = dict(_flattened("observations", episode.observations))
    num_rows = len(next(iter(columns.values())))
    for key, values in _flattened("actions", episode.actions):
        columns[key] = values[np.minimum(np.arange(num_rows), len(values) - 1)]
    return {**columns, "episode": np.full(num_rows, episode.id), "frame": np.arange(num_rows)}


def _flattened(name: str, values: Any) -> Iterator[tuple[str, Column]]:
    """Nested dictionaries and arrays [N, …] as columns with dotted names."""
    if isinstance(values, Mapping):
        for key, inner in values.items():
            yield from _flattened(f"{name}.{key}", inner)
        return
    array = np.asarray(values)
    flat = array.reshape(len(array), -1)
    for k in range(flat.shape[1]):
        yield f"{name}.{k}", flat[:, k]
