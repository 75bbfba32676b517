"""`chronoforest report`: tables and figures of records that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

Folder = Annotated[Positional[Path], arg(metavar="FOLDER")]


def report(folder: Folder) -> None:
    """Write the paper's tables and figures from the records of `chronoforest bench paper`; runs nothing.

    Args:
        folder: where the records are; the report goes to FOLDER/report.
    """
    from chronoforest.report.page import write_report

    page = write_report(folder)
    print(f"{page}: one page that needs nothing else; report.md, tables and figures beside it")
