"""`insync kafka conform --quorum`, with a recording in the place of Kafka: what it asks for, says, and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from insync.conformance.jars import store
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.quorum import beside_kafka, conform_quorum, quorum_harness
from insync.model import Model
from insync_quorum import RecordedQuorum, quorum_stepper

Insync = Callable[..., Any]

QUORUM_MODEL = beside_kafka.quorum_model

SMALL = ["--kafka", "3.9.2", "--quorum", "--servers", 3, "--records", 1, "--elections", 2, "--restarts", 1, "--quiet"]


class Recorded(RecordedQuorum):
    """The recording as a harness."""

    def __init__(self, jars: JarSet, **options: object) -> None:
        recorded = RecordedQuorum.read()
        super().__init__(jars.version, recorded.course)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...


@pytest.fixture(autouse=True)
def kafka(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was asked of the verb."""
    asked: list[dict[str, Any]] = []
    real = conform_quorum.conform_quorum

    def noted(model: Any, subject: Any, **given: Any) -> Any:
        asked[-1].update(given)
        return real(model, subject, **{**given, "depth": 0})

    def model_of(version: str, given: dict[str, int | str], *, tour: bool) -> Model:
        asked.append({"bounds": given, "tour": tour})
        quorum_model(version, {**given, "elections": given.get("elections", 2)})
        return quorum_stepper().model

    quorum_model = beside_kafka.quorum_model
    monkeypatch.setattr(beside_kafka, "quorum_model", model_of)
    monkeypatch.setattr(conform_quorum, "conform_quorum", noted)
    monkeypatch.setattr(quorum_harness, "QuorumHarness", Recorded)
    monkeypatch.setattr(store, "stored_for_quorum", lambda version: JarSet(version, (), ()))
    return asked


def test_what_is_asked_for_arrives(insync: Insync, kafka: list[dict[str, Any]]) -> None:
    code, out, err = insync("kafka", "conform", *SMALL, "--walks", 1, "--seed", 7, "--depth", 9)
    assert (code, err) == (3, "")
    assert out.startswith("walks   kraft   release 3.9")
    assert "incomplete with Kafka 3.9.2: no step could be taken, so nothing was compared\n" in out, "depth is 0"
    assert "1 quorum made" in out
    (asked,) = kafka
    assert (asked["walks"], asked["seed"], asked["depth"]) == (1, 7, 9)
    assert asked["bounds"] == {"servers": 3, "records": 1, "elections": 2, "restarts": 1}


def test_a_tour_is_taken_where_it_is_asked_for(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    read = RecordedQuorum.read
    monkeypatch.setattr(RecordedQuorum, "read", lambda: read("3.9.2-tour"))

    def model_of(version: str, given: dict[str, int | str], *, tour: bool) -> Model:
        assert (given, tour) == ({"elections": 1}, True)
        return QUORUM_MODEL(version, {"records": 0, "elections": 1}, tour=tour)

    monkeypatch.setattr(beside_kafka, "quorum_model", model_of)
    given = ["--kafka", "3.9.2", "--quorum", "--part", "tour", "--elections", 1, "--quiet"]
    code, out, err = insync("kafka", "conform", *given)
    assert (code, err) == (0, "")
    assert out.startswith("tour   kraft   release 3.9")
    assert "28 of 28 transitions taken" in out


def test_a_difference_is_shown_and_written(insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read = RecordedQuorum.read

    def changed() -> RecordedQuorum:
        recorded = read()
        recorded.course[0]["state"]["servers"]["1"]["high_watermark"] = 1
        return recorded

    monkeypatch.setattr(RecordedQuorum, "read", changed)
    monkeypatch.setattr(Recorded, "give", _always_the_first)
    file = tmp_path / "difference.json"
    code, out, _ = insync("kafka", "conform", *SMALL, "--walks", 1, "--trace", file)
    assert code == 1
    assert "n1.high_watermark" in out
    assert out.endswith(f"The model's steps: insync replay {file}\n")
    said = json.loads(insync("kafka", "conform", *SMALL, "--walks", 1, "--json").out)
    assert (said["verdict"], said["model"], said["difference"]["difference"]["field"]) == (
        "diverges",
        "kraft",
        "n1.high_watermark",
    )


def _always_the_first(recorded: Recorded, command: str, **arguments: object) -> object:
    recorded.given = 0
    return RecordedQuorum.give(recorded, command, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--quorum"], "--quorum needs jars of Kafka's own tests, which no distribution has: give --kafka VERSION."),
        (["--quorum", "--libs", "libs"], "--quorum needs jars of Kafka's own tests, which no distribution has"),
        (
            ["--kafka", "3.9.2", "--quorum", "--replicas", "2"],
            "--replicas is about the cluster, and --quorum walks the",
        ),
        (
            ["--kafka", "3.9.2", "--quorum", "--part", "forbidden"],
            "--part forbidden is about the cluster, and --quorum walks the quorum.",
        ),
        (["--kafka", "3.9.2", "--quorum", "--at-once", "2"], "--at-once is about the cluster, and --quorum walks the"),
        (["--kafka", "3.9.2", "--quorum", "--processes", "2"], "--processes is about the cluster, and --quorum walks"),
        (["--kafka", "3.9.2", "--servers", "3"], "--servers is about the quorum: give --quorum as well."),
        (
            ["--kafka", "3.9.2", "--quorum", "--servers", "1"],
            "--servers: 1 is out of range; give a whole number from 2 to 5.",
        ),
        (["--kafka", "3.9.2", "--quorum", "--elections", "9"], "--elections"),
        (["--kafka", "3.9.2", "--additions", "1"], "--additions is about the quorum: give --quorum as well."),
        (
            ["--kafka", "3.9.2", "--quorum", "--removals", "9"],
            "--removals: 9 is out of range; give a whole number from",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(insync: Insync, given: list[str], said: str) -> None:
    code, out, err = insync("kafka", "conform", *given)
    assert (code, out) == (2, "")
    assert said in err


def test_a_release_without_its_jars_says_how_to_get_them(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    asked = insync("kafka", "conform", "--kafka", "3.8.1", "--quorum")
    assert asked.code == 2
    assert "insync has not pinned the jars that the quorum of Kafka 3.8.1 needs. It has for: 3.9.0, 3.9.1" in asked.err


def test_a_fetch_is_for_brokers_or_for_the_quorum(insync: Insync) -> None:
    asked = insync("kafka", "fetch", "3.9.2", "--cluster", "--quorum")
    assert asked.code == 2
    assert "Give one of --cluster, --quorum and --unit-tests at a time." in asked.err
