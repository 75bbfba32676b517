"""Recordings in arrays of NumPy and in datasets of Minari, read as named columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.tables import Column, shortened
from chronoforest.errors import BadDataset
from chronoforest.files import DAMAGE, reading
from chronoforest.names import optional

PICKLE = (
    "pickles are not opened, because they can run programs; save its arrays with np.savez, as x, y, episode "
    "and time or observations, terminals and timeouts"
)
"""Advice on files that hold Python objects."""


def read_numpy(path: Path) -> dict[str, Column]:
    """`.npz` arrays by name; a table in a `.npy` by field or by position. Of a stack of episodes [E, T, D],
    every row also has its episode and its number in it."""
    arrays = {name: array for name, array in _loaded(path).items() if array.ndim > 0}
    shape = next((array.shape[:2] for array in arrays.values() if array.ndim == 3), None)
    if shape is not None:
        arrays = {name: _flat(path, name, array, shape) for name, array in arrays.items()}
        episode, frame = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
        arrays = {"episode": episode, "frame": frame, **arrays}
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
    try:
        parts = [_minari_columns(episode) for episode in minari.load_dataset(name).iterate_episodes()]
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
    frame = np.arange(len(next(iter(columns.values()))))
    actions = dict(_flattened("actions", episode.actions))
    columns |= {key: values[np.minimum(frame, len(values) - 1)] for key, values in actions.items()}
    return {**columns, "episode": np.full(len(frame), episode.id), "frame": frame}


def _flattened(name: str, values: Any) -> Iterator[tuple[str, Column]]:
    """Nested dictionaries and arrays [N, …] as columns with dotted names."""
    if isinstance(values, Mapping):
        for key, inner in values.items():
            yield from _flattened(f"{name}.{key}", inner)
    else:
        flat = np.asarray(values).reshape(len(values), -1)
        yield from ((f"{name}.{k}", column) for k, column in enumerate(flat.T))
