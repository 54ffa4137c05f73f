"""The harness of the cluster's classes: it receives a command and returns the parts of the state that changed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from typing import Any

from insync.conformance.classes.java_process import JavaProcess
from insync.conformance.classes.observation import Observation
from insync.conformance.classes.sources import Driven
from insync.conformance.classes.subject import Answer, Argument
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.own_folder import own_folder

__all__ = ["Harness"]

_MAIN = "insync.harness.Main"
_PREFIX = "insync-kafka-"


class Harness(JavaProcess):
    """A running harness, for one release of Kafka; as a context manager it ends with its block.

    Its files are in memory where there is a file system for that, else in the temporary folder.

    Args:
        jars: the jars of the release.
        options: more options for the JVM.
        stop: ends the process when it is set and a command takes longer than a moment.

    Raises:
        UserError: Java is missing or too old, or the harness cannot be compiled against these jars.
    """

    def __init__(self, jars: JarSet, *, options: Sequence[str] = (), stop: threading.Event | None = None) -> None:
        self._seen: tuple[Observation, dict[str, Any]] | None = None
        self.folder, self._lock = own_folder(_PREFIX)
        try:
            super().__init__(jars, Driven.CLUSTER, [_MAIN, str(self.folder)], options=options, stop=stop)
        except BaseException:
            self._remove()
            raise

    def take(self, command: str, **arguments: Argument) -> Answer:
        """Give a command and return what came of it.

        Raises:
            Stopped: the end was asked for meanwhile, and has come.
            KafkaRaised: Kafka has thrown an exception.
            UserError: somebody has ended the process, or the system has.
            InternalError: the process has ended by itself.
        """
        answer = self.ask(command, **arguments)
        self._seen = self._after(answer["state"])
        return Answer(answer["answer"], *self._seen)

    def _after(self, news: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        """Return the state as it is now, and as JSON: what is not among the news is as it was.

        Most commands change one broker, and what the others have need not be read again.
        """
        if news.pop("whole", False) or self._seen is None:
            return Observation.read(news), news
        seen, raw = self._seen
        return seen.after(news), {**raw, **news, "brokers": {**raw["brokers"], **news["brokers"]}}

    def close(self) -> None:
        """End the process, and remove its files."""
        try:
            super().close()
        finally:
            self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()
