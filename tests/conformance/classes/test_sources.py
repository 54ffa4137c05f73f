"""The harness's sources fit releases in which Kafka's classes are elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from insync.conformance.classes.sources import Driven, class_places, fitted_sources, sources
from insync.runtime.errors import UserError

TEXTS = {name: text for driven in Driven for name, text in sources(driven).items()}
PLACES = {name: [f"org.apache.{name}"] for text in TEXTS.values() for name in re.findall(r"moved\.(\w+);", text)}


def test_an_import_names_the_place_of_the_release() -> None:
    fitted = fitted_sources("4.3.1", PLACES)
    assert "import org.apache.ReplicaManager;" in fitted["BrokerParts.java"]
    assert "moved." not in "".join(fitted.values())


@pytest.mark.parametrize(("version", "there"), [("3.9.2", True), ("4.1.2", True), ("4.2.0", False), ("4.10.0", False)])
def test_a_parameter_of_older_releases_is_there_in_those_alone(version: str, there: bool) -> None:
    fitted = fitted_sources(version, PLACES)["StillFetchers.java"]
    assert ("scala.Option.empty()" in fitted) is there
    assert "/*before" not in fitted


@pytest.mark.parametrize(("version", "there"), [("3.9.2", False), ("4.0.0", True), ("4.10.0", True)])
def test_what_newer_releases_have_is_there_in_those_alone(version: str, there: bool) -> None:
    fitted = fitted_sources(version, PLACES, Driven.QUORUM)["QuorumSeen.java"]
    assert (".epochElection()" in fitted, ".candidateEpoch()" in fitted) == (there, not there)
    assert "/*" not in fitted.replace("/**", "")


@pytest.mark.parametrize("driven", Driven)
def test_each_harness_has_the_loop_that_takes_commands(driven: Driven) -> None:
    assert "CommandLoop.java" in fitted_sources("4.1.2", PLACES, driven)


@pytest.mark.parametrize(("places", "said"), [([], "no class named Partition"), (["a", "b"], "several classes named")])
def test_a_release_that_the_harness_does_not_fit_is_refused(places: list[str], said: str) -> None:
    with pytest.raises(UserError, match=rf"^Kafka 5\.0\.0 has {said}"):
        fitted_sources("5.0.0", {**PLACES, "Partition": places})


def test_classes_are_found_in_jars_by_their_simple_names(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "kafka.jar", "w") as jar:
        for name in (
            "kafka/cluster/Partition.class",
            "kafka/cluster/Partition$.class",
            "scala/Option.class",
            "kafka/LICENSE",
        ):
            jar.writestr(name, b"")
    assert class_places([tmp_path / "kafka.jar"]) == {"Partition": ["kafka.cluster.Partition"]}


def test_sources_are_of_a_length_to_be_read() -> None:
    for name, text in TEXTS.items():
        assert len(text.splitlines()) <= 350, name
        assert max(map(len, text.splitlines())) <= 130, name
