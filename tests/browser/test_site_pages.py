"""Every page of the site, wide and narrow, light and dark: nothing is clipped, and nothing makes the page wider."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from navigation import ROOT, chapters, sections

PAGES = sorted({one for names in sections().values() for name in names for one in (name, *chapters(name))})

CLIPPED = """() => {
  const name = one => one.tagName.toLowerCase() + (one.className ? "." + one.className : "") + ": " +
    one.textContent.trim().slice(0, 60)
  const wider = one => one.scrollWidth > one.clientWidth + 1
  const found = []
  if (wider(document.documentElement)) found.push("the page is " + document.documentElement.scrollWidth + " wide")
  for (const one of document.querySelectorAll("article pre, article table, article img, article svg, article p")) {
    const box = one.getBoundingClientRect()
    if (box.width === 0) continue
    if (wider(one) && ["hidden", "clip"].includes(getComputedStyle(one).overflowX)) found.push("clipped " + name(one))
    let holds = one
    while (holds && !["auto", "scroll"].includes(getComputedStyle(holds).overflowX)) holds = holds.parentElement
    if (!holds && box.right > innerWidth + 1) found.push("beyond the page " + name(one))
  }
  return found
}"""
"""What of a page cannot be read without leaving it: a block that is cut off, or one that makes the page scroll."""

PALE = """() => {
  const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number); return .299 * r + .587 * g + .114 * b }
  const found = []
  for (const one of document.querySelectorAll("article p, article pre, article td, article code")) {
    let behind = one
    while (behind && getComputedStyle(behind).backgroundColor.endsWith(", 0)")) behind = behind.parentElement
    const ground = behind ? getComputedStyle(behind).backgroundColor : "rgb(255, 255, 255)"
    if (Math.abs(light(getComputedStyle(one).color) - light(ground)) < 60)
      found.push(one.textContent.trim().slice(0, 60))
  }
  return found
}"""
"""Texts that have nearly the brightness of what is behind them."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(out), "--without-traces"]
    environment = os.environ | {"INSYNC_CODE": "quick"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=840, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.timeout(900)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_every_page_can_be_read(browser: Any, site: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, wrong = context.new_page(), {}
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        if found := [*page.evaluate(CLIPPED), *(f"pale: {one}" for one in page.evaluate(PALE))]:
            wrong[name] = found
    context.close()
    assert wrong == {}


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("width: 2000px", "beyond the page pre"),
        ("width: 300px; overflow: hidden", "clipped pre"),
        ("color: rgb(250, 250, 250)", "pale: x"),
    ],
)
def test_what_cannot_be_read_is_found(opened: Any, style: str, said: str) -> None:
    page = opened(
        f"<!DOCTYPE html><article><pre style='{style}'>{'x' * 80}</pre></article>",
        viewport={"width": 390, "height": 900},
    )
    found = [*page.evaluate(CLIPPED), *(f"pale: {one}" for one in page.evaluate(PALE))]
    assert any(one.startswith(said) for one in found), found
