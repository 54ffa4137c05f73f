"""Settings that all tests share. Nothing heavy is imported here: every test run pays for it."""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]


def _objects() -> Path:
    """Return where object code is kept from run to run: a folder for all sources that decide which code is generated.

    A change in any of them begins with an empty folder, whatever the keys of the product's own cache are made of.
    """
    digest = hashlib.sha256()
    for package in ("model/insync/runtime", "model/insync/model", "explorer/insync/machine"):
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return ROOT / ".pytest_cache" / "objects" / digest.hexdigest()[:16]


if "INSYNC_CACHE_DIR" not in os.environ:  # tests neither fill nor rely on the cache of whoever runs them
    objects = _objects()
    for other in objects.parent.glob("*"):
        if other != objects:
            shutil.rmtree(other, ignore_errors=True)
    os.environ["INSYNC_CACHE_DIR"] = str(objects)

os.environ.pop("COLUMNS", None)  # decides how wide reports are; pytest-xdist sets it for its processes

# The tests compile more than a thousand small models: compiling well takes longer than running what is compiled. Those
# of the folder parity run what users run; `INSYNC_CODE=fast make test` runs all of them so.
os.environ.setdefault("INSYNC_CODE", "quick")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as a shell starts what runs in the background, and so its children
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the first example of a model compiles it, which takes far longer than the others.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=50)
settings.load_profile("ci" if os.environ.get("CI", "").lower() in {"1", "true"} else "dev")

_SECONDS = 120
"""How long a test may take that has no limit of its own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `make times` asks for."""
    parser.addoption("--cpu-times", metavar="FILE", type=Path, help="add a line to FILE for each test: its CPU seconds")


@pytest.hookimpl(tryfirst=True)  # before `-m` is obeyed
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow the parameters that `slow_for` of a test names, or all but those that its `slow_but` names.

    A test without a limit of its own gets the usual one. It stands here and not in pyproject.toml, where an option of
    pytest-timeout would be an error for those who have the extra `test` alone and write a first test in a clone.

    Raises:
        UsageError: a name is none of the test's, which is looked at where the whole file was collected.
    """
    known: dict[str, list[str]] = {}
    named: dict[str, set[str]] = {}
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_SECONDS))
        test, _, parameters = item.nodeid.partition("[")
        parameters = parameters.removesuffix("]")
        known.setdefault(test, []).append(parameters)
        for mark in [*item.iter_markers("slow_for"), *item.iter_markers("slow_but")]:
            named[test] = set(mark.args)
            if any(_is_called(parameters, name) for name in mark.args) is (mark.name == "slow_for"):
                item.add_marker(pytest.mark.slow)
    if any("::" in argument for argument in config.args) or config.getoption("lf", default=False):
        return
    for test, names in named.items():
        for name in sorted(names):
            if not any(_is_called(parameters, name) for parameters in known[test]):
                message = f"{test}: no parameters are called {name!r}; take the name out or mend it."
                raise pytest.UsageError(message)


def _is_called(parameters: str, name: str) -> bool:
    """Return whether parameters have a name, or one that begins so where the name ends with three dots."""
    return parameters.startswith(name[:-3]) if name.endswith("...") else parameters == name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Say what a test takes of processors, with the processes that it has waited for."""
    file: Path | None = item.config.getoption("--cpu-times")
    before = sum(os.times()[:4])
    result = yield
    if file is not None:
        with file.open("a") as times:
            times.write(f"{sum(os.times()[:4]) - before:.2f}\t{item.nodeid}\n")
    return result


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from what lives to the end of the run: a twentieth of all time went there.

    As much again goes to looking at the nodes of each model as they are made, which all stay.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may be missing
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each file to one process, as its tests share fixtures.

    All of Spark goes to one, as it has one JVM; and so do clusters of brokers, which miss their own deadlines where
    processors are short.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # a class without types
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            if "/live/" in file or file.endswith("/test_kafka_cluster.py"):
                return "brokers"
            return "spark" if "/spark_explore/" in f"/{file}" else file

    return Scheduling(config, log)
