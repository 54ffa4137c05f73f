"""A harness as a process of Java: a command goes to it as a line of JSON, and a line of JSON comes back."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Any, Self

from insync.conformance.classes.compiled import NEEDED_BY, compiled_harness
from insync.conformance.classes.java_ends import by_signal, how_it_ended
from insync.conformance.classes.sources import Driven
from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.jars.jar_set import JarSet
from insync.runtime.errors import InternalError, UserError
from insync.runtime.java import find_java
from insync.runtime.watch import Stopped, StopReason

__all__ = ["JavaProcess"]

_PATIENCE = 30
_MOMENT = 0.5
_LOOK_SECONDS = 0.1
_SHOWN = 2000
_JSON = json.JSONDecoder()
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx512m", "-Djava.awt.headless=true")


class JavaProcess:
    """A running process, for one release of Kafka; as a context manager it ends with its block.

    Args:
        jars: the jars of the release.
        driven: which of its classes are driven.
        arguments: the main class, and what it is given.
        options: more options for the JVM.
        stop: ends the process when it is set and a command takes longer than a moment.

    Raises:
        UserError: Java is missing or too old, or the harness cannot be compiled against these jars.
    """

    def __init__(
        self,
        jars: JarSet,
        driven: Driven,
        arguments: Sequence[str],
        *,
        options: Sequence[str] = (),
        stop: threading.Event | None = None,
    ) -> None:
        java = find_java(NEEDED_BY)
        classes = compiled_harness(jars, driven)
        self.version, self._stop = jars.version, stop
        self._errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 -- `close` closes it
        class_path = ":".join(map(str, (classes, *jars.paths)))
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [java.program, *_OPTIONS, *options, "-cp", class_path, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                process_group=0,  # Ctrl-C is for us, who end it in order
            )
        except BaseException:
            self._errors.close()
            raise

    @property
    def process_id(self) -> int:
        """The id of the process of Java."""
        return self._process.pid

    def ask(self, command: str, **arguments: Argument) -> dict[str, Any]:
        """Give a command and return the answer.

        Raises:
            Stopped: the end was asked for meanwhile, and has come.
            KafkaRaised: Kafka has thrown an exception.
            UserError: somebody has ended the process, or the system has.
            InternalError: the process has ended by itself.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{json.dumps({'command': command, **arguments})}\n".encode())
            self._process.stdin.flush()
            self._wait()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise self._ended()
        answer: dict[str, Any] = _JSON.decode(line.decode())
        if "raised" in answer:
            raise KafkaRaised(answer["raised"], answer["trace"])
        return answer

    def _ended(self) -> Exception:
        """Return what there is to say of a process that has ended unasked."""
        code = self._process.wait()
        self._errors.seek(0)
        written = self._errors.read().strip()[-_SHOWN:]
        message = f"The process of Java for Kafka {self.version} {how_it_ended(code, written.splitlines())}"
        return UserError(message) if by_signal(code) else InternalError(f"{message}\n{written}")

    def _wait(self) -> None:
        """Wait for an answer, until somebody wants the end; then for a moment more."""
        if self._stop is None:
            return
        assert self._process.stdout is not None
        patience = _MOMENT
        while not select.select([self._process.stdout], [], [], _LOOK_SECONDS)[0]:
            patience -= _LOOK_SECONDS if self._stop.is_set() else 0
            if patience < 0:
                self._process.kill()
                raise Stopped(StopReason.INTERRUPT)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            self._process.stdout.close()
            self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:  # a command may still be under way
            self._process.kill()
        self.close()
