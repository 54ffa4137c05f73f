"""One SparkSession for all tests of this folder: starting one takes longer than most of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.runtime.errors import UserError
from insync.spark_explore.driver.requirements import require_java, require_packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
FETCHED = HERE.parents[1] / ".venv" / "jdk"  # by `make java`


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.spark)


def pytest_configure() -> None:
    """Use the JDK that `make java` fetched, where the machine has none."""
    fetched = next(iter(sorted(FETCHED.glob("*/bin/java"))), None)
    try:
        require_java()
    except UserError:
        if fetched is not None:
            os.environ["JAVA_HOME"] = str(fetched.parents[1])


@pytest.fixture(scope="session")
def needs_spark() -> None:
    """Skip where Spark cannot run, and say why."""
    try:
        require_packages()
        require_java()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def spark(needs_spark: None) -> Iterator[SparkSession]:
    """A caller's session, whose messages are kept out of the way."""
    from pyspark.sql import SparkSession

    from insync.spark_explore.driver import session as sessions

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]")
    for name, value in (sessions._OWN_SETTINGS | sessions._LOCAL_SETTINGS).items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    yield made
    made.stop()
