"""Presets in TOML: what is written is read, and what no preset has is refused by name."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from toy_world import as_tables

from chronoforest.errors import BadPresetFile, CannotWrite, InvalidParameter
from chronoforest.presets.files import Setting, overlay, read_preset_file, write_preset_file

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
        ({"inner": {"count": 1.5}}, "inner.count must be a whole number, got 1.5"),
        ({"inner": {"count": True}}, "inner.count must be a whole number, got True"),
        ({"inner": {"size": "big"}}, "inner.size must be a number, got 'big'"),
        ({"inner": {"size": True}}, "inner.size must be a number, got True"),
        ({"inner": {"is_on": 1}}, "inner.is_on must be true or false, got 1"),
        ({"inner": {"scales": ["a"]}}, r"inner.scales must be a list of numbers, got \['a'\]"),
        ({"inner": {"scales": 1.0}}, "inner.scales must be a list of numbers, got 1.0"),
        ({"word": 1}, "word must be a text, got 1"),
        ({"inner": {"size": -1}}, "in inner: size must not be negative, got -1.0"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_name_and_what_would(tables, sentence):
    with pytest.raises(BadPresetFile, match=f"some.toml: {sentence}"):
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
