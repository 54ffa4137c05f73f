"""Files that cannot be read, or are not what they should be: the place, what was expected, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from insync.conformance.live.runs.run_events import read_run
from insync.explorer import read_trace
from insync.model.catalogue import find_model
from insync.proofs.proof_file import read_proof
from insync.runtime.errors import UserError

KINDS = {"trace": read_trace, "proof": read_proof, "run": read_run}


def told(read: Callable[[Path], object], file: Path) -> str:
    with pytest.raises(UserError) as error:
        read(file)
    return str(error.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ": cannot be read (No such file or directory). "),
        ("folder", ": cannot be read (Is a directory). "),
        (b"caf\xe9", ": byte 3 is not UTF-8 text. A {kind} file (insync-"),
        (bytes(range(256)), ": byte 128 is not UTF-8 text. A {kind} file (insync-"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, kind: str, content: bytes | str | None, expected: str) -> None:
    file = tmp_path / "some.json"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content == "folder":
        file.mkdir()
    said = told(KINDS[kind], file)
    assert said.startswith(f"{file}{expected.format(kind=kind)}")
    assert "`insync " in said, "what to do"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_one_may_not_read(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(path: Path, *_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", refuses)
    assert told(KINDS[kind], tmp_path / "a.json").startswith(
        f"{tmp_path / 'a.json'}: cannot be read (Permission denied). "
    )


@pytest.mark.parametrize("kind", ["trace", "proof"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ": the file is empty; a {kind} ({format}) was expected. "),
        ('{"format": "ins', ":1:12: the {kind} file is cut off here. "),
        ('{"format":\n', ":2:1: the {kind} file is cut off here. "),
        (
            "replicas=3",
            ":1:1: this is not JSON at 'replicas=3' (Expecting value). A {kind} ({format}) was expected. ",
        ),
        ('{"a": 1, "a": 2}', ": the key 'a' is there twice in one object. A {kind} ({format}) was expected. "),
        ("[" * 100_000, ": values are nested too deep for a {kind} ({format}). "),
    ],
)
def test_a_file_that_is_no_json(tmp_path: Path, kind: str, content: str, expected: str) -> None:
    file = tmp_path / "some.json"
    file.write_text(content)
    format_ = {"trace": "insync-trace/1", "proof": "insync-proof/2"}[kind]
    assert told(KINDS[kind], file).startswith(f"{file}{expected.format(kind=kind, format=format_)}")


@pytest.mark.parametrize("content", ["", '{"format": "ins', "[1, 2]"])
def test_a_line_that_is_of_no_run(tmp_path: Path, content: str) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(content)
    said = (
        "this is no line of a run that insync kafka record has written (insync-kafka-run, version 2). Record it again."
    )
    assert told(read_run, file) == f"{file}:1: {said}"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ": this is a directory; give the path of the Python file that defines Lock."),
        (b"caf\xe9 = 1", " cannot be loaded: byte 3 is not UTF-8 text; save the file as UTF-8, or name the one with"),
        (b"x = 1\0", " cannot be loaded: byte 5 is 0, so it is no Python; name the file of the model."),
    ],
)
def test_a_model_in_what_is_no_python(tmp_path: Path, content: bytes | None, expected: str) -> None:
    file = tmp_path / "lock.py"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    assert told(lambda path: find_model(f"{path}:Lock"), file).startswith(f"{file}{expected}")


def test_a_model_in_another_encoding_that_it_declares(tmp_path: Path) -> None:
    file = tmp_path / "lock.py"
    file.write_bytes(b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n")
    assert "defines no model 'Lock'" in told(lambda path: find_model(f"{path}:Lock"), file)
