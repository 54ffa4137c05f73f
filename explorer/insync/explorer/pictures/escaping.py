"""Texts of a trace as texts of a page, a drawing, a diagram or a table: whatever is in them, they are never markup."""

from __future__ import annotations

import re

from insync.model.visible_text import visible

__all__ = ["attribute", "in_markdown", "in_markdown_code", "in_mermaid", "in_xml"]

_ILLEGAL = re.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""What XML does not allow, escaped or not, beside control characters."""

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~&$!]|(?<!\w)[@#](?=\w)|://|\bwww\.|^\s*\d+[.)](?=\s|$)|^[-+=#]")
"""What has a meaning in Markdown, or becomes a link or a mention of somebody where it is shown."""

_UNSEEN = "&#8203;"
"""A blank of no width: it keeps what stands at its sides apart."""

_ENTITIES = {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    "@": f"@{_UNSEEN}",
    "#": f"\\#{_UNSEEN}",
    "://": f":{_UNSEEN}//",
    "www.": f"www{_UNSEEN}.",
}

_IN_MERMAID = re.compile(r"[^\w \-.,()+@/=!?*'\[\]|:\u0080-\uffff]|\bend\b")
"""What ends a line of Mermaid, begins a number or a comment, or is a word of its language."""


def in_xml(text: str) -> str:
    """Return a text as it stands between the tags of HTML or SVG."""
    clean = _clean(text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(text: str) -> str:
    """Return a text as the value of an attribute of HTML or SVG, in quotation marks."""
    value = in_xml(" ".join(re.split(r"[\n\r\t]", text))).replace('"', "&quot;").replace("'", "&#39;")
    return f'"{value}"'


def in_mermaid(text: str) -> str:
    """Return a text as it stands in a message or a note of Mermaid: what has a meaning there is written as a number."""
    one_line = " ".join(_clean(text).split())
    return _IN_MERMAID.sub(lambda found: f"#{ord(found[0][0])};{found[0][1:]}", one_line) or "#8203;"


def in_markdown(text: str) -> str:
    """Return a text as it stands in a paragraph or a cell of a table of Markdown."""
    one_line = " ".join(_clean(text).split())
    return _MARKDOWN.sub(_escaped, one_line)


def in_markdown_code(text: str, *, cell: bool = False) -> str:
    """Return a text as code in a line; `cell` says that it is one of a table, which a bar would end."""
    one_line = " ".join(_clean(text).split())
    if not one_line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", one_line)), default=0) + 1)
    padded = f" {one_line} " if one_line[0] == "`" or one_line[-1] == "`" else one_line
    code = f"{fence}{padded}{fence}"
    return code.replace("|", r"\|") if cell else code


def _escaped(found: re.Match[str]) -> str:
    mark = found[0]
    if mark[-1] in ".)" and mark != "www.":
        return f"{mark[:-1]}\\{mark[-1]}"
    return _ENTITIES.get(mark, f"\\{mark}")


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", visible(text))
