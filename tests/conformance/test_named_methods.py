"""Every method of Kafka that a page of the findings or a docstring of the model names is in the jars of a release."""

from __future__ import annotations

import re
import zipfile
from functools import cache
from pathlib import Path

import pytest

from insync.kafka.defects.findings import FINDINGS
from insync_classes import JarsOf

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]
NEWEST, RELEASES = "4.3.1", ("3.9.2", "4.1.2", "4.3.1")
MODEL = ROOT / "model" / "insync" / "kafka"

_METHOD = re.compile(r"\b([A-Z]\w+)\.([a-z]\w+)\b")
_IN_CODE = re.compile(r"`([A-Z]\w+)\.([a-z]\w+)[`(]")
_OF_KAFKA = re.compile(r"\bKafka: ((?:[^\".]|\.(?=\w))*)")

OLDER = {
    ("KafkaRaftClient", "validateFetchOffsetAndEpoch"): "2.7",
    ("Log", "truncateTo"): "up to 2.8: UnifiedLog since 3.0",
    ("PartitionStateMachine", "doElectLeaderForPartitions"): "2.0",
    ("ReplicaFetcherThread", "maybeTruncate"): "0.11 to 2.0: of AbstractFetcherThread since",
}
"""Methods that are in none of the jars, with the releases whose sources have them."""


@cache
def _classes(paths: tuple[Path, ...]) -> dict[str, list[tuple[Path, str]]]:
    """Return where the files of each class are, nested classes and companion objects also by the name without `$`."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for path in paths:
        with zipfile.ZipFile(path) as jar:
            for entry in jar.namelist():
                if entry.endswith(".class"):
                    parts = [part for part in entry.rsplit("/", 1)[-1].removesuffix(".class").split("$") if part]
                    for name in set(parts):
                        found.setdefault(name, []).append((path, entry))
    return found


def _has(paths: tuple[Path, ...], kind: str, method: str) -> bool:
    """Return whether a class, or one nested in it, has a method or names one of a class above it."""
    name = method.encode()
    for path, entry in _classes(paths).get(kind, ()):
        with zipfile.ZipFile(path) as jar:
            if name in jar.read(entry):
                return True
    return False


@pytest.mark.parametrize("name", [name for name, finding in FINDINGS.items() if finding.paged])
def test_the_methods_of_a_page_are_in_the_release_that_it_was_read_in_last(jars_of: JarsOf, name: str) -> None:
    paths = tuple(jars_of(NEWEST).of_kafka)
    named = {one for one in _IN_CODE.findall((ROOT / FINDINGS[name].page).read_text()) if not one[0].endswith("Test")}
    assert named
    assert sorted(".".join(one) for one in named if not _has(paths, *one)) == []


def test_the_methods_that_docstrings_of_the_model_name_are_in_a_release(jars_of: JarsOf) -> None:
    jars = [tuple(jars_of(version).of_kafka) for version in RELEASES]
    named = {
        one
        for file in MODEL.rglob("*.py")
        for listed in _OF_KAFKA.findall(file.read_text())
        for one in _METHOD.findall(listed)
    }
    assert len(named) > 100
    unknown = {one for one in named if not any(_has(paths, *one) for paths in jars)}
    assert unknown == OLDER.keys()
