"""How a session ends whose server is not ours: it is told so, but who stops a search does not wait for long."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

pytest.importorskip("pyspark")

from insync.runtime.watch import Limits, Watch
from insync.spark_explore.driver.session import open_session


class Served:
    """A session of a server that takes so long to say goodbye."""

    def __init__(self, seconds: float) -> None:
        self.conf, self.getOrCreate, self.seconds = self, lambda: self, seconds
        self.ended = threading.Event()

    def get(self, name: str, default: Any) -> Any:
        return default

    def set(self, name: str, value: str) -> None:
        """Settings are not looked at here."""

    def unset(self, name: str) -> None:
        """Nor here."""

    def stop(self) -> None:
        time.sleep(self.seconds)
        self.ended.set()


@pytest.mark.parametrize("stopped", [False, True], ids=["ended", "stopped"])
@pytest.mark.parametrize("seconds", [0.05, 2.0], ids=["soon", "late"])
def test_a_session_is_told_that_it_ends_but_not_waited_for_when_the_search_is_stopped(
    monkeypatch: pytest.MonkeyPatch, stopped: bool, seconds: float
) -> None:
    from pyspark.sql import SparkSession

    session, stop = Served(seconds), threading.Event()
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(SparkSession, "builder", session)
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: None))
    with open_session(None, None, None, watch=Watch(Limits(), stop)):
        if stopped:
            stop.set()
        begun = time.monotonic()
    waited = time.monotonic() - begun
    assert (waited < 1.9) if stopped else session.ended.is_set()
    assert session.ended.wait(10)
