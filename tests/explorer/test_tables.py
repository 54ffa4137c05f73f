"""Results in a notebook: a repr of one line, HTML in which nothing of a model is markup, and tables."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from insync.explorer import (
    CheckResult,
    Limits,
    Trace,
    agree,
    bounded_check,
    check,
    diff,
    graph,
    liveness,
    mutate,
    prove,
    simulate,
    why,
)
from insync.explorer.agree import own_engines
from insync.explorer.documents.html import model_behind, table
from insync.explorer.results import Result
from insync.explorer.tables import Shown
from insync.model import UserError
from insync.model.catalogue import class_reference
from insync_runs import Crossing
from insync_toys import DieHard, TokenRing

pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def checked() -> CheckResult:
    return check(DieHard)


@pytest.fixture(scope="module")
def results(checked: CheckResult) -> dict[str, Shown]:
    runs = liveness(Crossing)
    return {
        "check": checked,
        "violation": checked.violations[0],
        "trace": checked.violations[0].trace,
        "holds": check(TokenRing),
        "walks": simulate(DieHard, walks=50, abstract_states=True),
        "runs": runs,
        "run": runs.properties[0],
        "mutants": mutate(TokenRing),
        "graph": graph(TokenRing),
        "engines": agree(TokenRing, engines={name: one for name, one in own_engines().items() if name != "z3"}),
        "why": why(TokenRing),
        "diff": diff(TokenRing, TokenRing(two_tokens=1)),
        "proof": prove(TokenRing),
        "bounded": bounded_check(DieHard, depth=3),
    }


OF_VERBS = ("check", "holds", "walks", "runs", "mutants", "engines", "why", "diff", "proof", "bounded")
KINDS = (*OF_VERBS, "violation", "trace", "run", "graph")


def parsed(result: Shown) -> ET.Element:
    """The HTML of a result, which is also well-formed XML."""
    return ET.fromstring(result._repr_html_())  # noqa: S314 -- it is made here


@pytest.mark.slow_for("check", "violation", "trace")
@pytest.mark.parametrize("kind", KINDS)
def test_a_repr_is_a_line(results: dict[str, Shown], kind: str) -> None:
    text = repr(results[kind])
    assert text.startswith(f"<{type(results[kind]).__name__} ")
    assert len(text) < 140
    assert "\n" not in text


@pytest.mark.parametrize("kind", OF_VERBS)
def test_the_results_of_all_verbs_are_of_one_family(results: dict[str, Any], kind: str) -> None:
    result = results[kind]
    assert isinstance(result, Result)
    assert result.stopped_by is None
    assert result.warnings == ()
    assert result.tables()


def test_a_proof_names_what_it_is_about_as_a_search_does(results: dict[str, Any]) -> None:
    assert results["proof"].bounds == results["holds"].bounds
    assert results["proof"].within == results["holds"].within == ()
    left = bounded_check(DieHard, depth=3, limits=Limits(seconds=0))
    assert left.stopped_by == "time"
    assert left.bounds == DieHard().identity


def test_a_repr_says_the_verdict(checked: CheckResult) -> None:
    assert repr(checked) == "<CheckResult tests/support/insync_toys.py:DieHard: violated, 14 states, depth 7>"


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_well_formed_and_stands_by_itself(results: dict[str, Shown], kind: str) -> None:
    page = parsed(results[kind])
    assert page.get("class") == "insync"
    assert [one.tag for one in page.iter() if one.tag in ("script", "link", "iframe")] == []
    sources = [one.get("src", "") for one in page.iter("img")]
    assert [source for source in sources if not source.startswith("data:image/svg+xml;base64,")] == []
    assert "http" not in results[kind]._repr_html_()


def test_html_says_the_verdict_in_words_and_shows_the_trace(checked: CheckResult) -> None:
    text = " ".join(parsed(checked).itertext())
    assert "violated" in text
    assert all(step.label in text for step in checked.violations[0].trace.steps)
    assert checked.violations[0].trace.reason in " ".join(text.split())


def test_a_text_that_looks_like_markup_is_shown_as_text(checked: CheckResult) -> None:
    trace, bad = checked.violations[0].trace, "<script>alert('1')</script><img src=x onerror=alert(2)>"
    steps = [replace(step, label=f"{step.label} {bad}", state={**step.state, bad: bad}) for step in trace.steps]
    evil = replace(trace, model=bad, property=bad, steps=tuple(steps), reason=bad, bounds={bad: bad})
    page = parsed(evil)
    assert not {"script", "img"} & {one.tag for one in page.iter()}
    assert "alert('1')" in " ".join(page.itertext())


def pictures(result: Shown) -> list[ET.Element]:
    """The pictures in the HTML of a result."""
    sources = [one.get("src", "") for one in parsed(result).iter("img")]
    return [ET.fromstring(b64decode(source.partition(",")[2])) for source in sources]  # noqa: S314 -- made here


def test_a_trace_is_a_picture_with_its_steps(checked: CheckResult) -> None:
    (drawn,) = pictures(checked)
    text = " ".join(drawn.itertext())
    assert [step.label for step in checked.violations[0].trace.steps if step.label not in text] == []
    assert next(one.get("alt", "") for one in parsed(checked).iter("img")).startswith("Does never_four hold")


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [([], 0), ([["a", 1]], 1), ([["a", 1], ["b", None]], 1), ([["a", 1], ["b", "c"]], 0), ([[0, None], [1, None]], 2)],
)
def test_columns_of_numbers_and_their_heads_stand_to_the_right(rows: list[list[object]], numbers: int) -> None:
    shown = table(("first", "second"), rows)
    assert shown.count('<th class="number">') == numbers
    assert shown.count('<td class="number">') == numbers * len(rows)
    assert shown.count("<th") - 1 == 2, "beside the head itself"


def test_a_picture_shows_markup_of_a_trace_as_text(checked: CheckResult) -> None:
    trace, bad = checked.violations[0].trace, "<script>alert('1')</script>"
    steps = tuple(replace(step, label=f"{step.label} {bad}") for step in trace.steps)
    (drawn,) = pictures(replace(trace, steps=steps, reason=bad))
    assert [one.tag for one in drawn.iter() if one.tag.endswith("script")] == []
    assert "<script>" in "".join(drawn.itertext())


def test_a_property_that_fails_after_the_same_steps_is_not_drawn_twice(checked: CheckResult) -> None:
    first = checked.violations[0]
    second = replace(first, property="another", trace=replace(first.trace, property="another"))
    once, twice = (
        " ".join(parsed(result).itertext()) for result in (checked, replace(checked, violations=(first, second)))
    )
    assert "another fails after the same steps" in twice
    assert [twice.count(step.label) for step in first.trace.steps] == [
        once.count(step.label) for step in first.trace.steps
    ]


def test_a_proof_has_html_and_a_table() -> None:
    pytest.importorskip("z3")
    result = prove(TokenRing)
    assert result.verdict in " ".join(parsed(result).itertext())
    refuted = [query for query in result.result.queries if query.counterexample is not None]
    assert len(pictures(result)) == len(refuted)
    assert "fails after" not in " ".join(" ".join(drawn.itertext()) for drawn in pictures(result))
    assert result.to_arrow().column("question").to_pylist() == [query.name for query in result.result.queries]


def test_a_model_is_found_again_by_its_name_or_in_the_cells_of_a_notebook(
    checked: CheckResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = checked.violations[0].trace
    found = model_behind(trace)  # another test of this process may have imported the file again, by its path
    assert found is not None
    assert class_reference(type(found)) == class_reference(DieHard)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # that of a notebook has no file
    cell = type("Riddle", (DieHard,), {"__module__": "__main__"})
    assert type(model_behind(check(cell).violations[0].trace)) is cell
    assert model_behind(replace(trace, model="no_such_model")) is None
    assert model_behind(replace(trace, steps=(replace(trace.steps[0], state={"jug": 7}),))) is None


def test_to_show_a_trace_runs_no_file_that_it_names(checked: CheckResult, tmp_path: Path) -> None:
    file = tmp_path / "sent.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    sent = replace(checked.violations[0].trace, model=f"{file}:DieHard")
    text = " ".join(parsed(sent).itertext())
    assert "is not loaded with these fields" in text
    assert all(step.label in text for step in sent.steps)
    assert not (tmp_path / "ran").exists()


TABLES = {
    "check": {"levels", "actions", "properties"},
    "trace": {"steps"},
    "walks": {"actions", "properties", "abstract_states"},
    "runs": {"properties"},
    "mutants": {"mutants"},
    "engines": {"engines"},
    "graph": {"states", "transitions"},
    "proof": {"queries"},
    "bounded": {"queries"},
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_is_one_for_arrow_and_for_pandas(results: dict[str, Any], kind: str) -> None:
    pytest.importorskip("pyarrow")
    result: Shown = results[kind]
    assert isinstance(result.tables(), tuple)
    assert set(result.tables()) == TABLES[kind]
    assert result.to_arrow().equals(result.to_arrow(result.tables()[0]))
    for name in result.tables():
        assert list(result.to_pandas(name).columns) == result.to_arrow(name).column_names
        assert len(result.to_pandas(name)) == result.to_arrow(name).num_rows > 0


def test_the_guide_names_every_table(results: dict[str, Any]) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "reports.md").read_text()
    rows = dict(re.findall(r"^\| (.+?) \| (.+) \|$", guide.split("| result of | tables |\n")[1].split("\n\n")[0], re.M))
    named = {
        "`check`": "check",
        "`simulate`": "walks",
        "`liveness`": "runs",
        "`mutate`": "mutants",
        "`agree`": "engines",
        "a trace": "trace",
    }
    for row, kind in {**named, "`agree`": "engines", "`graph`": "graph"}.items():
        assert set(re.findall(r"`(\w+)`", rows[row])) == set(results[kind].tables())
    assert rows["`prove`, `bounded_check`"] == "`queries`"


def test_the_tables_of_a_search_have_its_figures(checked: CheckResult) -> None:
    pytest.importorskip("pyarrow")
    assert checked.to_arrow().column("states").to_pylist() == list(checked.levels)
    assert sum(checked.to_arrow("actions").column("steps").to_pylist()) == checked.transitions
    assert checked.to_arrow("properties").to_pylist()[0]["trace_length"] == checked.violations[0].trace_length


def test_abstract_states_are_shown_where_they_are_counted(results: dict[str, Any]) -> None:
    pytest.importorskip("pyarrow")
    counted, plain = results["walks"], simulate(DieHard, walks=50)
    found = counted.abstract_states
    assert [tuple(row.values()) for row in counted.to_arrow("abstract_states").to_pylist()] == list(found.growth)
    said = f"{found.distinct} abstract states, the last new one in walk {found.last_new}."
    assert said in " ".join(parsed(counted).itertext())
    assert "abstract" not in plain._repr_html_()
    assert plain.tables() == ("actions", "properties")
    nothing = simulate(DieHard, abstract_states=True, limits=Limits(seconds=0))
    assert nothing.to_arrow("abstract_states").num_rows == 0
    assert "0 abstract states." in " ".join(parsed(nothing).itertext())


def test_the_tables_of_a_graph_have_states_and_steps() -> None:
    pytest.importorskip("pyarrow")
    found = graph(TokenRing)
    states = found.to_arrow("states").to_pylist()
    assert [
        {**found.readable(row["state"]), "state": row["state"], "depth": found.level_of(row["state"])} for row in states
    ] == states
    steps = found.to_arrow("transitions").to_pylist()
    assert [(row["state"], row["next"]) for row in steps] == list(zip(found.source, found.target, strict=True))
    assert {row["action"] for row in steps} == {action.name for action in found.actions}


def test_the_table_of_a_trace_has_a_column_for_each_field(checked: CheckResult) -> None:
    pytest.importorskip("pyarrow")
    trace: Trace = checked.violations[0].trace
    rows = trace.to_arrow().to_pylist()
    assert [row["label"] for row in rows] == [step.label for step in trace.steps]
    assert [{name: row[name] for name in step.state} for row, step in zip(rows, trace.steps, strict=True)] == [
        step.state for step in trace.steps
    ]


def test_a_field_with_the_name_of_a_column_gets_another_one(checked: CheckResult) -> None:
    pytest.importorskip("pyarrow")
    trace = checked.violations[0].trace
    steps = tuple(replace(step, state={"label": 7}) for step in trace.steps)
    assert replace(trace, steps=steps).to_arrow().column_names == ["step", "label", "action", "label_"]


def test_an_unknown_table_names_the_nearest_one(checked: CheckResult) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(UserError, match=r"CheckResult has no table 'level'. Did you mean 'levels'"):
        checked.to_arrow("level")
    with pytest.raises(UserError, match="has no table"):
        checked.to_pandas("state")
    assert checked.violations[0].tables() == ()
    with pytest.raises(UserError, match="Violation has no tables"):
        checked.violations[0].to_pandas()


def test_without_the_library_a_sentence_says_what_to_install(
    checked: CheckResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.explorer.tables.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'insync\[tables\]'"):
        checked.to_pandas()
