"""The README as a package index shows it; everything else about the package is in pyproject.toml."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RELATIVE = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def shown_readme(text: str) -> str:
    """The README with links and pictures that lead to the repository as it was at this version."""
    home, tag = PROJECT["urls"]["Homepage"], f"v{PROJECT['version']}"

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({home}/{kind}/{tag}/{link[3]})"

    return RELATIVE.sub(absolute, text)


if __name__ == "__main__":
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    setup(long_description=shown_readme(readme), long_description_content_type="text/markdown")
