"""The pytest plugin: the fixtures `insync_check`, `insync_tour` and `insync_kafka`, and where to leave traces.

pytest imports this module in every run of everybody who has insync installed. So it stands outside the namespace and
imports nothing of insync until a test uses a fixture, which `testing` or `testing_systems` of `insync.explorer`, or
`insync.conformance.pytest_kafka`, then serves.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from insync.conformance.pytest_kafka import InsyncKafka
    from insync.explorer.testing import InsyncCheck, Settings
    from insync.explorer.testing_systems import InsyncTour

__all__ = ["insync_check", "insync_kafka", "insync_tour", "pytest_addoption", "trace_directory"]

ENGINES = ("local", "evaluator", "simulate")
"""What `engine=` and --insync-engine may be; a test holds that it is what `pytest_support` knows."""

_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

_new_directory: Callable[[], Path] | None = None


def trace_directory() -> Path | None:
    """Return a new directory under pytest's temporary one; None while no tests run."""
    return None if _new_directory is None else _new_directory()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; what a test says itself goes before them."""
    group = parser.getgroup("insync", "model checking with insync (for tests that use insync_check or insync_tour)")
    group.addoption("--insync-engine", choices=ENGINES, help="What searches where the test does not say [local].")
    group.addoption("--insync-max-seconds", type=_seconds, metavar="S", help="Stop each search after S seconds.")
    group.addoption(
        "--insync-memory", type=_size, metavar="SIZE", help="Keep each process within SIZE, such as 300M or 2G."
    )
    group.addoption("--insync-kafka", metavar="VERSION", help="The release of Kafka for the fixture insync_kafka.")
    group.addoption("--insync-kafka-libs", metavar="DIR", help="The same: the folder libs of a Kafka distribution.")
    group.addoption("--insync-seed", type=_seed, metavar="N", help="Seed of the engine simulate [0].")


@pytest.fixture
def insync_check(request: pytest.FixtureRequest) -> InsyncCheck:
    """Search a model, and return the verdict: `insync_check(model, bounds=..., properties=..., limits=...)`.

    The test fails with the trace grid where a property is violated, and where the search is incomplete unless
    stopped_by= names the bound that is meant.
    """
    from insync.explorer.testing import InsyncCheck

    noted = request.node.user_properties
    return InsyncCheck(
        _settings(request), lambda: request.getfixturevalue("tmp_path"), lambda *said: noted.append(said)
    )


@pytest.fixture
def insync_tour(request: pytest.FixtureRequest) -> InsyncTour:
    """Take every transition of a model on a system: `insync_tour(model, adapter, bounds=..., outputs=...)`.

    The test fails with the fewest steps after which the system differs from the model, raises or hangs, and where the
    tour is incomplete unless stopped_by= names the bound that is meant.
    """
    from insync.explorer.testing_systems import InsyncTour

    noted = request.node.user_properties
    return InsyncTour(_settings(request), lambda: request.getfixturevalue("tmp_path"), lambda *said: noted.append(said))


def _settings(request: pytest.FixtureRequest) -> Settings:
    from insync.explorer.testing import Settings

    option = request.config.getoption
    return Settings(
        engine=option("--insync-engine") or ENGINES[0],
        seconds=option("--insync-max-seconds"),
        memory_bytes=option("--insync-memory"),
        seed=option("--insync-seed") or 0,
        processes=getattr(request.config, "workerinput", {}).get("workercount", 1),
    )


@pytest.fixture(scope="session")
def insync_kafka(request: pytest.FixtureRequest) -> Iterator[InsyncKafka]:
    """Run Kafka's own classes beside the model `cluster`: `insync_kafka(bounds=..., kafka="4.3.1")`.

    Hypothesis draws the steps; the test fails with the shortest ones after which a field differs.
    """
    import insync.explorer.hypothesis  # noqa: F401 -- without Hypothesis this says what to install
    from insync.conformance.pytest_kafka import InsyncKafka

    option = request.config.getoption
    libs = option("--insync-kafka-libs")
    running = InsyncKafka(option("--insync-kafka"), None if libs is None else Path(libs))
    yield running
    running.close()


@pytest.fixture(scope="session", autouse=True)
def _insync_traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tell state machines, which have no fixtures, where to leave their traces."""
    global _new_directory
    before, _new_directory = _new_directory, lambda: tmp_path_factory.mktemp("insync")
    yield
    _new_directory = before


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        message = f"{text!r} is not a time; give a number of seconds above 0, such as 60 or 0.5"
        raise argparse.ArgumentTypeError(message)
    return seconds


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < 1 << 20:
        message = f"{text!r} is not a size of at least 1M; give a number of bytes with a unit, such as 300M or 2G"
        raise argparse.ArgumentTypeError(message)
    return size


def _seed(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) <= 20 and int(text) < 1 << 64):
        message = f"{text!r} is not a seed; give a whole number from 0 to 2^64 - 1"
        raise argparse.ArgumentTypeError(message)
    return int(text)
