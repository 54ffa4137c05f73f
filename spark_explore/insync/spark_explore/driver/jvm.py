"""The JVM of a new session: its start, connection and end, all of which can be abandoned after an interrupt.

PySpark starts a JVM and waits for it in one call that cannot be interrupted. So this module starts it in the same way:
the driver script in Python mode, with the path of a file for its port. The JVM ends when its standard input is closed,
also if this process dies; its shutdown ends the Python workers and removes its folders. A shell around the JVM makes
and removes the folder with the port, and outlives this process if a signal kills it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from insync.runtime.watch import Watch

if TYPE_CHECKING:
    from pyspark import SparkConf

__all__ = ["DriverJvm"]

_LOOK_SECONDS = 0.05
_END_SECONDS = 120
_LEAVE_SECONDS = 20
_SHELL = 'trap : TERM; mkdir -m 700 -- "$0" && "$@"; code=$?; rm -rf -- "$0"; exit $code'
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"


class DriverJvm:
    """A JVM in its own process group, so that Ctrl-C in a terminal does not reach it; it starts at once.

    Args:
        conf: the settings that determine how it is started.
        log: the file for its messages.
    """

    def __init__(self, conf: SparkConf, log: IO[bytes]) -> None:
        from pyspark.find_spark_home import _find_spark_home

        settings = [part for name, value in conf.getAll() for part in ("--conf", f"{name}={value}")]
        rest = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        self._folder = Path(tempfile.gettempdir(), f"insync-jvm-{uuid.uuid4().hex}")
        self._address = self._folder / "address"
        places = {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._address)}
        self._process = subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", _SHELL, self._folder, Path(_find_spark_home(), "bin", "spark-submit"), *settings, *rest],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={**os.environ, **places},
            process_group=0,
        )

    def connect(self, watch: Watch) -> Any:
        """Wait for the JVM, and return the gateway to it.

        Args:
            watch: when to stop waiting.

        Raises:
            Stopped: the work must stop.
            RuntimeError: the JVM has ended.
        """
        from pyspark.java_gateway import launch_gateway
        from pyspark.serializers import UTF8Deserializer, read_int

        while not self._address.exists():
            if self._process.poll() is not None:
                message = f"it ended with exit code {self._process.returncode}"
                raise RuntimeError(message)
            watch.check()
            time.sleep(_LOOK_SECONDS)
        with self._address.open("rb") as file:
            port = read_int(file)  # type: ignore[no-untyped-call]
            secret = UTF8Deserializer().loads(file)  # type: ignore[no-untyped-call]

        def join() -> Any:
            with _environment({_PORT: str(port), _SECRET: str(secret)}):
                return launch_gateway()  # type: ignore[no-untyped-call]

        return watch.attend(join)

    def end(self) -> None:
        """End the JVM, and wait for its end."""
        self._close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill(signal.SIGKILL)
            self._process.wait()

    def leave(self) -> None:
        """End the JVM without waiting: it removes its files and ends its workers by itself."""
        self._kill(signal.SIGTERM)
        Watch().begin(self._outlive)

    def _outlive(self) -> None:
        try:
            self._process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill(signal.SIGKILL)
            self._process.wait()
        self._close()

    def _close(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _kill(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)
            if number is signal.SIGKILL:  # the shell is killed, too, so it does not remove the folder
                shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables within the block, which are not set otherwise."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
