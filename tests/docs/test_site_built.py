"""The whole site, built: what `make site` does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from insync.kafka.defects import DEFECTS
from navigation import ROOT, chapters, sections

pytest.importorskip("sphinx", reason="needs the group `site`: pip install $(.ci/group site)")
pytest.importorskip("furo", reason="needs the group `site`")

pytestmark = pytest.mark.timeout(900)


def build(out: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(out)]
    environment = os.environ | {"INSYNC_CODE": "quick"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=840, check=False, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_site_is_built_and_whole(tmp_path: Path) -> None:
    """One test for all of it, as what is long is the building."""
    built = tmp_path / "pages" / "site"
    built.parent.mkdir()
    build(built)
    every_page_is_there(built)
    every_page_leads_to_the_others(built)
    nothing_is_loaded_from_elsewhere(built)
    it_can_be_searched_without_a_server(built)
    for name, defect in DEFECTS.items():
        page, drawn = (built / "catalogue" / f"{name}.html").read_text(), not defect.harmless
        assert defect.title.split("`")[0][:20] in page
        assert (f'<img src="{name}.svg"' in page) == drawn
        for file in [f"{name}.svg", f"{name}-trace.html"] if drawn else []:
            assert (built / "catalogue" / file).stat().st_size < 300_000


def every_page_is_there(built: Path) -> None:
    for names in sections().values():
        for name in (one for opened in names for one in (opened, *chapters(opened))):
            assert (built / f"{name}.html").is_file()


def every_page_leads_to_the_others(built: Path) -> None:
    page = (built / "findings" / "N-01.html").read_text()
    side = page[page.index('class="sidebar-tree"') : page.index("</aside>")]
    links = re.findall(r'<a class="([^"]*)" href="([^"]*)"', side)
    targets = [os.path.normpath(f"findings/{target}") for _, target in links if target]
    placed = [name for names in sections().values() for name in names]
    assert set(targets) | {"findings/N-01.html"} == {f"{name}.html" for name in (*placed, *chapters("findings/index"))}
    assert [kind for kind, target in links if not target] == ["current reference internal"]


def nothing_is_loaded_from_elsewhere(built: Path) -> None:
    loaded = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"https?:|<link[^>]*\shref=\"https?:")
    assert [path.name for path in built.rglob("*.html") if loaded.search(path.read_text())] == []
    styles = [
        path for path in built.rglob("*.css") if re.search(r"@import|url\(['\"]?(?:https?:)?//", path.read_text())
    ]
    assert styles == []


def it_can_be_searched_without_a_server(built: Path) -> None:
    index = (built / "searchindex.js").read_text()
    assert index.startswith("Search.setIndex(")
    assert "watermark" in index
