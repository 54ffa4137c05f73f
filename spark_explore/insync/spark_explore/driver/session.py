"""The SparkSession of a search: the caller's, which is left as it was, or a new one from `SparkSession.builder`."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, Watch, left_behind
from insync.runtime.workers import available_cores
from insync.spark_explore.driver.requirements import load_packages, load_pyspark, require_java
from insync.spark_explore.driver.ship import write_namespace
from insync.spark_explore.executor.worker import spark_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "ComingSession",
    "begin_session",
    "default_partitions",
    "is_connect",
    "is_local",
    "open_session",
    "prepare_workers",
]

_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",  # a task must receive the rows of exactly one partition
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",  # rows are large
}
_LOGGING = f'-Dlog4j2.configurationFile="{Path(__file__).with_name("log4j2.properties")}"'
_OWN_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.shuffle.compress": "false",  # packed states hardly shrink
    "spark.sql.codegen.wholeStage": "false",  # compiling Java takes longer than processing few rows
    "spark.driver.extraJavaOptions": _LOGGING,
}
_LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    # Java's second compiler would take as long as a search of some million states, and threads that collect garbage
    # beside it take the cores of the tasks: there is little Java to run, and little garbage.
    "spark.driver.extraJavaOptions": f"{_LOGGING} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
_CONNECT_PORT = 15002
_CONNECT_SECONDS = 20
_FAREWELL_SECONDS = 0.3  # how long a session is waited for after an interrupt
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"  # pyspark sets it for the process, which then makes no other sessions
_ZIP = "insync-namespace.zip"


@contextlib.contextmanager
def open_session(
    given: SparkSession | None, master: str | None, remote: str | None, watch: Watch | None = None
) -> Iterator[SparkSession]:
    """Yield a session with the settings that a search needs; see `begin_session`."""
    with begin_session(given, master, remote, watch) as begun:
        yield begun.session()


@dataclass(frozen=True, slots=True)
class ComingSession:
    """A session that may still be starting.

    Attributes:
        session: waits for the session, and returns it.
        tasks: how many tasks run at once, if that is known before the session has started.
        has_started: whether `session` would return at once, or raise an error.
    """

    session: Callable[[], SparkSession]
    tasks: int | None
    has_started: Callable[[], bool] = lambda: True


@contextlib.contextmanager
def begin_session(
    given: SparkSession | None, master: str | None, remote: str | None, watch: Watch | None = None
) -> Iterator[ComingSession]:
    """Yield a session that is starting, with the settings that a search needs.

    A new session starts at once, in another thread, while the caller does other work.

    Args:
        given: the caller's session; its settings are restored afterwards, and it stays open. None takes the session
            that is active in this process, as in a notebook, unless `master` or `remote` is given.
        master: where a new session runs; None is the choice of spark-submit, or this machine.
        remote: a Spark Connect server.
        watch: when to stop starting it. After an interrupt, a new session is left to end by itself.

    Raises:
        UserError: something is missing on this machine, or the session cannot be made.
        Stopped: the watch ended the start.
    """
    watch = watch or Watch()
    watch.attend(load_pyspark)
    if remote is None:
        watch.attend(_await_starts)
        active = _active()
        if master is None:
            given = given or active
        elif given is None and active is not None:
            raise _another_master(master)
    with contextlib.ExitStack() as opened:
        if given is None and remote is None:
            if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else spark-submit has started the JVM
                watch.attend(require_java)
                master = master or "local[*]"
            starting = _Starting(master, watch)
            opened.callback(starting.end)
            made = functools.cache(lambda: opened.enter_context(_settings(starting.session())))
            yield ComingSession(made, _tasks_of(master or ""), lambda: starting.is_over)
        else:
            yield ComingSession(functools.cache(lambda: opened.enter_context(_found(given, remote, watch))), None)


class _Starting:
    """A session from `SparkSession.builder`, which starts in another thread.

    There Spark does not replace the handler of Ctrl-C, and the start can be left behind.
    """

    def __init__(self, master: str | None, watch: Watch) -> None:
        self._master, self._watch = master, watch
        self._made = watch.begin(lambda: _started(master))
        self._packages = watch.begin(load_packages)

    @property
    def is_over(self) -> bool:
        """Whether the start has succeeded or failed."""
        return self._made.done and self._packages.done

    def session(self) -> SparkSession:
        """Wait for the session, and return it.

        Raises:
            UserError: Spark does not start, or this process has a session with another master.
            Stopped: the watch ended the start.
        """
        self._packages.result()
        try:
            session = self._made.result()
        except Stopped:
            raise
        except Exception as error:
            message = f"Spark does not start on {self._master or 'the master of spark-submit'}: {_cause(error)}"
            raise UserError(message) from error
        if not self._is_ours(session):
            raise _another_master(str(self._master))
        return session

    def end(self) -> None:
        """Stop the session, also one that is still starting; after an interrupt it is not waited for."""
        if not self._made.done:
            self._made.give_up()
            return
        with contextlib.suppress(Exception):  # it has not started
            session = self._made.result()
            if self._is_ours(session):
                _say_farewell(session, self._watch)

    def _is_ours(self, session: SparkSession) -> bool:
        return self._master is None or bool(session.sparkContext.master == self._master)


_one_start = threading.Lock()
"""Held by a start that may have been left behind: Spark would give its session to the next start, and then stop it."""


def _await_starts() -> None:
    """Wait until a start that was left behind is over, and its session stopped."""
    with _one_start:
        pass


def _started(master: str | None) -> SparkSession:
    """Return a new session on a master; stop it if nobody waits for it any more."""
    with _one_start:
        session = _built(master)
        if left_behind():
            session.stop()
    return session


def _built(master: str | None) -> SparkSession:
    """Return a session on a master, or the one that spark-submit describes."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    if master is not None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        local = _LOCAL_SETTINGS if master.startswith("local") else {}
        for name, value in ({"spark.app.name": "insync", "spark.master": master} | _OWN_SETTINGS | local).items():
            builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _another_master(master: str) -> UserError:
    return UserError(f"There is a SparkSession in this process already, so none can be made on {master}; use that one.")


def _cause(error: BaseException) -> str:
    """Return the first line that says why Spark does not start; that of a Java exception comes from the JVM."""
    with contextlib.suppress(Exception):
        java: Any = getattr(error, "java_exception", None)
        if java is not None:
            return str(java.toString()).strip().split("\n")[0]
    return _first_line(error)


@contextlib.contextmanager
def _found(given: SparkSession | None, remote: str | None, watch: Watch) -> Iterator[SparkSession]:
    """Yield a session that this process does not start: given, or of a server."""
    watch.attend(load_packages)
    if given is not None:
        with _settings(given) as session:
            yield session
    elif remote is not None:
        with _connected(remote, watch) as connected, _settings(connected) as session:
            yield session


def _tasks_of(master: str) -> int | None:
    """Return how many tasks run at once for a local master; None for any other master."""
    threads = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?", master)
    if threads is None:
        return None
    return available_cores() if threads[1] == "*" else int(threads[1] or 1)


def _active() -> SparkSession | None:
    from pyspark.sql import SparkSession

    found: SparkSession | None = SparkSession.getActiveSession()
    return found


@contextlib.contextmanager
def _settings(session: SparkSession) -> Iterator[SparkSession]:
    """Yield a session with the settings that a search needs; those that it had are restored after the block."""
    before = {name: session.conf.get(name, None) for name in _SETTINGS}
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    try:
        yield session
    finally:
        for name, kept in before.items():
            with contextlib.suppress(Exception):  # a session that has died needs no settings
                session.conf.unset(name) if kept is None else session.conf.set(name, kept)


@contextlib.contextmanager
def _connected(remote: str, watch: Watch) -> Iterator[SparkSession]:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    def connect() -> SparkSession:
        _reach(remote)
        session: SparkSession = SparkSession.builder.remote(remote).getOrCreate()
        session.version  # noqa: B018  (the first call that reaches the server)
        return session

    mode = os.environ.get(_CONNECT_MODE)
    try:
        try:
            session = watch.attend(connect)
        except (PySparkException, ImportError, OSError, ValueError) as error:
            message = (
                f"{remote}: no Spark Connect server answers there ({_first_line(error)}). Start one, or name another."
            )
            raise UserError(message) from error
        try:
            yield session
        finally:
            _say_farewell(session, watch)
    finally:
        if mode is None:
            os.environ.pop(_CONNECT_MODE, None)


def _reach(remote: str) -> None:
    """Raise OSError unless something listens at a remote address: Spark's own client tries for minutes."""
    place = urlsplit(remote)
    if place.scheme == "sc":  # others, such as local[2], start their own server
        socket.create_connection((place.hostname or "", place.port or _CONNECT_PORT), _CONNECT_SECONDS).close()


def _say_farewell(session: SparkSession, watch: Watch) -> None:
    """End a session; after an interrupt, do not wait for its end."""
    with contextlib.suppress(Stopped):
        watch.untimed().later(_FAREWELL_SECONDS).attend(session.stop)


def is_connect(session: SparkSession) -> bool:
    """Whether this is a session of Spark Connect, whose server is another process."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def is_local(session: SparkSession) -> bool:
    """Whether the driver on this machine is also the executor, so that both share files and Python."""
    if is_connect(session):
        return False
    master = str(session.sparkContext.master)
    return master == "local" or master.startswith("local[")


def default_partitions(session: SparkSession) -> int:
    """Return how many tasks run at once, as Spark reports it."""
    if is_connect(session):
        return int(session.conf.get("spark.default.parallelism", None) or 8)
    return max(session.sparkContext.defaultParallelism, 1)


def prepare_workers(session: SparkSession, run_dir: str | None, ship: bool | None) -> None:
    """Send the namespace `insync` as a zip to workers that may lack it.

    Args:
        session: the session of the workers.
        run_dir: the run directory, if one was named.
        ship: whether to send it; None sends it unless the workers are on this machine and run this Python.

    Raises:
        UserError: the workers may be on other machines, and no run directory was named.
    """
    if is_local(session) and not ship and (ship is False or _runs_this_python(session)):
        return
    if run_dir is None and not is_local(session):
        message = (
            "Spark's executors may be on other machines: name a run directory that they and this one reach (--run-dir)."
        )
        raise UserError(message)
    if ship is False:
        return
    if is_connect(session):
        with tempfile.TemporaryDirectory(prefix="insync-ship-") as folder:
            write_namespace(Path(folder) / _ZIP)
            session.addArtifacts(str(Path(folder) / _ZIP), pyfile=True)
    else:
        # The driver serves the file as long as the session lives, and Spark removes this folder with it.
        path = spark_folder() / "insync-ship" / _ZIP
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            write_namespace(path)
            session.sparkContext.addPyFile(str(path))


def _runs_this_python(session: SparkSession) -> bool:
    """Whether the workers of a local session have the packages of this process: PYSPARK_PYTHON may name others."""
    command = session.sparkContext.pythonExec
    return Path(shutil.which(command) or command).parent == Path(sys.executable).parent


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]
