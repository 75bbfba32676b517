"""Modules that a user names, such as one with a planner or with suites of one's own."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def value_in(module: str, name: str) -> Any:
    """What a module calls `name`, None where there is no such module or name.

    The module lies on Python's path or in the current folder, where an installed command does not look. One
    that is there and cannot be imported raises what it raises.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    try:
        return getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # it is something that the module imports
        return None
