"""Modules that a user names, such as one with a planner or with suites of one's own, and libraries that not
every installation has."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chronoforest.errors import MissingExtra

EXTRAS = {
    "sim": ("mujoco", "ogbench", "gymnasium", "joblib", "imageio_ffmpeg"),
    "view": ("fastapi", "uvicorn"),
    "ray": ("ray",),
}
"""Modules that the package's extras bring."""


def require(extra: str) -> None:
    """Refuse to go on without the modules of an extra; looks for them and imports none."""
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            raise MissingExtra(module, extra)


def value_in(module: str, name: str) -> Any:
    """What a module calls `name`, None where there is no such module or name.

    The module lies on Python's path or in the current folder, where an installed command does not look. One
    that is there and cannot be imported raises what it raises.
    """
    if not is_there(module):
        return None
    return getattr(import_module(module), name, None)


def is_there(module: str) -> bool:
    """Whether a module lies on Python's path or in the current folder; only its packages are imported."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    if module in sys.modules:
        return True
    if not all(part.isidentifier() for part in module.split(".")):
        return False
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # it is something that one of its packages imports
        return False


def optional(module: str, extra: str) -> Any:
    """A library that comes with an extra; where it is not installed, the error says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], extra) from error
