"""A SparkSession in a JVM that this process starts: it starts while the caller does other work, and ends completely."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, Watch
from insync.spark_explore.driver.jvm import DriverJvm
from insync.spark_explore.driver.requirements import load_packages

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

__all__ = ["own_session"]

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_SETTINGS = {
    "spark.app.name": "insync",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.shuffle.compress": "false",  # packed states hardly shrink
    "spark.sql.codegen.wholeStage": "false",  # compiling Java takes longer than processing few rows
    "spark.sql.shuffle.partitions": "8",
    "spark.log.level": "OFF",
}
_LOCAL_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    # Little Java runs here, and not for long: the C1 compiler alone is faster than both compilers.
    _JAVA_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
}
_RETRIES = 4  # in local mode Spark tries a task once by default


@contextlib.contextmanager
def own_session(
    master: str, settings: Mapping[str, str], java_options: str, watch: Watch
) -> Iterator[Callable[[], SparkSession]]:
    """Start a JVM, yield a function that waits for the session in it, and end both.

    Args:
        master: the Spark master.
        settings: of the search.
        java_options: further options of the JVM if it is the executor too.
        watch: when to stop starting it. After an interrupt the JVM is left to end by itself.

    Raises:
        UserError: this process has a session already, or none can be made.
        Stopped: the watch ended the start.
    """
    from pyspark import SparkConf, SparkContext

    if SparkContext._active_spark_context is not None:
        message = f"There is a SparkSession in this process already, so none can be made on {master}; use that one."
        raise UserError(message)
    local = _LOCAL_SETTINGS if master.startswith("local") else {}
    conf = SparkConf(loadDefaults=False).setMaster(_with_retries(master))
    conf.setAll(list({**settings, **_SETTINGS, **local}.items()))
    if local:
        conf.set(_JAVA_OPTIONS, local[_JAVA_OPTIONS] + java_options)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryFile() as log:  # has no name, so it disappears even if this process is killed
        own = _OwnSession(master, conf, log, watch)
        try:
            yield own.begun
        finally:
            own.end()


class _OwnSession:
    """A future session in a JVM that is starting; the messages of the JVM go to a file."""

    def __init__(self, master: str, conf: SparkConf, log: IO[bytes], watch: Watch) -> None:
        self._master, self._conf, self._log, self._watch = master, conf, log, watch
        self._jvm = DriverJvm(conf, log)
        self._gateway: Any = None
        self._session: SparkSession | None = None

    def begun(self) -> SparkSession:
        """Return the session; the first call makes it, and waits for the JVM."""
        if self._session is None:
            try:
                self._watch.attend(load_packages)
                self._gateway = self._jvm.connect(self._watch)
                self._session = self._watch.attend(lambda: _session_of(self._conf, self._gateway))
            except Stopped:
                raise
            except Exception as error:
                self._log.seek(0)
                cause = _cause(self._log.read().decode(errors="replace"), error)
                message = f"Spark does not start on {self._master}: {cause}"
                raise UserError(message) from error
        return self._session

    def end(self) -> None:
        """End the session and the JVM; a JVM without a session is not waited for."""
        session = self._session
        if session is None:
            self._jvm.leave()
            _forget()
            return
        try:
            self._watch.untimed().attend(lambda: _end(session, self._gateway, self._jvm))
        except Stopped:
            _expect_no_more(session)
            self._jvm.leave()
        finally:
            _forget()


def _session_of(conf: SparkConf, gateway: Any) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    return SparkSession(SparkContext(conf=conf, gateway=gateway))


def _end(session: SparkSession, gateway: Any, jvm: DriverJvm) -> None:
    """End the session and its JVM; pyspark would keep the JVM until this process ends."""
    with contextlib.suppress(Exception):  # the JVM may have died
        session.stop()
    with contextlib.suppress(Exception):
        gateway.shutdown()
    jvm.end()


def _expect_no_more(session: SparkSession) -> None:
    """Keep pyspark's accumulator server, which stays in this process, from printing that its JVM is gone."""
    server: Any = getattr(session.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None
        server.server_shutdown = True


def _forget() -> None:
    """Clear pyspark's global session, so that another one can be made in this process."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    SparkContext._gateway = SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


def _with_retries(master: str) -> str:
    if master == "local":
        return f"local[1,{_RETRIES}]"
    if master.startswith("local[") and "," not in master:
        return f"{master[:-1]},{_RETRIES}]"
    return master


def _cause(log: str, error: BaseException) -> str:
    """The first line of Spark's output with an error, or the first line of the exception."""
    lines = (line.strip() for line in log.splitlines())
    return next((line for line in lines if "Exception" in line or "Error" in line), str(error).strip().split("\n")[0])
