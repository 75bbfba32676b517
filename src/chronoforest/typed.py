"""Plain values, as JSON has them, as the dataclasses they were written from: of the declared types, and
finite."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from chronoforest.errors import InvalidParameter

Value = TypeVar("Value")
Reader = Callable[[tuple[Any, ...], Any, str], Any]


def from_plain(kind: type[Value], value: Any, where: str = "") -> Value:
    """A dataclass from a mapping of its fields, nested ones included; what does not fit raises ValueError.

    `where` names the value in messages. JSON knows no infinity: null where a number must be is infinity.
    """
    built: Value = _built(kind, value, where)
    return built


def check_whole(name: str, value: object, least: int = 0) -> None:
    """Refuse a parameter that is not a whole number of at least `least`, or too large for 63 bits."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or not least <= value < 2**63:  # type: ignore[operator]
        raise InvalidParameter(f"{name} must be a whole number of {least} or more, got {value!r:.40}")


def check_seconds(name: str, value: object) -> None:
    """Refuse what is no time that can pass: seconds of 0 or more, and finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InvalidParameter(f"{name} must be a number, got {value!r:.40}")
    if not 0 <= value < math.inf:  # also NaN, which no time ever reaches
        raise InvalidParameter(f"{name} must be 0 or more and finite, got {value}")


def _built(kind: Any, value: Any, where: str) -> Any:
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    if is_dataclass(kind):
        return _dataclass(kind, value, where)
    return _READERS[get_origin(kind) or kind](get_args(kind), value, where)


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _odd(where, "an object", value)
    unknown = value.keys() - {f.name for f in fields(kind)}
    missing = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    missing -= value.keys()
    if unknown or missing:
        raise ValueError(
            f"{where or 'it'} lacks {sorted(missing)} and has {sorted(unknown)} that nobody knows"
        )
    return kind(**{name: _built(_kinds(kind)[name], part, f"{where}.{name}") for name, part in value.items()})


@cache
def _kinds(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _plain(kind: type, words: str) -> Reader:
    """Takes a value of that type as it is; a truth is no number."""

    def read(_: tuple[Any, ...], value: Any, where: str) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
            raise _odd(where, words, value)
        return value

    return read


def _number(_: tuple[Any, ...], value: Any, where: str) -> float:
    if value is None:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _odd(where, "a finite number", value)
    return float(value)


def _list(kinds: tuple[Any, ...], value: Any, where: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise _odd(where, "a list", value)
    return [_built(kinds[0], item, f"{where}[{k}]") for k, item in enumerate(value)]


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if kinds[-1] is Ellipsis:
        return tuple(_list(kinds, value, where))
    if not isinstance(value, (list, tuple)) or len(value) != len(kinds):
        raise _odd(where, f"{len(kinds)} values", value)
    return tuple(_built(kinds[k], item, f"{where}[{k}]") for k, item in enumerate(value))


def _array(_: tuple[Any, ...], value: Any, where: str) -> Any:
    array = np.array(value, dtype=np.float64)
    if not np.isfinite(array).all():
        raise _odd(where, "finite numbers", "NaN or infinity")
    return array


def _either(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """Something or nothing."""
    if value is None:
        return None
    return _built(next(kind for kind in kinds if kind is not types.NoneType), value, where)


def _choice(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    if value not in choices:
        raise _odd(where, f"one of {choices}", value)
    return value


_READERS: dict[Any, Reader] = {
    int: _plain(int, "a whole number"),
    float: _number,
    bool: _plain(bool, "true or false"),
    str: _plain(str, "a text"),
    list: _list,
    tuple: _tuple,
    np.ndarray: _array,
    Union: _either,
    types.UnionType: _either,
    Literal: _choice,
    Mapping: _plain(Mapping, "an object"),
}
"""What reads a value of each declared type, whose arguments (such as the items' type) come first."""


def _odd(where: str, expected: str, value: Any) -> ValueError:
    return ValueError(f"{where.removeprefix('.') or 'it'} must be {expected}, got {value!r:.80}")
