"""Presets in TOML files: tables that overlay the fields of the parameter dataclasses, and nothing else."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from chronoforest.errors import BadPresetFile, InvalidParameter
from chronoforest.files import reading, write_text
from chronoforest.typed import from_plain
from chronoforest.types import WorldParams

Params = TypeVar("Params")
Value = bool | int | float | str | tuple[float, ...]


@dataclass(frozen=True)
class Setting:
    """One value of a preset file: its dotted name, such as `models.window.stride`, and how it was found."""

    name: str
    value: Value
    reason: str

    @property
    def table(self) -> str:
        """The TOML table it belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def key(self) -> str:
        """Its name within the table."""
        return self.name.rpartition(".")[2]


def read_preset_file(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    with reading(path, "TOML", BadPresetFile):
        return tomllib.loads(path.read_text(encoding="utf-8"))


def overlay(params: Params, changes: Mapping[str, Any], path: Path, where: str = "") -> Params:
    """Parameters with the values that `changes` gives for their fields, nested tables included.

    A key that is no field, a value of another type and a value out of range are refused by name.
    """
    assert is_dataclass(params)
    present, kinds, values = _settable(params, where), get_type_hints(type(params)), {}
    for key, value in changes.items():
        name = f"{where}.{key}" if where else key
        if key not in present:
            allowed = f"{where or 'the file'} may set: {', '.join(present)}"
            raise BadPresetFile(
                f"{path}: unknown key {name}; {allowed}; the rest is the same for every preset now"
            )
        if not is_dataclass(present[key]):
            with reading(path, "a preset", BadPresetFile):
                values[key] = from_plain(kinds[key], value, name)
        elif isinstance(value, Mapping):
            values[key] = overlay(present[key], value, path, name)
        else:
            raise BadPresetFile(f"{path}: {name} must be a table [{name}], got {value!r}")
    try:
        changed: Params = replace(params, **values)  # type: ignore[type-var]
    except InvalidParameter as error:
        raise BadPresetFile(f"{path}: in {where or 'the file'}: {error}") from error
    return changed


def write_preset_file(path: Path, head: Iterable[str], settings: Iterable[Setting]) -> None:
    """Write settings grouped by table, each with its reason as a comment; complete or not at all.

    Truths, finite numbers, texts and lists look in TOML as they do in JSON.
    """
    lines = [f"# {line}".rstrip() for line in head]
    for table, group in groupby(settings, key=lambda setting: setting.table):
        lines += ["", f"[{table}]"] if table else [""]
        lines += [
            f"{setting.key} = {json.dumps(setting.value, ensure_ascii=False)}  # {setting.reason}"
            for setting in group
        ]
    write_text(path, "\n".join(lines) + "\n")


def _settable(params: Any, where: str) -> dict[str, Any]:
    """The fields that a file may set: no functions, and the world only once, at the top."""
    values = {field.name: getattr(params, field.name) for field in fields(params)}
    return {
        name: value
        for name, value in values.items()
        if not callable(value) and not (where and isinstance(value, WorldParams))
    }
