"""The SparkSession of a search: the caller's, which is left as it was, or a new one, which is shut down completely."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, Watch
from insync.runtime.workers import available_cores
from insync.spark_explore.driver.class_archive import archive_options
from insync.spark_explore.driver.own_session import own_session
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
_CONNECT_PORT = 15002
_CONNECT_SECONDS = 20
_FAREWELL_SECONDS = 0.3  # how long a server is waited for after an interrupt
_ZIP = "insync-namespace.zip"


@contextlib.contextmanager
def open_session(
    given: SparkSession | None,
    master: str | None,
    remote: str | None,
    java_options: str | None = None,
    watch: Watch | None = None,
) -> Iterator[SparkSession]:
    """Yield a session with the settings that a search needs; see `begin_session`."""
    with begin_session(given, master, remote, java_options, watch) as begun:
        yield begun.session()


@dataclass(frozen=True, slots=True)
class ComingSession:
    """A session that may still be starting.

    Attributes:
        session: waits for the session, and returns it.
        tasks: how many tasks run at once, if that is known before the session has started.
    """

    session: Callable[[], SparkSession]
    tasks: int | None


@contextlib.contextmanager
def begin_session(
    given: SparkSession | None,
    master: str | None,
    remote: str | None,
    java_options: str | None = None,
    watch: Watch | None = None,
) -> Iterator[ComingSession]:
    """Yield a session that is starting, with the settings that a search needs.

    The JVM of a new session starts at once, while the caller does other work.

    Args:
        given: the caller's session; its settings are restored afterwards, and it stays open. None takes the session
            that is active in this process, as in a notebook, unless `master` or `remote` is given.
        master: where a new session runs; None is the choice of spark-submit, or this machine.
        remote: a Spark Connect server.
        java_options: of the JVM of a new session, in place of those that use the class archive.
        watch: when to stop starting it. After an interrupt, a new session is left to end by itself.

    Raises:
        UserError: something is missing on this machine, or the session cannot be made.
        Stopped: the watch ended the start.
    """
    watch = watch or Watch()
    watch.attend(load_pyspark)
    if master is None and remote is None:
        given = given or _active()
    with contextlib.ExitStack() as opened:
        if given is None and remote is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
            java = watch.attend(require_java)
            more = archive_options(java) if java_options is None else java_options
            master = master or "local[*]"
            yield ComingSession(opened.enter_context(own_session(master, _SETTINGS, more, watch)), _tasks_of(master))
        else:
            yield ComingSession(functools.cache(lambda: opened.enter_context(_found(given, remote, watch))), None)


@contextlib.contextmanager
def _found(given: SparkSession | None, remote: str | None, watch: Watch) -> Iterator[SparkSession]:
    """Yield a session that this process does not start: given, connected, or from spark-submit."""
    watch.attend(load_packages)
    if given is not None:
        with _settings(given):
            yield given
    elif remote is not None:
        with _connected(remote, watch) as session, _settings(session):
            yield session
    else:
        with _submitted(watch) as session, _settings(session):
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
def _settings(session: SparkSession) -> Iterator[None]:
    before = {name: session.conf.get(name, None) for name in _SETTINGS}
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    try:
        yield
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

    try:
        session = watch.attend(connect)
    except (PySparkException, ImportError, OSError, ValueError) as error:
        message = f"{remote}: there is no Spark Connect server that answers ({_first_line(error)})."
        raise UserError(message) from error
    try:
        yield session
    finally:
        _say_farewell(session, watch)


def _reach(remote: str) -> None:
    """Raise OSError unless something listens at a remote address: Spark's own client tries for minutes."""
    place = urlsplit(remote)
    if place.scheme == "sc":  # others, such as local[2], start their own server
        socket.create_connection((place.hostname or "", place.port or _CONNECT_PORT), _CONNECT_SECONDS).close()


@contextlib.contextmanager
def _submitted(watch: Watch) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    # Called in another thread, Spark does not replace the handler of Ctrl-C; here and below.
    session = watch.attend(lambda: SparkSession.builder.getOrCreate())
    try:
        yield session
    finally:
        _say_farewell(session, watch)


def _say_farewell(session: SparkSession, watch: Watch) -> None:
    """End a session whose server this process did not start; after an interrupt, do not wait for the server."""
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
        ship: whether to send it; None sends it unless the workers are on this machine.

    Raises:
        UserError: the workers may be on other machines, and no run directory was named.
    """
    if is_local(session) and not ship:
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


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]
