"""The list at the side of each page: sections, their pages, and the chapters of the page that is open.

Sphinx makes it of the whole tree again for each page, which takes two thirds of its time; here it is made of what
`navigation` knows and of titles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

__all__ = ["sidebar"]


def sidebar(
    page: str,
    sections: Mapping[str, Sequence[str]],
    inside: Mapping[str, Sequence[str]],
    title: Callable[[str], str],
    link: Callable[[str], str],
) -> str:
    """Return the list as HTML, with the classes that the theme gives it.

    Args:
        page: the address of the page on which it stands.
        sections: the addresses of the pages, by the title of their section.
        inside: the addresses of the chapters of a page that has some.
        title: the title of a page.
        link: the way to a page from this one.
    """
    parts = []
    for caption, pages in sections.items():
        parts.append(
            f'<p class="caption" role="heading" aria-level="2"><span class="caption-text">{escape(caption)}</span></p>'
        )
        parts.append(_list(pages, 1, page, inside, title, link))
    return "\n".join(parts)


def _list(
    pages: Iterable[str],
    level: int,
    page: str,
    inside: Mapping[str, Sequence[str]],
    title: Callable[[str], str],
    link: Callable[[str], str],
) -> str:
    items = []
    for name in pages:
        below = inside.get(name, ())
        is_open = page == name or page in below
        current = (" current" if is_open else "") + (" current-page" if page == name else "")
        chapters = _list(below, level + 1, page, inside, title, link) if is_open and below else ""
        anchor = f'<a class="{"current " if page == name else ""}reference internal" href="{escape(link(name))}">'
        items.append(f'<li class="toctree-l{level}{current}">{anchor}{escape(title(name))}</a>{chapters}</li>')
    return f"<ul>{''.join(items)}</ul>"
