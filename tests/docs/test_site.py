"""The site is whole: every page has its place, and every link leads somewhere. Building it is `make site`."""

from __future__ import annotations

import importlib
import json
import posixpath
import re
from collections import Counter
from pathlib import Path

import pytest

from api_pages import api_page
from catalogue_pages import entry_page, index_page
from insync.kafka.defects import DEFECTS, LEFT_OUT
from insync.kafka_questions.defects import search_defect
from navigation import DOORS, ROOT, address, chapters, pages, sections
from notebook_pages import notebook_page
from staging import links, stage

PAGES = [*pages(), "README.md"]
_FOR_ONE_READER = [path for path in pages() if not re.match(r"docs/(adr/\d|findings/[NQR]-|notebooks/)", path)]
"""The pages but those with a form of their own: decisions, and findings, which begin as a ticket does."""


def test_every_page_of_the_documentation_has_one_place() -> None:
    placed = Counter(one for names in sections().values() for name in names for one in (name, *chapters(name)))
    assert [name for name, number in placed.items() if number > 1] == []
    for path in (*(ROOT / "docs" / "guide").glob("*.md"), *(ROOT / "docs" / "findings").glob("*.md")):
        assert address(path.relative_to(ROOT).as_posix()) in placed
    assert {address(path) for path in pages()} - {"index"} <= set(placed)


@pytest.mark.parametrize("path", [path for path in _FOR_ONE_READER if path.startswith("docs/")])
def test_a_page_names_its_reader_and_question_first(path: str) -> None:
    text = (ROOT / path).read_text()
    first = next(part for part in text.split("\n\n") if not part.startswith("# "))
    assert re.match(r"For \w|A model checker for ", first), f"{path} begins with {first!r}"


def test_what_is_placed_is_there() -> None:
    made = {"catalogue/index", *(f"api/{door}" for door in DOORS)}
    there = {address(path) for path in pages()} | made
    assert {name for names in sections().values() for name in names} - there == set()


def test_every_public_module_has_a_page_of_its_api() -> None:
    packages = [path for path in ROOT.glob("*/insync/**/__init__.py") if path.read_text().startswith('"""Public: ')]
    assert {".".join(path.relative_to(ROOT).parts[1:-1]) for path in packages} == set(DOORS)


@pytest.mark.parametrize("door", DOORS)
def test_a_page_of_the_api_has_every_public_name_once(door: str) -> None:
    named = re.findall(rf"^\.\. (?:auto\w+|py:data):: {re.escape(door)}\.(\w+)$", api_page(door), re.M)
    assert sorted(named) == sorted(importlib.import_module(door).__all__)


def test_an_object_that_two_public_modules_have_is_in_the_index_once() -> None:
    pages = "".join(map(api_page, DOORS))
    described = re.findall(r"^\.\. auto\w+:: (\S+)\n((?:   :.*\n)*)", pages, re.M)
    indexed = [name for name, options in described if ":no-index:" not in options]
    objects = [getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in indexed]
    assert [one for one, number in Counter(map(id, objects)).items() if number > 1] == []
    assert ".. autoexception:: insync.explorer.hypothesis.Disagreement\n   :no-index:\n" in pages


def test_a_type_of_the_api_says_what_stands_below_it() -> None:
    assert ".. py:data:: insync.explorer.Reporter\n\n   Called about once a second" in api_page("insync.explorer")


def anchors(path: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = (ROOT / path).read_text()
    if path.endswith(".ipynb"):
        text = notebook_page(text)
    heads = re.findall(r"^#{1,6} +(.+?) *$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", PAGES)
def test_every_link_of_a_page_leads_somewhere(path: str) -> None:
    for target, anchor in links(path):
        assert (ROOT / target).exists(), f"{path} links to {target}"
        if anchor:
            assert anchor in anchors(target), f"{path} links to {target}#{anchor}"


def test_every_page_that_a_source_names_is_there() -> None:
    named = re.compile(r"\bdocs/(?:guide/[a-z0-9-]+\.md|adr/\d{4}(?:[a-z-]+\.md)?|findings/[\w-]+\.md)")
    sources = [
        ROOT / "Makefile",
        ROOT / "pyproject.toml",
        *ROOT.glob("benchmarks/*.py"),
        *ROOT.glob("examples/**/*.py"),
    ]
    sources += [path for path in ROOT.glob("*/insync/**/*") if path.suffix in (".py", ".java", ".js", ".html")]
    found = {(path, name) for path in sources for name in named.findall(path.read_text())}
    assert len(found) > 20
    gone = [(path.relative_to(ROOT), name) for path, name in found if not list(ROOT.glob(f"{name}*"))]
    assert gone == []


def test_links_that_lead_nowhere_would_be_noticed() -> None:
    found = {target for path in PAGES for target, _ in links(path)}
    assert {"docs/guide/cluster.md", "examples/lock.py", "ARCHITECTURE.md"} <= found
    over_two_lines = ("docs/guide/known-differences.md", "how-a-step-is-taken")
    assert over_two_lines in set(links("docs/guide/kafka.md"))
    assert "against-what" in anchors("docs/guide/cluster.md")


def test_what_is_staged_links_to_what_is_staged(tmp_path: Path) -> None:
    stage(tmp_path)
    staged = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"index.md", "guide/cluster.md", "findings/index.md", "source/examples/lock.py.md"} <= staged
    checked = 0
    for name in sorted(staged):
        prose = re.sub(r"^(```+).*?^\1$|^    .*$", "", (tmp_path / name).read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", prose):
            found = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            assert found in staged or found.startswith("catalogue/"), f"{name} links to {target}"
            checked += 1
    assert checked > 100


def test_an_entry_of_the_catalogue_says_what_the_code_says_and_shows_its_trace() -> None:
    defect = DEFECTS["R-26"]
    page = entry_page(defect, search_defect(defect))
    assert page.startswith(f"# R-26: {defect.title}\n")
    for said in (defect.story, defect.ticket, defect.affected, "b1 starts and registers", "insync defects R-26"):
        assert said in page
    shown = re.findall(r"^``````\{raw\} html\n((?:.*\n)*?)``````$", page, re.M)
    assert len(shown) == 1
    assert '<a href="R-26-trace.html"><img src="R-26.svg" alt="R-26: A leader restarts' in shown[0]
    assert "b1 appends a record" not in page.replace(shown[0], "")  # blank lines of the grid would end its HTML


@pytest.mark.slow
def test_an_entry_that_does_no_harm_says_so() -> None:
    harmless = next(defect for defect in DEFECTS.values() if defect.harmless and defect.name.startswith("R"))
    page = entry_page(harmless, search_defect(harmless))
    assert f"`{harmless.breaks}` holds in all" in page


def test_the_catalogue_lists_every_entry_once() -> None:
    page = index_page()
    for defect in DEFECTS.values():
        assert page.count(f"[{defect.name}]({defect.name}.md)") == 1
    assert all(f"| {entry.name} |" in page for entry in LEFT_OUT)


def test_a_notebook_becomes_a_page_with_its_cells_and_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": ["1 + 1"],
            "outputs": [
                {"output_type": "stream", "text": ["said\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                {"output_type": "execute_result", "data": {"text/plain": ["t"], "text/html": ["<b>t</b>"]}},
            ],
        },
    ]
    page = notebook_page(json.dumps({"cells": cells}))
    assert "# Title\ntext" in page
    assert [part for part in ("python\n1 + 1\n", "text\nsaid\n", "text\n2\n", "<b>t</b>") if part not in page] == []
