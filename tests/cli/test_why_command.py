"""`insync why`: the report, the object for scripts, and the page with the counts in the margin of the source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

SUPPORT = Path(__file__).parent.parent / "support"
WORKSITE = f"{SUPPORT / 'insync_worksite.py'}:Worksite"

Insync = Callable[..., Any]


def test_the_report_says_what_was_taken_and_what_was_not_exercised(insync: Insync) -> None:
    code, out, err = insync("why", WORKSITE, "--quiet")
    assert (code, err) == (0, "")
    assert "counted in all 7 states, depth 5\n" in out
    assert "  dig                          5      5\n  rest                         6      6\n" in out
    assert "never false: no reachable state needs them\n  dig  Not(s.warned)  insync_worksite.py:52\n" in out
    assert "branches that were never taken\n  dig  when s.depth == 0: never true  insync_worksite.py:55\n" in out
    assert "fields that no step changes\n  fallen, warned\n" in out
    assert "insync_worksite.py:68   for_all(s.fallen, lambda digger: s.depth > 0): it never had a member" in out
    assert "insync_worksite.py:73   premise s.warned was never true" in out
    assert "  not_too_deep   in no state does it hold by one comparison\n" in out
    assert "require" not in out


def test_an_action_that_is_named_is_shown_in_full(insync: Insync) -> None:
    code, out, _ = insync("why", WORKSITE, "dig", "--quiet", "--property", "none")
    assert code == 0
    assert "dig   insync_worksite.py:49   5 steps\n  1 binding of its parameters in each state: 7 chances\n" in out
    for pattern in (
        r"insync_worksite.py:52  require s.depth < self.b.depth + false in 2, alone in 2$",
        r"insync_worksite.py:53  require self.all\(Digger\)\[0\] == digger +rules out 1 binding$",
        r"insync_worksite.py:54  If s.resting +true in 2 steps, false in 3$",
        r"insync_worksite.py:56  s.warned = ... +in 0 steps$",
        r"changes depth in 3, resting in 2, warned in 0$",
    ):
        assert re.search(pattern, out, re.MULTILINE), pattern
    assert "rest " not in out
    assert "fields that no step" not in out
    assert "properties" not in out


def test_a_limit_makes_the_counts_incomplete(insync: Insync) -> None:
    code, out, _ = insync("why", WORKSITE, "--quiet", "--max-depth", 2)
    assert code == 3
    assert "incomplete: stopped by the limit on the depth (--max-depth); counted in 2 states, depth 2" in out
    code, out, _ = insync("why", WORKSITE, "--quiet", "--max-seconds", "0.000001")
    assert code == 3
    assert "before the first state was counted" in out
    assert "action " not in out


def test_an_action_that_is_never_enabled_is_told_with_the_guard_that_keeps_it_so(insync: Insync) -> None:
    small = ["--replicas", 2, "--log-size", 1, "--max-records", 1]
    out = insync("why", "kip320", *small, "--max-leader-epoch", 0, "--max-depth", 2, "--quiet").out
    never = out.split("never enabled\n")[1].split("\n\n")[0]
    assert re.search(
        r"^  leader_write +self.believes_it_leads\(s, leader\) never held +replication.py:\d+$", never, re.M
    )
    out = insync("why", WORKSITE, "--diggers", 1, "--depth", 1, "--json", "--quiet").out
    assert [action["bindings"] for action in json.loads(out)["actions"]] == [1, 1]


def test_why_for_scripts(insync: Insync) -> None:
    code, out, _ = insync("why", WORKSITE, "--json", "--quiet")
    assert code == 0
    found = json.loads(out)
    assert (found["distinct_states"], found["depth"], found["stopped_by"], found["html"]) == (7, 5, None, None)
    dig = found["actions"][0]
    assert (dig["name"], dig["states"], dig["chances"], dig["steps"], dig["refused"]) == ("dig", 5, 7, 5, 0)
    assert dig["guards"][0] == {
        "file": str(SUPPORT / "insync_worksite.py"),
        "line": 52,
        "text": "s.depth < self.b.depth",
        "false": 2,
        "alone": 2,
        "ruled_out": 0,
        "decided": False,
    }
    assert found["unchanged_fields"] == ["fallen", "warned"]
    assert found["properties"][1]["premises"][0]["true"] == 0
    assert found["properties"][1]["near"] == 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["digg"], "worksite has no action 'digg'. Did you mean 'dig'?"),
        (["--html", "nowhere/x.html"], "nowhere/x.html: cannot be written"),
        (["--property", "deep"], "worksite has no property 'deep'"),
    ],
)
def test_a_mistake_is_one_sentence(insync: Insync, arguments: list[str], sentence: str) -> None:
    code, out, err = insync("why", WORKSITE, *arguments, "--quiet")
    assert (code, out) == (2, "")
    assert sentence in err


class Page(HTMLParser):
    """The rows of the sources of a page: the line, the margin, and the code, as text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(
            name in ("src", "href", "onclick") and not (value or "").startswith("#") for name, value in attrs
        )
        if tag == "tr":
            self.rows.append([])
            self.of_source = any(name == "id" for name, _ in attrs)
        elif tag == "td" and self.of_source:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_the_page_has_the_counts_beside_the_lines_they_are_of(insync: Insync, tmp_path: Path) -> None:
    file = tmp_path / "why.html"
    assert insync("why", WORKSITE, "--html", file, "--quiet").code == 0
    page = Page(file.read_text())
    rows = {int(row[0]): row[1:] for row in page.rows if len(row) == 3 and row[0].isdigit()}
    source = (SUPPORT / "insync_worksite.py").read_text().splitlines()
    assert all(code.rstrip("\n") == source[line - 1] for line, (_, code) in rows.items())
    assert {line: counts for line, (counts, _) in rows.items() if counts} == {
        49: "5 steps, 5 states",
        52: "s.depth < self.b.... false 2, alone 2Not(s.warned) false 0, alone 0 never false",
        53: "rules out 1 binding",
        54: "s.resting true 2, false 3s.depth 5",
        55: "true 0, false 5 never true",
        56: "0 never",
        57: "5",
        59: "6 steps, 6 states",
        62: "And(s.depth > 0, ... false 1, alone 1s.depth >= 0 the settings decide it",
        63: "6",
        68: "true in 0 never true",
        73: "true in 0 never true",
    }
    assert page.tags.isdisjoint({"script", "link", "img", "iframe"})


def test_two_files_of_one_name_are_told_apart_by_their_folders(insync: Insync, tmp_path: Path) -> None:
    source = (SUPPORT / "insync_worksite.py").read_text()
    (tmp_path / "yard").mkdir()
    (tmp_path / "yard" / "site.py").write_text(source)
    model, file = tmp_path / "site.py", tmp_path / "why.html"
    model.write_text(
        "from insync.model import action\nfrom yard.site import Worksite\n\n\n"
        "class Larger(Worksite):\n    @action\n    def rest(self, s):\n        s.warned = s.warned\n"
    )
    assert insync("why", f"{model}:Larger", "--html", file, "--quiet").code == 0
    headings = re.findall(r"<h2 id=\"([^\"]+)\">([^<]+)</h2>", file.read_text())
    assert [name for _, name in headings if name.endswith(".py")] == ["yard/site.py", f"{tmp_path.name}/site.py"]
    assert len({anchor for anchor, _ in headings}) == len(headings)


def test_what_a_source_says_is_text_on_the_page(insync: Insync, tmp_path: Path) -> None:
    source = (SUPPORT / "insync_worksite.py").read_text()
    hostile = source.replace("s.depth >= 0)", 's.depth >= len("</code><script>alert(1)</script>") - 40)')
    model = tmp_path / "a<b>&c.py"
    model.write_text(hostile)
    file = tmp_path / "why.html"
    assert insync("why", f"{model}:Worksite", "--html", file, "--quiet").code == 0
    assert "<script" not in file.read_text()
    assert any("<script>alert(1)</script>" in row[-1] for row in Page(file.read_text()).rows if row)
