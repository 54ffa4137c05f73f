"""Measure how soon `insync explore` answers a click, by the clock: from request to answer, and in a browser.

    python benchmarks/clicks.py [--clicks N] [--browser] [MODEL]

A click takes a random step that is enabled, from the start again where there is none; between two clicks nothing
happens for a moment, as the page asks then why the other steps are not enabled. Of a browser it is the time from the
click to the frame in which the new steps stand on the page: Chromium without a window, through Playwright.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

PAUSE = 0.15
CLICK = """
    async chance => {
      const buttons = [...document.querySelectorAll("#enabled button")];
      const next = buttons[Math.floor(chance * buttons.length)] ?? document.querySelector("#restart");
      const begun = performance.now();
      const changed = new Promise(tell => new MutationObserver((seen, watch) => { watch.disconnect(); tell(); })
        .observe(document.querySelector("#enabled"), { childList: true }));
      next.click();
      await changed;
      await new Promise(requestAnimationFrame);
      return performance.now() - begun;
    }
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clicks", type=int, default=120)
    parser.add_argument("--browser", action="store_true", help="click in Chromium as well")
    parser.add_argument("model", nargs="?", default="cluster", metavar="MODEL")
    given = parser.parse_args()
    with page_of(given.model) as address:
        tell("request to answer", list(answers(address, given.clicks)))
        if given.browser:
            tell("click to page", list(clicks(address, given.clicks)))


@contextmanager
def page_of(model: str) -> Iterator[str]:
    """Explore a model as a user does, and yield the address of the page."""
    started = subprocess.Popen(
        [sys.executable, "-P", "-c", "from insync.cli.main import main; main()", "explore", model],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        found = re.search(r"http://\S+/", started.stdout.readline())
        if found is None:
            message = f"insync explore {model} said no address."
            raise SystemExit(message)
        yield found[0]
    finally:
        started.send_signal(signal.SIGINT)
        started.wait()


def answers(address: str, count: int) -> Iterator[float]:
    """Take random steps, and yield how many milliseconds each answer took."""
    place = urlsplit(address)
    line = http.client.HTTPConnection(place.hostname or "", place.port)
    draw = random.Random(1)

    def told(**asked: object) -> dict[str, object]:
        line.request("POST", f"{place.path}do", json.dumps(asked), {"Content-Type": "application/json"})
        answer: dict[str, object] = json.loads(line.getresponse().read())
        return answer

    seen = told(command="open")
    tab = seen["tab"]
    for _ in range(count):
        steps = seen["steps"]
        assert isinstance(steps, list)
        able = [step["number"] for step in steps if step["enabled"]]
        asked = {"command": "take", "number": draw.choice(able)} if able else {"command": "start", "number": 0}
        begun = time.perf_counter()
        seen = told(tab=tab, **asked)
        yield (time.perf_counter() - begun) * 1000
        told(tab=tab, command="why")
        time.sleep(PAUSE)


def clicks(address: str, count: int) -> Iterator[float]:
    """Click on random steps in a browser, and yield after how many milliseconds each was on the page."""
    from playwright.sync_api import sync_playwright

    draw = random.Random(1)
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=os.environ.get("INSYNC_CHROMIUM") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.goto(address)
        page.locator("#enabled button").first.wait_for()
        for _ in range(count):
            time.sleep(PAUSE)
            yield float(page.evaluate(CLICK, draw.random()))
        browser.close()


def tell(what: str, spent: list[float]) -> None:
    """Print the median, what nine of ten take, and the longest."""
    in_order = sorted(spent)
    nine = in_order[len(in_order) * 9 // 10]
    over = sum(each > 50 for each in spent)
    print(
        f"{what:<18} {len(spent)} clicks: median {statistics.median(spent):.1f} ms, "
        f"nine of ten within {nine:.1f} ms, longest {in_order[-1]:.1f} ms, {over} above 50 ms"
    )


if __name__ == "__main__":
    main()
