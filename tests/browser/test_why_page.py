"""The page with the counts in the margin of the source, in a browser: anybody can read it, and it asks no network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import why
from insync.explorer.coverage.source_page import why_page
from insync_worksite import Worksite

Opened = Callable[..., Any]
Judge = Callable[[str], Path]

WIDE: dict[str, Any] = {"viewport": {"width": 1300, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "is_mobile": True}
LEVEL_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture(scope="module")
def text() -> str:
    return why_page(why(Worksite))


@pytest.mark.parametrize("like", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_level_aa(
    opened: Opened, judge: Judge, text: str, like: dict[str, Any], scheme: str
) -> None:
    page = opened(text, **like, color_scheme=scheme)
    page.add_script_tag(path=judge("axe-core/axe.min.js"))
    found = page.evaluate("tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", LEVEL_AA)
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("width", [320, 768, 1300])
def test_the_page_is_no_wider_than_the_screen(opened: Opened, text: str, width: int) -> None:
    page = opened(text, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [718, 739], ids=["A4", "letter"])
def test_a_sheet_of_paper_has_room_for_counts_and_source(opened: Opened, width: int) -> None:
    page = opened(why_page(why("kip320", bounds={"replicas": 2})), viewport={"width": width, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".source").first.evaluate("e => e.rows[0].cells[2].clientWidth") > 450


def test_an_action_leads_to_its_line_and_nothing_is_asked_of_a_network(opened: Opened, text: str) -> None:
    page = opened(text, **WIDE)
    page.get_by_role("link", name="rest").click()
    assert page.locator("tr:target td").first.inner_text() == "59"
    assert len(page.asked) == 1
