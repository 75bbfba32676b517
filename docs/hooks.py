"""Lets the links of the documentation work on the site as they do in the repository.

Pages link to files outside docs/, such as `../src/chronoforest/planner.py` or `../README.md`. On the site
every such file has a page under repository/: Markdown as it is, a notebook with its outputs, everything else
as numbered source. A link whose text names what the file defines leads to the line of the definition.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = PurePosixPath("docs")
OUTSIDE = PurePosixPath("repository")
"""The folder of the site for files that are not in docs/."""

LINK = re.compile(r"\[(?P<text>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
PROSE = (".md", ".ipynb")
"""Endings of files whose links are followed."""

LINE = re.compile(r'id="(__codelineno-\d+-\d+)"')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Give every file outside docs/ that a page leads to a page of its own."""
    waiting = [PAGES / file.src_uri for file in files.documentation_pages()]
    seen = set(waiting)
    while waiting:
        for path in _linked_files(waiting.pop()):
            if path in seen or path.is_relative_to(PAGES):
                continue
            seen.add(path)
            files.append(_page_of(path, config))
            if path.suffix in PROSE:
                waiting.append(path)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between places in the repository into links between places on the site."""
    here = PurePosixPath(page.file.src_uri)
    path = here.relative_to(OUTSIDE) if here.is_relative_to(OUTSIDE) else PAGES / here
    if path.suffixes[-2:] == [".ipynb", ".md"]:
        path = path.with_suffix("")
    if not (ROOT / path).is_file():  # numbered source
        return markdown
    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: _moved(link, path, here), prose) for prose in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Tell the check of links about numbered lines, which it does not see by itself."""
    page.present_anchor_ids = {*(page.present_anchor_ids or ()), *LINE.findall(html)}
    return html


def _linked_files(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """Files of the repository that a Markdown file links to."""
    text = (ROOT / path).read_text()
    prose = "".join(FENCE.split(_notebook(text) if path.suffix == ".ipynb" else text)[::2])
    for link in LINK.finditer(prose):
        target = _target(link["target"], path)
        if target is not None:
            yield target


def _target(link: str, path: PurePosixPath) -> PurePosixPath | None:
    """The file that a link from `path` leads to, relative to the repository; None if it leads to none."""
    address = link.partition("#")[0]
    if ":" in address:  # on the web, or a picture in the text
        return None
    target = PurePosixPath(os.path.normpath(path.parent / address))
    return target if address and (ROOT / target).is_file() else None


def _page_of(path: PurePosixPath, config: MkDocsConfig) -> File:
    """The page for a file outside docs/; the search leaves sources out."""
    content = (ROOT / path).read_text()
    if path.suffix == ".ipynb":
        content = _notebook(content)
    elif path.suffix != ".md":
        language = {".py": "python", ".html": "html"}.get(path.suffix, "text")
        header = f'---\ntitle: "{path}"\nhide: [toc]\nsearch:\n  exclude: true\n---\n\n# `{path}`\n\n'
        content = f'{header}````{{ .{language} linenums="1" }}\n{content.rstrip()}\n````\n'
    uri = str(_place(path))
    return File.generated(config, uri, content=content, inclusion=InclusionLevel.NOT_IN_NAV)


def _notebook(text: str) -> str:
    """A notebook as Markdown: its prose, its code, and what the code printed or drew."""
    return "\n\n".join(part for cell in json.loads(text)["cells"] for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
    for output in cell.get("outputs", ()):
        if "text" in output:
            yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        if picture := output.get("data", {}).get("image/png"):
            yield f"![](data:image/png;base64,{''.join(picture).strip()})"


def _place(path: PurePosixPath) -> PurePosixPath:
    """Where the site has a file of the repository."""
    if path.is_relative_to(PAGES):
        return path.relative_to(PAGES)
    return OUTSIDE / (path if path.suffix == ".md" else f"{path}.md")


def _moved(link: re.Match[str], path: PurePosixPath, here: PurePosixPath) -> str:
    """The link, from where the page is on the site to where its target is."""
    target = _target(link["target"], path)
    if target is None:
        return link[0]
    address = os.path.relpath(_place(target), here.parent)
    fragment = link["target"].partition("#")[2] or _line_of(link["text"], target)
    return f"[{link['text']}]({address}{'#' * bool(fragment)}{fragment})"


def _line_of(text: str, path: PurePosixPath) -> str:
    """The anchor of the line where a Python file defines the name that a link's text is, or nothing."""
    if path.suffix != ".py":
        return ""
    name = re.escape(text.strip("`").split(".")[-1])
    source = (ROOT / path).read_text()
    found = re.search(rf"^[ \t]*(?:def|class) {name}\b|^{name}\b", source, re.MULTILINE)
    return f"__codelineno-0-{source[: found.start()].count(chr(10)) + 1}" if found else ""
