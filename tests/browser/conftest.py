"""A browser for the tests of pages: Chromium, headless, as the system has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser; the tests are skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")
    found = os.environ.get("INSYNC_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium; install it, or name it with INSYNC_CHROMIUM")
    with api.sync_playwright() as started:
        running = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the text of a page, with what the browser is to be like; a page whose script fails is a failure."""
    contexts: list[Any] = []
    faults: list[str] = []

    def opens(text: str, name: str = "page.html", **like: Any) -> Any:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(**like))
        page = contexts[-1].new_page()
        page.set_default_timeout(10_000)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.goto(file.as_uri())
        return page

    yield opens
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def judge() -> Callable[[str], Path]:
    """The file of a package that pages and diagrams are judged with; the tests are skipped without it."""

    def file(path: str) -> Path:
        found = HERE / "node_modules" / path
        if not found.exists():
            pytest.skip(f"{path} is not installed: make browser")
        return found

    return file
