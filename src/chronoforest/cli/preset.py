"""`chronoforest preset`: the presets there are, and one for recordings of your own."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from chronoforest.errors import BadDataset, CannotWrite, InvalidParameter
from chronoforest.names import check_new_name


def list_presets() -> None:
    """List the presets that ship, with their short names, and those of your own in the current folder."""
    from chronoforest.errors import BadPresetFile
    from chronoforest.names import PRESETS

    for short, name in PRESETS.items():
        print(f"{short:<16} {name}")
    for path in sorted(Path().glob("*.toml")):
        from chronoforest.presets.named import read_preset_file  # it takes a second

        with suppress(BadPresetFile):  # a TOML file of something else
            if {"models", "planner", "sampler", "execution"} & read_preset_file(path).keys():
                print(f"{path.stem:<16} {path}")


def new(
    name: Annotated[Positional[str], arg(metavar="NAME")],
    data: Path,
    out: Path | None = None,
    overwrite: bool = False,
    show_all: Annotated[bool, arg(name="all")] = False,
) -> None:
    """Propose a preset from statistics of recordings, as a TOML file to read and edit.

    Args:
        name: of the preset.
        data: the dataset, from `chronoforest data import`.
        out: the file to write; NAME.toml in the current folder unless given.
        overwrite: replace a file that exists.
        show_all: also print the settings that hardly anyone changes; the file has them either way.
    """
    path = out if out is not None else Path(f"{name}.toml")
    check_new_name(name)
    if path.name != f"{name}.toml":
        raise InvalidParameter(
            f"a preset is called after its file: --out must end in {name}.toml, got {path}"
        )
    if path.exists() and not overwrite:
        raise CannotWrite(f"{path} exists already; --overwrite replaces it")
    if not os.path.isfile(data):
        raise BadDataset(f"{data}: no such file; `chronoforest data import` makes one")
    from chronoforest.data.episodes import load
    from chronoforest.presets.named import load_preset, write_preset_file
    from chronoforest.presets.proposal import PLAIN, head, propose

    settings = propose(load(data), Path(os.path.relpath(data, path.parent)).as_posix())
    write_preset_file(path, head("preset new", name), settings)
    load_preset(path)
    for setting in settings:
        if show_all or setting.name in PLAIN:
            words = setting.reason if show_all else PLAIN[setting.name]
            print(f"{setting.name:<40} {setting.value!s:<16} {words}")
    print(f"{path}: written; train with `chronoforest train all --preset {path if out else name}`")
