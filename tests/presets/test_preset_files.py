"""Presets in TOML: what is written is read, and what no preset has is refused by name."""

import re
import tomllib
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path

import pytest
from toy_world import as_tables

from chronoforest.errors import BadPresetFile, CannotWrite, InvalidParameter
from chronoforest.presets.named import (
    Preset,
    Setting,
    load_preset,
    overlay,
    read_preset_file,
    write_preset_file,
)
from chronoforest.types import WorldParams

FILE = Path("some.toml")


@dataclass(frozen=True)
class Inner:
    count: int = 1
    size: float = 0.5
    is_on: bool = True
    scales: tuple[float, ...] = (1.0,)

    def __post_init__(self):
        if self.size < 0:
            raise InvalidParameter(f"size must not be negative, got {self.size}")


@dataclass(frozen=True)
class Outer:
    word: str = "a"
    inner: Inner = field(default_factory=Inner)


def test_tables_overlay_the_fields_they_name_and_no_others():
    changed = overlay(Outer(), {"inner": {"size": 2, "scales": [3, 0.5], "is_on": False}}, FILE)
    assert changed == Outer(inner=Inner(size=2.0, scales=(3.0, 0.5), is_on=False))
    assert isinstance(changed.inner.size, float)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"inter": {}}, "unknown key inter; the file may set: word, inner"),
        ({"inner": {"cuont": 1}}, "unknown key inner.cuont; inner may set: count, size, is_on, scales"),
        ({"inner": 3}, r"inner must be a table \[inner\], got 3"),
        ({"inner": {"count": 1.5}}, "inner.count: .* got 1.5"),
        ({"inner": {"count": True}}, "inner.count: .* got True"),
        ({"inner": {"size": "big"}}, "inner.size: .* got 'big'"),
        ({"inner": {"size": True}}, "inner.size: .* got True"),
        ({"inner": {"is_on": 1}}, "inner.is_on: .* got 1"),
        ({"inner": {"scales": ["a"]}}, "inner.scales: .* got 'a'"),
        ({"inner": {"scales": 1.0}}, "inner.scales: .* got 1.0"),
        ({"word": 1}, "word: .* got 1"),
        ({"inner": {"size": -1}}, "in inner: size must not be negative, got -1.0"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_name_and_what_would(tables, sentence):
    with pytest.raises(BadPresetFile, match=f"some.toml.*: {sentence}"):
        overlay(Outer(), tables, FILE)


def test_settings_are_written_with_their_reasons_and_read_as_they_were(tmp_path):
    settings = [
        Setting("word", "b.npz", "a name"),
        Setting("inner.count", 4, "of things"),
        Setting("inner.scales", (1.5, 0.0), "two of them"),
        Setting("inner.is_on", False, "never"),
    ]
    path = tmp_path / "new" / "x.toml"
    write_preset_file(path, ["A head"], settings)
    text = path.read_text()
    assert text.startswith("# A head\n")
    assert "count = 4  # of things" in text
    assert tomllib.loads(text)["inner"]["scales"] == [1.5, 0.0]
    assert overlay(Outer(), read_preset_file(path), path) == overlay(Outer(), as_tables(settings), path)
    assert [child.name for child in path.parent.iterdir()] == ["x.toml"]


def test_a_file_that_is_missing_or_no_toml_is_one_sentence(tmp_path):
    with pytest.raises(BadPresetFile, match="no such file"):
        read_preset_file(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_text("a = = 1")
    with pytest.raises(BadPresetFile, match="not TOML"):
        read_preset_file(tmp_path / "odd.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadPresetFile, match="not TOML"):
        read_preset_file(tmp_path / "bytes.toml")


def test_an_impossible_place_is_one_sentence(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(CannotWrite, match="cannot write"):
        write_preset_file(tmp_path / "taken" / "x.toml", [], [])


def number_fields(params, where=""):
    """Dotted names of all numbers that a preset file may set."""
    for known in fields(params):
        value, name = getattr(params, known.name), f"{where}{known.name}"
        if is_dataclass(value) and not (where and isinstance(value, WorldParams)):
            yield from number_fields(value, f"{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf"])
def test_no_number_of_a_preset_may_be_infinite_or_none_at_all(odd, tmp_path):
    path = tmp_path / "odd.toml"
    for name in number_fields(Preset("any")):
        table, _, key = name.rpartition(".")
        path.write_text(f"{f'[{table}]' if table else ''}\n{key} = {odd}\n")
        with pytest.raises(BadPresetFile, match=re.escape(key)):
            load_preset(path)
