"""A file is written whole or not at all; one that cannot be read is refused with its place and what was expected."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from insync.conformance.live.runs.run_events import read_run
from insync.explorer import read_trace
from insync.model.catalogue import find_model
from insync.proofs.proof_file import read_proof
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable, write_whole


def test_writes_text_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_whole(path, "ε\n")
    assert path.read_bytes() == b"\xce\xb5\n"


def test_a_file_name_that_is_no_text_becomes_its_escape_in_json(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_whole(path, json.dumps("\udcff", ensure_ascii=False))
    assert json.loads(path.read_text()) == "\udcff"


def test_replaces_what_was_there_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "out.json", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == 0o640


def test_a_link_still_points_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_whole(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


def test_writes_into_a_device() -> None:
    write_whole(Path("/dev/null"), "gone")
    check_writable(Path("/dev/null"))


def test_a_file_that_is_open_already_is_not_replaced(tmp_path: Path) -> None:
    with open(tmp_path / "report", "w") as report:
        named = Path(f"/dev/fd/{report.fileno()}")
        (tmp_path / "link").symlink_to(named)
        for path in (named, tmp_path / "link"):
            with pytest.raises(UserError, match="this is a file that is open already"):
                check_writable(path)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "out.json"
    expected = (
        f"{path}: cannot be written (the directory {str(path.parent)!r} does not exist). "
        "Nothing was left there; name a file in a directory with room that you may write to."
    )
    for write in (check_writable, lambda file: write_whole(file, "x")):
        with pytest.raises(UserError) as caught:
            write(path)
        assert str(caught.value) == expected


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory"):
        check_writable(tmp_path)


def test_a_directory_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written \(Not a directory\)"):
        check_writable(tmp_path / "file" / "out.json")


def test_the_check_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("old")
    check_writable(tmp_path / "out.json")
    check_writable(tmp_path / "new.json")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert (tmp_path / "out.json").read_text() == "old"


def test_a_full_device_is_a_user_error() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(UserError, match="No space left on device"):
        write_whole(Path("/dev/full"), "x")


_WRITE_TOO_MUCH = """
import resource, signal, sys
from pathlib import Path
from insync.runtime.files import write_whole
from insync.runtime.errors import UserError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_whole(Path(sys.argv[1]), "x" * 100_000)
except UserError as error:
    print(error)
    sys.exit(2)
"""


@pytest.mark.parametrize("there_before", [False, True])
def test_a_write_that_fails_halfway_leaves_no_half_file(tmp_path: Path, there_before: bool) -> None:
    assert resource.RLIMIT_FSIZE is not None
    path = tmp_path / "out.json"
    if there_before:
        path.write_text("old")
    done = subprocess.run(
        # -B: else Python writes halves of its caches too, and believes them afterwards.
        [sys.executable, "-B", "-c", _WRITE_TOO_MUCH, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith(f"{path}: cannot be written (File too large).")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == ([("out.json", "old")] if there_before else [])


def test_a_name_that_is_too_long_is_a_user_error(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 300 + ".json")
    for write in (check_writable, lambda place: write_whole(place, "text")):
        with pytest.raises(UserError, match="cannot be written"):
            write(path)


# ------------------------------------------------------------------------------------------------------ files of a kind


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
