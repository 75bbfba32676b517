"""Plain values, as JSON has them, as the dataclasses they were written from: of the declared types, and
finite."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, TypeVar, get_args, get_origin

import numpy as np

from chronoforest.errors import InvalidParameter

Value = TypeVar("Value")


def from_plain(kind: type[Value], value: Any, where: str = "it") -> Value:
    """A dataclass from a mapping of its fields, nested ones included; what does not fit raises ValueError.

    `where` names the value in messages. JSON knows no infinity: null where a number must be is infinity.
    """
    import cattrs  # takes longer to import than most commands
    from cattrs.errors import CattrsError

    try:
        structured: Value = _converter().structure(value, kind)
        return structured
    except (ValueError, CattrsError) as error:
        reasons = (reason.rpartition(" @ ") for reason in cattrs.transform_error(error, where, _reason))
        raise ValueError("; ".join(f"{place}: {reason}" for reason, _, place in reasons)) from error


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


@cache
def _converter() -> Any:
    """cattrs with strict values: by itself it makes 1 of "1" and True, and a list of a text."""
    import cattrs

    converter = cattrs.Converter(forbid_extra_keys=True)

    def items(value: Any, kind: Any) -> Any:
        kinds = get_args(kind)
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"must be a list, got {value!r:.80}")
        if get_origin(kind) is list or kinds[-1] is Ellipsis:
            kinds = kinds[:1] * len(value)
        pairs = zip(value, kinds, strict=True)
        return get_origin(kind)(converter.structure(item, one) for item, one in pairs)

    for kind in (int, bool, str):
        converter.register_structure_hook(kind, _exact)
    converter.register_structure_hook(float, _number)
    for origins, hook in (((np.ndarray,), _array), ((list, tuple), items)):
        converter.register_structure_hook_func(partial(_is_of, origins), hook)
    converter.register_structure_hook_func(
        lambda kind: hasattr(kind, "from_dict"), lambda value, kind: kind.from_dict(value)
    )
    return converter


def _reason(error: BaseException, kind: type | None) -> str:
    from cattrs.errors import ForbiddenExtraKeysError
    from cattrs.v import format_exception

    is_key = isinstance(error, (KeyError, ForbiddenExtraKeysError))
    return format_exception(error, kind) if is_key else str(error)


def _is_of(origins: tuple[type, ...], kind: Any) -> bool:
    return get_origin(kind) in origins


def _exact(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"must be of type {kind.__name__}, got {value!r:.80}")
    return value


def _number(value: Any, _: type) -> float:
    if value is None:
        return math.inf
    if type(value) not in (int, float) or not abs(value) <= np.finfo(float).max:
        raise ValueError(f"must be a finite number, got {value!r:.80}")
    return float(value)


def _array(value: Any, _: type) -> Any:
    array = np.array(value, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("must be finite numbers, got NaN or infinity")
    return array
