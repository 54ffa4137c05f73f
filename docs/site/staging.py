"""The pages of the repository as sources of the site: links go to its pages, and to copies of what else is linked."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from navigation import ROOT, address, chapters, pages, sections
from notebook_pages import notebook_page

__all__ = ["links", "stage"]

_LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")  # from the end of the text, which may begin a line before
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_ORPHAN = "---\norphan: true\n---\n\n"
_SOURCES = {".py": "python", ".patch": "diff", ".json": "json", ".java": "java", ".toml": "toml"}


def stage(folder: Path) -> None:
    """Write the sources of the site into an empty folder, but for what is generated from the code."""
    linked: set[str] = set()
    for path in pages():
        page = address(path) or ""
        inside = _contents("", [f"/{name}" for name in chapters(page)])
        _write(folder, f"{page}.md", _rewritten(path, linked) + inside)
    for path in sorted(linked):
        for file in sorted((ROOT / path).glob("*.py")) if (ROOT / path).is_dir() else [ROOT / path]:
            _write_source(folder, file.relative_to(ROOT).as_posix())
        if (ROOT / path).is_dir():
            _write(folder, f"source/{path}.md", _folder_page(path))
    for picture in (ROOT / "docs").rglob("*.svg"):
        target = folder / picture.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, target)
    with (folder / "index.md").open("a") as index:
        index.write("".join(_contents(title, names) for title, names in sections().items()))


def links(path: str) -> Iterator[tuple[str, str]]:
    """Yield the target of each relative link of a page, from the root of the repository, and its anchor."""
    for line in _text_lines(path):
        for match in _LINK.finditer(line):
            target, anchor = match[1], (match[2] or "")[1:]
            if not re.match(r"[a-z]+:", target):
                yield _resolved(path, target), anchor


def _resolved(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path


def _text_of(path: str) -> str:
    """Return a page as Markdown."""
    text = (ROOT / path).read_text()
    return notebook_page(text) if path.endswith(".ipynb") else text


def _text_lines(path: str) -> Iterator[str]:
    """Yield the lines of a page that are not code."""
    fence = ""
    for line in _text_of(path).splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        elif not fence and not line.startswith("    "):
            yield line


def _rewritten(path: str, linked: set[str]) -> str:
    """Return the text of a page with its links as they are in the site; what they need is added to `linked`."""
    here, text, fence = address(path) or f"source/{path}", [], ""
    for line in _text_of(path).splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        inside = fence or line.startswith("    ")
        text.append(line if inside else _LINK.sub(lambda match: _relinked(match, path, here, linked), line))
    return "\n".join(text) + "\n"


def _relinked(match: re.Match[str], path: str, here: str, linked: set[str]) -> str:
    target, anchor = match[1], match[2] or ""
    if not target or re.match(r"[a-z]+:", target):
        return match[0]
    found = _resolved(path, target)
    if (ROOT / found / "README.md").is_file():
        found = f"{found}/README.md"
    page = address(found)
    if found.endswith(".svg"):
        return f"]({_relative(found.removeprefix('docs/'), here)})"
    if page is None:
        linked.add(found)
        page = f"source/{found}"
    return f"]({_relative(f'{page}.md', here)}{anchor})"


def _relative(target: str, here: str) -> str:
    return os.path.relpath(target, posixpath.dirname(here) or ".")


def _write_source(folder: Path, path: str) -> None:
    """Write a page that has a file of the repository as it is."""
    text = (ROOT / path).read_text()
    if path.endswith(".md"):
        _write(folder, f"source/{path}.md", _ORPHAN + _rewritten(path, set()))
        return
    language = _SOURCES.get(Path(path).suffix, "text")
    body = f"{_ORPHAN}# {Path(path).name}\n\n`{path}`\n\n`````{language}\n{text}`````\n"
    _write(folder, f"source/{path}.md", body)


def _folder_page(path: str) -> str:
    """Return a page that lists the Python files of a folder."""
    name = Path(path).name
    files = "".join(f"- [{file.name}]({name}/{file.name}.md)\n" for file in sorted((ROOT / path).glob("*.py")))
    return f"{_ORPHAN}# {name}\n\n`{path}`\n\n{files}"


def _contents(title: str, names: list[str]) -> str:
    if not names:
        return ""
    caption, listed = f":caption: {title}\n" if title else "", "\n".join(names)
    return f"\n```{{toctree}}\n{caption}:hidden:\n:maxdepth: 1\n\n{listed}\n```\n"


def _write(folder: Path, name: str, text: str) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
