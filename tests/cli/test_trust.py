"""Opening somebody's file runs nothing that it names: a command imports the Python files on its own command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.export.tla.module import HEADER
from insync.proofs.proof_file import Proof, proof_text
from insync_hostile import HOSTILE, STEPS

Insync = Callable[..., Any]

TRACE = {"format": "insync-trace/1", "bounds": {}, "property": "explored", "reason": ""}


class Mail:
    """A folder that somebody sent, in a folder in which we work, and what it has run."""

    def __init__(self, folder: Path, way: str) -> None:
        self.folder = folder / "the mail"
        (self.folder / "below").mkdir(parents=True)
        self.model = {"beside": "evil.py", "below": "below/evil.py", "above": "../evil.py", "absolute": "evil.py"}[way]
        self.file = self.folder / self.model
        self.file.write_text(HOSTILE)
        named = f"{self.file if way == 'absolute' else self.model}:Evil"
        for name, content in {
            "t.json": {**TRACE, "model": named, "steps": STEPS},
            "u.json": {**TRACE, "model": named, "steps": STEPS},
            "t.itf.json": {"vars": ["on"], "states": [{"on": False}]},
        }.items():
            (self.folder / name).write_text(json.dumps(content))
        (self.folder / "p.json").write_text(proof_text(Proof(named, {}, (), (), 1, "", {})))
        (self.folder / "M.tla").write_text(f"\\* {HEADER} {named} with nothing. Read it.\n")

    @property
    def ran(self) -> bool:
        return self.file.resolve().with_suffix(".ran").exists()


@pytest.fixture(params=["beside", "below", "above", "absolute"])
def mail(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mail:
    made = Mail(tmp_path, request.param)
    if request.param in ("beside", "above"):
        monkeypatch.chdir(made.folder)
        made.folder = Path()
    else:
        monkeypatch.chdir(tmp_path)
    return made


LINES = {
    "replay": ["replay", "t.json"],
    "replay, as JSON": ["replay", "t.json", "--json"],
    "replay, a page": ["replay", "--format", "html", "t.json"],
    "replay, of another checker": ["replay", "t.itf.json"],
    "replay, after --": ["replay", "--html", "out page.html", "--", "t.json"],
    "report": ["report", "t.json", "u.json", "-o", "out page.html"],
    "diff": ["diff", "t.json", "u.json"],
    "prove": ["prove", "--lemmas", "p.json", "--property", "type_ok", "--quiet"],
    "kafka replay": ["kafka", "replay", "t.json", "--kafka", "4.3.1"],
    "kafka bisect": ["kafka", "bisect", "t.json"],
    "kafka patch": ["kafka", "patch", "N-01", "--kafka", "4.3.1", "--trace", "t.json"],
}
"""Every command that opens a file which names a model."""


def given(mail: Mail, name: str) -> list[str]:
    return [str(mail.folder / word) if (mail.folder / word).is_file() else word for word in LINES[name]]


@pytest.mark.parametrize("name", LINES)
def test_what_a_file_names_is_not_run(insync: Insync, mail: Mail, name: str) -> None:
    line = given(mail, name)
    code, out, err = insync(*line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert not mail.ran
    assert not list(mail.file.parent.glob("__pycache__"))
    what = {"prove": "proof", "replay, of another checker": "module"}.get(name, "trace")
    assert f": this is a {what} of Evil, a model in " in err
    assert (
        f"Only the {what} names that file, so it was not run. If you trust that file, name it: insync {line[0]} " in err
    )
    assert not Path("out page.html").exists()


@pytest.mark.parametrize("name", [name for name in LINES if not name.startswith("kafka")])
def test_the_command_that_is_printed_runs_it(insync: Insync, mail: Mail, name: str) -> None:
    line = given(mail, name)
    _, _, err = insync(*line)
    first, *allowed = shlex.split(err.rpartition("name it: ")[2])
    assert (first, allowed[0]) == ("insync", line[0])
    assert [word for word in allowed if word in line] == line, "all that was given"
    code, _, err = insync(*allowed)
    assert (code, err) == (0, "")
    assert mail.ran


@pytest.mark.parametrize("name", [name for name in LINES if name.startswith("kafka")])
def test_kafkas_classes_get_what_is_named(insync: Insync, tmp_path: Path, name: str) -> None:
    mail = Mail(tmp_path, "absolute")
    code, _, err = insync(*given(mail, name), "--model", f"{mail.file}:Evil")
    assert (code, "so it was not run" in err, mail.ran) == (2, False, True)


def test_a_line_that_a_shell_completes_runs_nothing(
    insync: Insync, mail: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, words = mail.folder / "p.json", "insync prove --lemmas {} --".format
    monkeypatch.setenv("_INSYNC_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words(shlex.quote(str(proof))))
    monkeypatch.setenv("COMP_CWORD", "4")
    _, out, err = insync()
    assert ("--bmc" in out, err, mail.ran) == (True, "", False)


def test_a_trace_to_begin_with_is_of_the_model_that_is_named(insync: Insync, mail: Mail) -> None:
    code, _, err = insync("explore", "kip101", "--text", "--from", mail.folder / "t.json")
    assert (code, "it is a trace of" in err, mail.ran) == (2, True, False)


def test_the_first_word_is_enough_for_several_traces(insync: Insync, tmp_path: Path, lamp: str) -> None:
    """All files that would run are named at once, and models that are named already stay."""
    mail, lamps = Mail(tmp_path, "absolute"), tmp_path / "lamp.json"
    assert insync("check", lamp, "--presses", 3, "--trace", lamps).code == 1
    line = ["report", lamps, mail.folder / "t.json", "-o", tmp_path / "page.html"]
    _, _, err = insync(*line, "--model", lamp)
    assert err.count("Only the trace names that file") == 1
    allowed = shlex.split(err.rpartition("name it: ")[2])[1:]
    assert allowed[-4:] == ["--model", lamp, "--model", f"{mail.file}:Evil"]
    assert insync(*allowed).code == 0
    assert (tmp_path / "page.html").read_text().count("<article") == 2


def test_what_comes_with_insync_needs_no_word(insync: Insync, tmp_path: Path) -> None:
    small, file = ("--replicas", 2), tmp_path / "t.json"
    assert insync("check", "kip101", *small, "--trace", file).code == 1
    assert insync("replay", file)[0::2] == (0, "")
    assert insync("report", file).code == 0


def test_another_model_is_taken_with_a_sentence(insync: Insync, tmp_path: Path) -> None:
    mail = Mail(tmp_path, "beside")
    other = tmp_path / "mended.py"
    other.write_text(HOSTILE.replace("Evil", "Mended"))
    code, out, err = insync("replay", mail.folder / "t.json", "--model", f"{other}:Mended", "--json")
    said = f"{mail.folder / 't.json'} is a trace of evil.py:Evil; its steps are taken by {other}:Mended, which --model"
    assert (code, err, mail.ran) == (0, f"{said} names.\n", False)
    assert json.loads(out)["model"] == f"{other}:Mended"


def test_models_are_about_trace_files(insync: Insync) -> None:
    code, _, err = insync("diff", "kip101", "kip279", "--model", "kip101")
    assert (code, "--model is about trace files, and models are compared." in err) == (2, True)
