"""`insync kafka`: what it says without Java, without Maven, and without jars."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.catalogue.entry_traces import steps_again
from insync.conformance.documents.replay import describe_replay
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned_versions
from insync.conformance.replay import replay_on_kafka
from insync.explorer.traces.grid import plain
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync_kafka import Recording

Insync = Callable[..., Any]

LOST = "no_acknowledged_record_is_lost"


@pytest.fixture(autouse=True)
def _an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


def test_the_releases_are_listed(insync: Insync) -> None:
    code, out, err = insync("kafka", "versions")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows[1 : len(pinned_versions()) + 1]] == list(pinned_versions())
    assert "fetched" not in out.splitlines()[1]


def test_the_releases_are_listed_as_json(insync: Insync, tmp_path: Path) -> None:
    listed = json.loads(insync("kafka", "versions", "--json").out)
    assert listed["folder"] == str(tmp_path / "cache" / "kafka" / "jars")
    assert [entry["kafka"] for entry in listed["versions"]] == list(pinned_versions())
    assert not any(entry["stored"] for entry in listed["versions"])


def test_a_release_that_is_stored_is_listed_as_fetched(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.conformance.jars.store.is_stored", lambda release: release.version == "4.1.0")
    rows = insync("kafka", "versions").out.splitlines()
    assert [row.split()[0] for row in rows if row.endswith("fetched")] == ["4.1.0"]
    listed = json.loads(insync("kafka", "versions", "--json").out)["versions"]
    assert [entry["kafka"] for entry in listed if entry["stored"]] == ["4.1.0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fetch", "4.1"], "Error: Kafka '4.1' is not a release that insync can fetch. Near it: 4.1.0, 4.1.1, 4.1.2."),
        (["fetch", "4.1.0"], "there is no mvn on the PATH. Install it. Or give --repository DIR"),
        (["fetch", "4.1.0", "--repository", "."], ". has no "),
    ],
    ids=["release", "maven", "repository"],
)
def test_a_mistake_is_one_sentence(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = insync("kafka", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


# -------------------------------------------------------------------------------------------------------------- replay


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["N-01"], "Give --kafka VERSION, a release of `insync kafka versions`, or --libs DIR of a distribution."),
        (["N-01", "--kafka", "4.3.1", "--libs", "x"], "leave one of them out."),
        (["N-01", "--kafka", "4.3.1"], "Fetch them: insync kafka fetch 4.3.1"),
        (["N-01", "--kafka", "9.9"], "Kafka '9.9' is not a release that insync can fetch."),
        (["N-01", "--libs", "nowhere"], "nowhere is not a folder. Name the folder libs of a Kafka distribution."),
    ],
    ids=["nothing", "both", "not fetched", "unknown", "no distribution"],
)
def test_what_is_missing_for_a_replay_is_one_sentence(insync: Insync, arguments: list[str], said: str) -> None:
    code, out, err = insync("kafka", "replay", *arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.fixture
def libs(tmp_path: Path) -> Path:
    """A distribution, as far as its name goes."""
    zipfile.ZipFile(tmp_path / "kafka_2.13-4.3.1.jar", "w").close()
    return tmp_path


def test_a_trace_that_is_none_is_one_sentence(insync: Insync, libs: Path) -> None:
    code, _, err = insync("kafka", "replay", "N-001", "--libs", libs, "--quiet")
    assert code == 2
    assert err == "Error: 'N-001' is neither a trace file nor a defect of `insync defects`. Did you mean 'N-01'?\n"


@pytest.mark.parametrize("given", ["gone.json", "gone/N-01x"])
def test_a_file_that_is_not_there_is_called_a_file(insync: Insync, libs: Path, given: str) -> None:
    code, _, err = insync("kafka", "replay", given, "--libs", libs, "--quiet")
    assert code == 2
    assert err.startswith(f"Error: {given}: ")
    assert "defect" not in err


def test_a_trace_of_another_model_is_one_sentence(insync: Insync, libs: Path, lamp: str, tmp_path: Path) -> None:
    trace = tmp_path / "lamp.json"
    assert insync("check", lamp, "--presses", 3, "--trace", trace).code == 1
    code, _, err = insync("kafka", "replay", trace, "--libs", libs, "--quiet", "--model", lamp)
    assert code == 2
    assert "Kafka's classes take the steps of cluster alone. Write one with `insync check cluster --trace FILE`." in err


def test_without_java_it_is_said_what_to_install(
    insync: Insync, libs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        "insync.conformance.given_trace.given_trace", lambda _: pytest.fail("it is said before a search")
    )
    code, _, err = insync("kafka", "replay", "R-26", "--libs", libs, "--quiet")
    assert (code, err.count("\n")) == (2, 1)
    assert "The harness of Kafka's classes needs Java, and there is none on the PATH. Install a JDK 17 or newer" in err


class Played:
    """Stands in for the harness: the recording is what Kafka says."""

    recording: Recording

    def __init__(self, jars: JarSet) -> None:
        self.version = jars.version

    def __enter__(self) -> Recording:
        return self.recording

    def __exit__(self, *left: object) -> None:
        return


def replayed(insync: Insync, monkeypatch: pytest.MonkeyPatch, libs: Path, name: str, *arguments: object) -> Any:
    monkeypatch.setattr(Played, "recording", Recording.read(name), raising=False)
    monkeypatch.setattr("insync.conformance.classes.harness.Harness", Played)
    return insync("kafka", "replay", name[:4], "--libs", libs, "--quiet", *arguments)


def test_a_reproduced_defect(insync: Insync, monkeypatch: pytest.MonkeyPatch, libs: Path) -> None:
    code, out, err = replayed(insync, monkeypatch, libs, "N-02-4.3.1")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == (
        "reproduced on Kafka 4.3.1: no_acknowledged_record_is_lost fails after 10 steps, "
        "and all was as in the model after each"
    )
    assert lines[1].startswith("cluster   release 4.1, defect N-02, replicas 2")
    assert lines[-1].startswith("r0 was acknowledged, but b2, which leads now, does not have it")


def test_a_divergence_shows_both(insync: Insync, monkeypatch: pytest.MonkeyPatch, libs: Path) -> None:
    code, out, err = replayed(insync, monkeypatch, libs, "R-26-4.1.2")
    assert (code, err) == (1, "")
    first, rows = out.splitlines()[0], [line.split() for line in out.splitlines()]
    assert first == (
        "diverges on Kafka 4.1.2 at step 5, b1 starts and registers: "
        "controller.leader is b1 in the model, and b2 in Kafka"
    )
    assert ["6", "in", "Kafka", "4.1.2", "F1", "[|]", "L1", "[|", "r0@0]", "b2@1", "ISR", "b2", "fenced", "b1"] in rows
    assert ["controller.isr", "[b1", "b2]", "[b2]"] in rows


@pytest.mark.parametrize(
    ("release", "defect", "told"), [("3.9.1", "none", True), ("4.1.1", "R-26", False), ("4.1", "R-26", False)]
)
def test_a_difference_from_the_trace_of_another_release_is_said_to_be_one(
    release: str, defect: str, told: bool
) -> None:
    model = Cluster(**{**DEFECTS["R-26"].bounds, "release": release, "defect": defect})
    recording = Recording.read("R-26-4.1.2")
    _, recorded = recording.trace()
    asked = steps_again(model.identity, [(step.action or "", step.parameters) for step in recorded.steps[1:]], LOST)
    said = describe_replay(replay_on_kafka(asked.trace, asked.model, recording), asked.model, plain, 120)
    sentence = (
        "The trace is of 3.9.1, and Kafka 4.1.2 has the rules of 4.1.1, so the two may differ by what has changed"
    )
    assert (sentence in said) is told


def test_a_divergence_as_json(insync: Insync, monkeypatch: pytest.MonkeyPatch, libs: Path) -> None:
    code, out, _ = replayed(insync, monkeypatch, libs, "R-26-4.1.2", "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["kafka"], found["steps"]) == (1, "diverges", "4.1.2", 5)
    assert found["difference"] == {
        "step": 5,
        "label": "b1 starts and registers",
        "field": "controller.leader",
        "model": "b1",
        "kafka": "b2",
    }
    assert found["differences"][0] == found["difference"]
    assert len(found["trace"]) == 6


@pytest.mark.slow
def test_what_kafka_does_by_itself_is_marked(insync: Insync, monkeypatch: pytest.MonkeyPatch, libs: Path) -> None:
    code, out, _ = replayed(insync, monkeypatch, libs, "R-40-4.1.2")
    assert code == 1
    assert "(Kafka by" in out  # itself, in the next line


def test_what_is_not_schedulable(insync: Insync, monkeypatch: pytest.MonkeyPatch, libs: Path) -> None:
    recording = Recording.read("N-02-4.3.1")
    monkeypatch.setattr("insync.conformance.steps.schedule._ACTIONS", {})
    monkeypatch.setattr(Played, "recording", recording, raising=False)
    monkeypatch.setattr("insync.conformance.classes.harness.Harness", Played)
    code, out, _ = insync("kafka", "replay", "N-02", "--libs", libs, "--quiet")
    assert code == 3
    assert out.splitlines()[0] == (
        "not schedulable on Kafka 4.3.1: after 0 steps comes operator assigns the partition to {b1}, "
        "but the harness cannot do reassign yet"
    )
