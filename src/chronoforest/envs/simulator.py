"""MuJoCo without the need for OpenGL."""

from __future__ import annotations

import logging
import os
from typing import Any

from chronoforest.errors import MissingExtra

logger = logging.getLogger(__name__)


def import_mujoco() -> Any:
    """The module `mujoco`, also where the OpenGL library that MUJOCO_GL asks for is missing.

    MuJoCo loads that library while it is imported, although only rendering needs it.
    """
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise MissingExtra("mujoco", "sim") from error
    except Exception as error:  # the bindings raise what they like: AttributeError, ImportError, RuntimeError
        if "MUJOCO_GL" not in os.environ:
            raise
        logger.info("MuJoCo is loaded without OpenGL: %r", error)
        return _import_without_gl()
    return mujoco


def _import_without_gl() -> Any:
    chosen = os.environ["MUJOCO_GL"]
    os.environ["MUJOCO_GL"] = "disable"
    try:
        import mujoco
    finally:
        os.environ["MUJOCO_GL"] = chosen
    return mujoco
