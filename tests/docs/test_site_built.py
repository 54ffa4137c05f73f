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

pytest.importorskip("sphinx", reason="needs the extra `site`: pip install -e '.[site]'")
pytest.importorskip("furo", reason="needs the extra `site`")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages") / "site"
    command = [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(out)]
    environment = os.environ | {"INSYNC_CODE": "quick"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=840, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_there(built: Path) -> None:
    for names in sections().values():
        for name in (one for opened in names for one in (opened, *chapters(opened))):
            assert (built / f"{name}.html").is_file()


def test_an_entry_of_the_catalogue_has_its_picture_and_its_page_to_step_through(built: Path) -> None:
    for name, defect in DEFECTS.items():
        page = (built / "catalogue" / f"{name}.html").read_text()
        assert (f'<img src="{name}.svg"' in page) == (not defect.harmless)
        for file in [] if defect.harmless else [f"{name}.svg", f"{name}-trace.html"]:
            assert (built / "catalogue" / file).stat().st_size < 300_000


def test_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    loaded = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"https?:|<link[^>]*\shref=\"https?:")
    assert [path.name for path in built.rglob("*.html") if loaded.search(path.read_text())] == []
    styles = [
        path for path in built.rglob("*.css") if re.search(r"@import|url\(['\"]?(?:https?:)?//", path.read_text())
    ]
    assert styles == []


def test_it_can_be_searched_without_a_server(built: Path) -> None:
    index = (built / "searchindex.js").read_text()
    assert index.startswith("Search.setIndex(")
    assert "watermark" in index
