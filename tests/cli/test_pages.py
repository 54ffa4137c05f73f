from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from insync.model.catalogue import class_reference, find_model

Insync = Callable[..., Any]
SMALL = ("--replicas", 2, "--log-size", 1, "--max-records", 1)


@pytest.fixture
def trace(insync: Insync, lamp: str, tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    assert insync("check", lamp, "--presses", 3, "--trace", path).code == 1
    return path


def test_a_page_of_a_violation_is_written_and_said(insync: Insync, lamp: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, _ = insync("check", lamp, "--presses", 3, "--html", page)
    assert code == 1
    assert out.endswith(f"\nPage: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "Does never_on hold in every state of lamp?" in text.replace("<wbr>", "")


def test_scripts_are_told_nothing_of_the_page(insync: Insync, lamp: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    _, out, _ = insync("check", lamp, "--presses", 3, "--html", page, "--json")
    assert json.loads(out)["verdict"] == "violated"
    assert page.exists()


def test_without_a_trace_no_page_is_written_and_an_old_one_is_not_taken_for_it(insync: Insync, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, err = insync("check", "kip101", *SMALL, "--max-leader-epoch", 1, "--html", page, "--quiet")
    assert (code, page.exists()) == (0, False)
    assert "Page" not in out
    assert err == f"{page} was not written: there is no trace to show.\n"


@pytest.mark.slow_for("diff---html", "diff---trace")
@pytest.mark.parametrize("option", ["--html", "--trace"])
@pytest.mark.parametrize("command", ["check", "simulate", "diff"])
def test_a_file_of_an_earlier_run_is_not_taken_for_one_of_this_run(
    insync: Insync, tmp_path: Path, command: str, option: str
) -> None:
    file = tmp_path / "out.json"
    of_command = {"check": (), "simulate": ("--walks", 2, "--depth", 2), "diff": ("kip101",)}[command]
    line = (command, "kip101", *of_command, *SMALL, "--max-leader-epoch", 1, option, file, "--quiet")
    said = f"{file} was not written: there is no trace{' to show' * (option == '--html')}."
    assert insync(*line).err == f"{said}\n"
    assert not file.exists()
    file.write_text("old")
    assert insync(*line).err == f"{said} The file that is there is of an earlier run.\n"
    assert file.read_text() == "old"


def test_the_command_on_a_page_names_the_file_of_the_trace(insync: Insync, lamp: str, tmp_path: Path) -> None:
    page, file = tmp_path / "page.html", tmp_path / "t.json"
    insync("check", lamp, "--presses", 3, "--html", page, "--trace", file)
    assert f"insync replay {file}" in page.read_text(encoding="utf-8")
    itf = tmp_path / "t.itf.json"
    insync("check", lamp, "--presses", 3, "--html", page, "--trace", itf)
    assert "insync replay lamp-never_on.json" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_all_violations_are_on_one_page(insync: Insync, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert insync("check", "kip101", "--log-size", 1, "--max-records", 1, "--html", page).code == 1
    assert page.read_text(encoding="utf-8").count("<article") == 2


@pytest.mark.parametrize("command", ["simulate", "prove"])
def test_other_commands_write_pages_too(insync: Insync, lamp: str, tmp_path: Path, command: str) -> None:
    page = tmp_path / "page.html"
    way = ("--bmc", 3) if command == "prove" else ()
    assert insync(command, lamp, "--presses", 3, *way, "--html", page).code == 1
    assert "<article" in page.read_text(encoding="utf-8")


def test_a_report_stands_beside_its_first_trace(insync: Insync, lamp: str, trace: Path) -> None:
    page = trace.with_suffix(".html")
    assert insync("report", trace, "--model", lamp) == (0, f"Page: {page}\n", "")
    assert page.read_text(encoding="utf-8").count("<article") == 1


def test_a_report_of_several_traces(insync: Insync, lamp: str, trace: Path, tmp_path: Path) -> None:
    page = tmp_path / "all.html"
    assert insync("report", trace, trace, "-o", page, "--model", lamp).code == 0
    assert page.read_text(encoding="utf-8").count("<article") == 2


def test_a_trace_that_does_not_hold_up_gets_no_report(insync: Insync, lamp: str, trace: Path) -> None:
    parsed = json.loads(trace.read_text())
    parsed["steps"][1]["parameters"] = {"switch": "switch9"}
    trace.write_text(json.dumps(parsed))
    code, out, err = insync("report", trace, "--model", lamp)
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {trace}: step 1: ")
    assert not trace.with_suffix(".html").exists()


@pytest.mark.parametrize(("given", "said"), [(".", ".: cannot be read (Is a dir"), ("page.html", "page.html:1:1: ")])
def test_what_is_no_trace_gets_no_report(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_text("<!DOCTYPE html>", encoding="utf-8")
    code, out, err = insync("report", given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"Error: {said}")
    assert Path("page.html").read_text(encoding="utf-8") == "<!DOCTYPE html>"


def test_a_replayed_trace_is_shown_and_written(insync: Insync, lamp: str, trace: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, _ = insync("replay", trace, "--model", lamp, "--html", page)
    assert code == 0
    assert out.startswith("never_on fails after 1 step")
    assert out.endswith(f"Page: {page}\n")
    assert page.exists()


def test_a_trace_as_a_picture(insync: Insync, lamp: str, trace: Path) -> None:
    forms = ("html", "svg", "mermaid", "markdown")
    shown = {form: insync("replay", trace, "--model", lamp, "--format", form).out for form in forms}
    assert shown["html"].startswith("<!DOCTYPE html>")
    assert ElementTree.fromstring(shown["svg"]).tag.endswith("svg")  # noqa: S314 -- it is our own
    assert shown["mermaid"].startswith("sequenceDiagram\n")
    assert shown["markdown"].startswith("### Does never\\_on hold in every state of lamp?\n")
    assert f"Replay: `insync replay {trace} --model {class_reference(find_model(lamp))}`" in shown["markdown"]
