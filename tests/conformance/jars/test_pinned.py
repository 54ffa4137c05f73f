"""The lists of pinned jars: each names what the harness needs, once, and nothing of where it comes from."""

from __future__ import annotations

import re

import pytest

from insync.conformance.cluster_pinning import logging_binding
from insync.conformance.jars.pinned import (
    LISTS,
    QUORUM_LISTS,
    PinnedJar,
    list_text,
    pinned,
    pinned_for_cluster,
    pinned_for_quorum,
    pinned_versions,
    quorum_versions,
)
from insync.runtime.errors import UserError

NEEDED = {"kafka_2.13", "kafka-clients", "kafka-metadata", "kafka-server-common", "kafka-storage", "scala-library"}


def test_the_releases_from_3_7_on_are_there_in_order() -> None:
    versions = pinned_versions()
    assert versions[:2] == ("3.7.0", "3.7.1")
    assert {version.rpartition(".")[0] for version in versions} == {
        "3.7",
        "3.8",
        "3.9",
        "4.0",
        "4.1",
        "4.2",
        "4.3",
        "4.4",
    }
    assert list(versions) == sorted(versions, key=lambda version: [int(part) for part in version.split(".")])


@pytest.mark.parametrize(
    ("version", "binding"),
    [
        ("3.9.2", "slf4j-reload4j"),
        ("4.0.2", "slf4j-reload4j"),
        ("4.1.2", "log4j-slf4j-impl"),
        ("4.4.0", "log4j-slf4j-impl"),
    ],
)
def test_the_logging_of_a_cluster_is_bound_to_the_library_that_its_release_has(version: str, binding: str) -> None:
    """With a binding to another library the scenarios would read nothing in the logs of brokers."""
    group, artifact, number = logging_binding(version)
    versions = {jar.artifact: jar.version for jar in pinned(version).jars}
    assert (artifact, number) == (binding, versions.get("log4j-core", "1.7.36"))
    assert group == ("org.apache.logging.log4j" if "log4j-core" in versions else "org.slf4j")
    assert artifact in {jar.artifact for jar in pinned_for_cluster(version).jars}


@pytest.mark.parametrize("version", pinned_versions())
def test_a_list_is_whole(version: str) -> None:
    jars = pinned(version).jars
    artifacts = [jar.artifact for jar in jars]
    assert set(artifacts) >= NEEDED
    assert len(set(artifacts)) == len(artifacts)
    assert all(re.fullmatch(r"[0-9a-f]{64}", jar.sha256) and jar.bytes > 0 for jar in jars)
    assert {jar.version for jar in jars if jar.group == "org.apache.kafka"} == {version}


@pytest.mark.parametrize("version", pinned_versions())
def test_a_list_is_as_it_is_written(version: str) -> None:
    text = (LISTS / f"{version}.json").read_text()
    assert text == list_text(version, pinned(version).jars)
    assert "://" not in text


@pytest.mark.parametrize("version", quorum_versions())
def test_a_quorum_needs_jars_of_tests_besides(version: str) -> None:
    more = pinned_for_quorum(version).jars[len(pinned(version).jars) :]
    assert [(jar.artifact, jar.classifier, jar.version) for jar in more] == [
        ("kafka-clients", "test", version),
        ("kafka-raft", "test", version),
    ]
    assert (QUORUM_LISTS / f"{version}.json").read_text() == list_text(version, more)


def test_a_jar_of_tests_has_its_place_in_a_repository() -> None:
    jar = PinnedJar("org.apache.kafka", "kafka-raft", "4.1.0", 1, "0" * 64, "test")
    assert jar.place.as_posix() == "org/apache/kafka/kafka-raft/4.1.0/kafka-raft-4.1.0-test.jar"


def test_a_jar_has_its_place_in_a_repository() -> None:
    jar = PinnedJar("org.apache.kafka", "kafka_2.13", "4.1.0", 1, "0" * 64)
    assert jar.place.as_posix() == "org/apache/kafka/kafka_2.13/4.1.0/kafka_2.13-4.1.0.jar"


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("4.1", "Near it: 4.1.0, 4.1.1, 4.1.2."),
        ("4.0.7", "Near it: 4.0.0, 4.0.1, 4.0.2."),
        ("2.8", "Known: 3.7.0, 3.7.1, 3.7.2, 3.8.0"),
    ],
)
def test_a_release_that_is_not_known_is_said_with_near_ones(version: str, known: str) -> None:
    with pytest.raises(UserError) as caught:
        pinned(version)
    assert str(caught.value).startswith(f"Kafka '{version}' is not a release that insync can fetch. {known}")
