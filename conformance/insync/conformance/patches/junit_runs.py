"""Classes of JUnit tests, run by JUnit's console in a JVM of their own, and what came of each test."""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.runtime.errors import UserError
from insync.runtime.java import find_java

__all__ = ["JUnitRun", "run_classes"]

_NEEDED_BY = "A unit test of Kafka"
_PATIENCE = 900
_QUICK_START = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_ONE_TEST_FAILED = 1


@dataclass(frozen=True, slots=True)
class JUnitRun:
    """What came of classes of tests.

    Attributes:
        passed: the tests that passed, as `Class.method` and, of a test with parameters, its number in brackets.
        failed: those that did not, with what was raised.
        skipped: those that JUnit did not run.
    """

    passed: tuple[str, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many tests were run."""
        return len(self.passed) + len(self.failed)


def run_classes(class_path: Sequence[Path], names: Sequence[str]) -> JUnitRun:
    """Run all tests of some classes.

    Args:
        class_path: folders and jars, with JUnit's console among them.
        names: the classes, with their packages.

    Raises:
        UserError: there is no Java, or the console does not come to its end.
    """
    java = find_java(_NEEDED_BY).program
    with tempfile.TemporaryDirectory(prefix="insync-junit-") as name:
        folder = Path(name)
        scratch = folder / "scratch"
        scratch.mkdir()
        command = [java, *_QUICK_START, f"-Djava.io.tmpdir={scratch}", "-cp", ":".join(map(str, class_path))]
        command += ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--details=none"]
        command += [f"--reports-dir={folder}/reports", *(f"--select-class={one}" for one in names)]
        try:
            done = subprocess.run(  # noqa: S603
                command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as error:
            message = (
                f"The tests of {', '.join(names)} were not done after {_PATIENCE} seconds. Try again when less else "
                "runs on this machine."
            )
            raise UserError(message) from error
        reports = sorted((folder / "reports").glob("TEST-*.xml"))
        if done.returncode not in (0, _ONE_TEST_FAILED) or not reports:
            message = f"JUnit has not run {', '.join(names)}: {(done.stdout + done.stderr).strip()[-2000:]}"
            raise UserError(message)
        return read_reports([report.read_text(encoding="utf-8") for report in reports])


def read_reports(reports: Sequence[str]) -> JUnitRun:
    """Return what the XML reports of JUnit's console say."""
    passed: list[str] = []
    skipped: list[str] = []
    failed: dict[str, str] = {}
    for report in reports:
        for case in ElementTree.fromstring(report).iter("testcase"):  # noqa: S314 -- written by JUnit a moment ago
            name = f"{case.get('classname', '').rpartition('.')[2]}.{_plain(case.get('name', ''))}"
            fault = next((one for kind in ("failure", "error") if (one := case.find(kind)) is not None), None)
            if fault is not None:
                failed[name] = _said(fault)
            elif case.find("skipped") is not None:
                skipped.append(name)
            else:
                passed.append(name)
    return JUnitRun(tuple(sorted(passed)), failed, tuple(sorted(skipped)))


def _plain(name: str) -> str:
    """The name of a test without the types of its parameters: `testA(String)[2]` is `testA[2]`."""
    method, _, rest = name.partition("(")
    return method + rest.partition(")")[2]


def _said(fault: ElementTree.Element) -> str:
    kind, message = fault.get("type", "").rpartition(".")[2], " ".join((fault.get("message") or "").split())
    return f"{kind}: {message}" if message else kind
