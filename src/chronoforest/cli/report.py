"""`chronoforest report`: tables and figures of records that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from chronoforest.errors import BadResult

Folder = Annotated[Positional[Path], arg(metavar="FOLDER")]


def report(folder: Folder, suites: str | None = None) -> None:
    """Write tables and figures from the records of a folder; runs nothing.

    Args:
        folder: where the records are; the report goes to FOLDER/report.
        suites: module with the suites that made them; `chronoforest bench`'s, or the paper's when their
            module lies in the current folder and knows more of the files, unless told.
    """
    if not folder.is_dir():
        raise BadResult(
            f"{folder}: no such folder; `chronoforest bench SUITE --out FOLDER` makes records in one"
        )
    from chronoforest.report.contents import contents_of, known_contents
    from chronoforest.report.page import write_report
    from chronoforest.report.tables import CONTENTS

    contents = contents_of(suites) if suites is not None else known_contents(folder, CONTENTS)
    page = write_report(folder, contents)
    print(f"{page}: one page that needs nothing else; report.md, tables and figures beside it")
