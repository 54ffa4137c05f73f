"""A command never writes over what it reads, nor two of its files over one another."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]
ROOT = Path(__file__).parents[2]
MODEL = "the file of the model"
TRACE = "one of the traces"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, insync: Insync) -> Path:
    """A folder with a model, a trace of it under two names, and a link to the model."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "payments.py", tmp_path / "payments.py")
    assert insync("check", "payments.py:Payments", "--trace", "out.json").code == 1
    shutil.copy("out.json", "two.json")
    os.symlink("payments.py", "link.py")
    return tmp_path


@pytest.mark.slow_for(
    "check payments.py:Payments --html payments.py---html-payments.py-the file of the model",
    "check payments.py:Payments --html ./payments.py---html-payments.py-the file of the model",
    "why payments.py:Payments --html payments.py---html-payments.py-the file of the model",
    "diff out.json two.json --model payments.py:Payments --html payments.py---html-payments.py-the file of the model",
    "replay out.json --html out.json---html-out.json-FILE",
    "replay out.json --html ./out.json---html-out.json-FILE",
    "replay out.json --model link.py:Payments...",
    "report out.json --model payments.py:Payments -o payments.py---output-payments.py-the file of the model",
)
@pytest.mark.parametrize(
    ("line", "option", "output", "what"),
    [
        ("check payments.py:Payments --html payments.py", "--html", "payments.py", MODEL),
        ("check payments.py:Payments --html ./payments.py", "--html", "payments.py", MODEL),
        ("check payments.py:Payments --html link.py", "--html", "link.py", MODEL),
        ("check payments.py:Payments --trace payments.py", "--trace", "payments.py", MODEL),
        ("check payments.py:Payments --sarif payments.py", "--sarif", "payments.py", MODEL),
        ("check --watch payments.py:Payments --trace payments.py", "--trace", "payments.py", MODEL),
        ("why payments.py:Payments --html payments.py", "--html", "payments.py", MODEL),
        ("diff payments.py:Payments payments.py:Payments --html payments.py", "--html", "payments.py", MODEL),
        ("diff payments.py:Payments payments.py:Payments --trace payments.py", "--trace", "payments.py", MODEL),
        ("diff out.json two.json --html out.json", "--html", "out.json", TRACE),
        ("diff out.json two.json --html ./two.json", "--html", "two.json", TRACE),
        ("diff out.json two.json --model payments.py:Payments --html payments.py", "--html", "payments.py", MODEL),
        ("replay out.json --html out.json", "--html", "out.json", "FILE"),
        ("replay out.json --html ./out.json", "--html", "out.json", "FILE"),
        ("replay out.json --model payments.py:Payments --html payments.py", "--html", "payments.py", MODEL),
        ("replay out.json --model link.py:Payments --html payments.py", "--html", "payments.py", MODEL),
        ("report out.json -o ./out.json", "--output", "out.json", "a TRACE"),
        ("report out.json --model payments.py:Payments -o payments.py", "--output", "payments.py", MODEL),
        ("report two.json out.json -o out.json", "--output", "out.json", "a TRACE"),
    ],
)
def test_no_output_replaces_an_input(
    insync: Insync, folder: Path, line: str, option: str, output: str, what: str
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    code, out, err = insync(*line.split())
    assert (code, out) == (2, "")
    assert f"{option} names {output}, which is {what} and would be replaced. Name another file." in err
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("check kip101 --sarif a.json --html ./a.json", "--html and --sarif"),
        ("check kip101 --trace q2.json --sarif q2.json", "--trace and --sarif"),
        ("check kip101 --trace ./q2.json --html q2.json", "--trace and --html"),
        ("diff kip101 kip279 --trace q2.json --html ./q2.json", "--trace and --html"),
        ("defects R-13 --trace a.json --html ./a.json", "--trace and --html"),
    ],
)
def test_two_outputs_are_two_files(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, options: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = insync(*line.split())
    assert (code, out) == (2, "")
    assert "both name" in err
    assert set(err.removeprefix(f"Error: insync {line.split()[0]}: ").split(" both ")[0].split(" and ")) == set(
        options.split(" and ")
    )
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_written(insync: Insync, folder: Path) -> None:
    named = ("--model", "payments.py:Payments")
    assert insync("replay", "out.json", "--html", "page.html", *named).code == 0
    assert insync("report", "out.json", "-o", "out.html", *named).code == 0
    assert insync("check", "payments.py:Payments", "--trace", "out.json", "--sarif", "/dev/null").code == 1
    assert (folder / "page.html").read_bytes() == (folder / "out.html").read_bytes() != b""


@pytest.mark.parametrize(
    ("line", "option", "file"),
    [
        ("diff two.json out.other.json --html out.json", "--html", "out.other.json"),
        ("check payments.py:Payments --trace out.json --sarif out.b.json", "--trace", "out.b.json"),
        ("check payments.py:Payments --sarif out.b.json --trace ./out.json", "--trace", "out.b.json"),
    ],
)
def test_no_file_beside_an_output_replaces_what_is_read(
    insync: Insync, folder: Path, line: str, option: str, file: str
) -> None:
    shutil.copy("out.json", "out.other.json")
    code, out, err = insync(*line.split())
    assert (code, out) == (2, "")
    assert f"{option} names " in err
    assert "Further traces go beside it" in err
    assert f"one of them might replace {file}, which is " in err


def test_a_trace_beside_of_an_earlier_run_is_told(insync: Insync, folder: Path) -> None:
    shutil.copy("out.json", "out.paid_means_charged.json")
    shutil.copy("out.json", "out.backup.json")
    _, _, err = insync("check", "payments.py:Payments", "--trace", "out.json")
    assert "out.paid_means_charged.json was not written: this run has no trace to put there. The file that" in err
    assert "out.backup.json" not in err


@pytest.mark.slow
def test_traces_beside_of_this_run_are_not(insync: Insync, folder: Path) -> None:
    for _ in range(2):
        code, _, err = insync("check", "kip101", "--replicas", 2, "--trace", "kip.json")
        assert (code, "earlier" in err) == (1, False)
    assert Path("kip.strong_isr.json").is_file()
    _, _, err = insync("check", "kip101", "--replicas", 2, "--property", "weak_isr", "--trace", "kip.json")
    assert "kip.strong_isr.json was not written: this run has no trace to put there." in err
