"""Failing tests in Kafka's own test classes: one patch a finding, run on a release as it is and with the fix."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.patches.compilers import compile_sources
from insync.conformance.patches.junit_runs import JUnitRun, run_classes
from insync.conformance.patches.patched_jars import Patch, named_patch, patched_kafka, read_patch
from insync.conformance.patches.source_files import released_sources
from insync.conformance.patches.unified_diff import patched_text, read_diff
from insync.runtime.errors import UserError

__all__ = ["UnitTestRun", "added_tests", "known_unit_tests", "read_unit_tests", "run_unit_tests"]

_TESTS = Path(__file__).parent / "unit_tests"
_ADDED = re.compile(r"^\+.*\b(?:void|def) (test\w+)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class UnitTestRun:
    """The tests of some of Kafka's test classes, those that a patch adds among them, without and with a fix.

    Attributes:
        version: the release.
        tests: the patch of the test classes.
        fix: the patch of the classes under test.
        without: what came of the tests on the release.
        with_it: what came of them on the release with the fix.
    """

    version: str
    tests: Patch
    fix: Patch
    without: JUnitRun
    with_it: JUnitRun

    @property
    def red(self) -> dict[str, str]:
        """The added tests that fail on the release, with what is raised."""
        added = added_tests(self.tests)
        return {name: said for name, said in self.without.failed.items() if _method(name) in added}

    @property
    def green(self) -> tuple[str, ...]:
        """The added tests that pass with the fix."""
        added = added_tests(self.tests)
        return tuple(name for name in self.with_it.passed if _method(name) in added)

    @property
    def failing_before(self) -> dict[str, str]:
        """The other tests that fail on the release."""
        return {name: said for name, said in self.without.failed.items() if name not in self.red}

    @property
    def failing_after(self) -> dict[str, str]:
        """All tests that fail with the fix."""
        return dict(self.with_it.failed)

    @property
    def is_shown(self) -> bool:
        """Whether every added test fails without the fix and passes with it, and the fix breaks no other one."""
        added = added_tests(self.tests)
        never_red = added - {_method(name) for name in self.red}
        broken = {name for name in self.with_it.failed if name not in self.failing_before}
        return bool(added) and not never_red and not broken and {_method(name) for name in self.green} == added


def _method(name: str) -> str:
    return name.partition(".")[2].partition("[")[0]


def known_unit_tests() -> tuple[str, ...]:
    """Return the names of the patches of test classes; what is for one minor release ends in it."""
    return tuple(sorted(path.stem for path in _TESTS.glob("*.patch")))


def read_unit_tests(given: str, version: str) -> Patch:
    """Return the patch that adds the failing tests of a finding.

    Args:
        given: the finding, or one of its entries in the catalogue.
        version: the release; a patch for its minor release is taken before the one that is for none.

    Raises:
        UserError: there is none.
    """
    patch = named_patch(given, version, _TESTS)
    if patch is None:
        known = sorted({re.sub(r"-\d+\.\d+$", "", name) for name in known_unit_tests()})
        message = f"insync has no failing tests of {given!r}. It has some of: {', '.join(known)}."
        raise UserError(message)
    return patch


def added_tests(tests: Patch) -> frozenset[str]:
    """Return the names of the methods that a patch of test classes adds."""
    return frozenset(_ADDED.findall(tests.text))


def run_unit_tests(given: str, jars: JarSet, server: JarSet, repository: Path | None = None) -> UnitTestRun:
    """Run the tests of the classes that a finding's patch adds tests to, on a release and on the release with the fix.

    Args:
        given: the finding, or one of its entries in the catalogue.
        jars: the jars that the unit tests of the release need, the release's own among them.
        server: the release's own jars, with those that its brokers need.
        repository: a folder in Maven's layout with the sources; None fetches them by Maven.

    Raises:
        UserError: there is no such patch, it does not fit the release, or something does not compile.
    """
    tests, fix = read_unit_tests(given, jars.version), read_patch(given, jars.version)
    fixed = sorted(patched_kafka(fix, server, repository).libs.glob("*.jar"))
    changed = {diff.path: diff for diff in read_diff(tests.text, str(tests.file))}
    sources = released_sources(jars.version, changed, str(tests.file), repository, "test")
    where = f"Kafka {jars.version}, {{}}"
    texts = {path: patched_text(text, changed[path], where.format(path)) for path, text in sources.items()}
    with tempfile.TemporaryDirectory(prefix="insync-unit-tests-") as name:
        made = compile_sources(texts, jars, Path(name), str(tests.file))
        classes = _test_classes(made, texts)
        without = run_classes([made, *jars.paths], classes)
        with_it = run_classes([made, *fixed, *jars.paths], classes)
    return UnitTestRun(jars.version, tests, fix, without, with_it)


def _test_classes(made: Path, paths: Sequence[str] | dict[str, str]) -> list[str]:
    """The classes of the changed files that are tests and no help for tests, with their packages."""
    stems = {Path(path).stem for path in paths}
    found = [path.relative_to(made).with_suffix("") for path in sorted(made.rglob("*.class")) if path.stem in stems]
    return [".".join(path.parts) for path in found if path.name.endswith("Test")]
