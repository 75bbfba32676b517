"""A preset's TOML with any values is a preset or is refused."""

from dataclasses import fields, is_dataclass

from damage import cases, damaged_bytes, ends_well, numbers, odd
from hypothesis import given
from hypothesis import strategies as st

from chronoforest.presets.named import Preset, Setting, load_preset, write_preset_file


def settings_of(params, where=""):
    """Dotted names and values of every field."""
    for field in fields(params):
        value, name = getattr(params, field.name), f"{where}{field.name}"
        if is_dataclass(value):
            yield from settings_of(value, f"{name}.")
        elif isinstance(value, (bool, int, float, str, tuple)):
            yield name, value


KNOWN = [(name, value) for name, value in settings_of(Preset("any")) if name != "name"]


def shown(value):
    """A value as TOML, or as what is none."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("'", '"')


@st.composite
def texts(draw):
    lines = []
    for name, value in draw(st.lists(st.sampled_from(KNOWN), min_size=1, max_size=3)):
        near = st.sampled_from([value, -1, 0, 1, 2, 0.5, 1e300, "nan", "inf", 10**30])
        lines.append(f"{name} = {shown(draw(st.one_of(near, numbers, odd)))}")
    return "\n".join(lines) + "\n"


def whole_file(path):
    write_preset_file(path, ["all"], [Setting(name, value, "as it is") for name, value in KNOWN])
    return path.read_bytes()


@cases(200)
@given(texts())
def test_a_preset_with_odd_values_is_one_or_is_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "odd.toml"
    path.write_text(text)
    preset = ends_well(load_preset, path)
    assert preset is None or preset.name == "odd"


@cases(100)
@given(st.data())
def test_a_damaged_preset_is_one_or_is_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "odd.toml"
    path.write_bytes(data.draw(damaged_bytes(whole_file(path))))
    ends_well(load_preset, path)
