"""The hook of the build: the README and the addresses as an index shows them.

README.md links to other files of the repository, and an index has none of them. `INSYNC_REPOSITORY` is the address of
the repository that publishes, which the release workflow sets: links then lead to the files of the released version.
In a build without it they are plain text, and the package names no addresses, so that none leads nowhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["AddressesHook", "addresses", "readme_text"]

_CODE = re.compile(r"(^```[\s\S]*?^```$|^ {4}.*$)", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


class AddressesHook(MetadataHookInterface):
    """Gives the package its description and its addresses."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = os.environ.get("INSYNC_REPOSITORY", "").rstrip("/")
        shown = readme_text(text, repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
        metadata["urls"] = addresses(repository, metadata["version"])


def readme_text(text: str, repository: str, version: str) -> str:
    """Return the README with links to the tag of the version, or without an address with their words alone."""

    def shown(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if not repository:
            return f"*{words}*" if picture else words
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/v{version}/{target})"

    parts = _CODE.split(text)
    return "".join(part if number % 2 else _LINK.sub(shown, part) for number, part in enumerate(parts))


def addresses(repository: str, version: str) -> dict[str, str]:
    """Return the addresses of the package by title, as GitHub lays a repository out; none without a repository."""
    if not repository:
        return {}
    files = f"{repository}/blob/v{version}"
    return {
        "Source": repository,
        "Documentation": f"{files}/docs/index.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
