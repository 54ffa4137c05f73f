"""The process behind a harness, played by a script: what it is given, how it answers and ends, and what it leaves."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.conformance.classes import harness as harness_module
from insync.conformance.classes import java_process as module
from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import KafkaRaised
from insync.conformance.jars.jar_set import JarSet
from insync.runtime.errors import InternalError, UserError

SCRIPT = """\
import json, os, signal, sys
print("beginning", file=sys.stderr, flush=True)
for line in sys.stdin:
    command = json.loads(line)
    if command["command"] == "end":
        print("out of memory", file=sys.stderr)
        sys.exit(3)
    if command["command"].startswith("SIG"):
        os.kill(os.getpid(), signal.Signals[command["command"]])
    if command["command"] == "throw":
        answer = {"raised": "no leader", "trace": "at Partition"}
    else:
        answer = {"answer": line.strip(), "state": {"arguments": sys.argv[1:]}}
    print(json.dumps(answer), flush=True)
"""

Start = Callable[..., Harness]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    java, script = tmp_path / "java", tmp_path / "java.py"
    script.write_text(SCRIPT)
    java.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S {shlex.quote(str(script))} "$@"\n')
    java.chmod(0o755)
    monkeypatch.setattr(module, "find_java", lambda _: SimpleNamespace(program=str(java)))
    monkeypatch.setattr(module, "compiled_harness", lambda jars, driven: Path("classes"))
    monkeypatch.setattr(Observation, "read", lambda state: ("read", state))
    jars = SimpleNamespace(version="4.1.1", paths=[Path("a.jar"), Path("b.jar")])

    def started(**more: object) -> Harness:
        given: JarSet = jars  # type: ignore[assignment]
        return Harness(given, **more)  # type: ignore[arg-type]

    return started


def test_java_is_given_its_classes_the_options_and_the_folder(start: Start) -> None:
    with start(options=["-Dx=1"]) as harness:
        answer = harness.take("write", broker=1, value="r0")
        arguments = answer.raw["arguments"]
        assert isinstance(arguments, list)
        state: object = answer.state
        assert json.loads(answer.said) == {"command": "write", "broker": 1, "value": "r0"}
        assert state == ("read", answer.raw)
        assert arguments[:5] == list(module._OPTIONS)
        assert arguments[5:] == ["-Dx=1", "-cp", "classes:a.jar:b.jar", "insync.harness.Main", str(harness.folder)]
        assert harness.folder.is_dir()
    assert not harness.folder.exists()


def test_what_kafka_throws_is_raised_and_the_next_command_works(start: Start) -> None:
    with start() as harness:
        with pytest.raises(KafkaRaised) as raised:
            harness.take("throw")
        assert raised.value.args[0] == "no leader"
        assert harness.take("observe").said == '{"command": "observe"}'


def test_a_process_that_has_ended_says_why_and_its_files_go(start: Start) -> None:
    with pytest.raises(InternalError) as ended, start() as harness:
        harness.take("end")
    said, *written = str(ended.value).splitlines()
    assert said == "The process of Java for Kafka 4.1.1 has ended with exit code 3. It says: out of memory"
    assert written == ["beginning", "out of memory"]
    assert not harness.folder.exists()
    with start() as harness:
        with pytest.raises(InternalError):
            harness.take("end")
        with pytest.raises(InternalError, match=r"for Kafka 4\.1\.1 has ended with exit code 3"):
            harness.take("observe")


@pytest.mark.parametrize(("name", "who"), [("SIGKILL", "as the system does where memory is short"), ("SIGTERM", "by")])
def test_a_process_that_was_ended_is_no_error_of_insync(start: Start, name: str, who: str) -> None:
    with (
        pytest.raises(UserError, match=rf"for Kafka 4\.1\.1 was ended by {name}, {who}.*Start it again"),
        start() as harness,
    ):
        harness.take(name)
    assert not harness.folder.exists()


def test_a_process_that_cannot_be_started_leaves_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    real = vars(harness_module)["own_folder"]

    def noted(prefix: str) -> Any:
        made = real(prefix)
        folders.append(made[0])
        return made

    monkeypatch.setattr(harness_module, "own_folder", noted)
    monkeypatch.setattr(module, "find_java", lambda _: SimpleNamespace(program="/nonexistent/java"))
    with pytest.raises(FileNotFoundError):
        start()
    (folder,) = folders
    assert not folder.exists()


def test_an_error_within_the_block_does_not_wait_for_the_command(start: Start) -> None:
    with pytest.raises(ZeroDivisionError), start() as harness:
        raise ZeroDivisionError
    assert not harness.folder.exists()
