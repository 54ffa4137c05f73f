"""`insync kafka validate`, and what the commands about clusters say without Java and without jars."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.jars.pinned import cluster_versions, pinned, pinned_for_cluster, pinned_versions
from insync.conformance.live.runs.run_events import BrokerRun
from insync.conformance.live.runs.run_release import releases_to_try
from insync.conformance.live.runs.validation import Validation
from insync.kafka.cluster.model import Cluster

Insync = Callable[..., Any]

RUN = Path(__file__).parents[1] / "conformance" / "recordings" / "live" / "n-01-3.9.2.run"


@pytest.fixture(autouse=True)
def _an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.slow
def test_a_run_that_is_explained(insync: Insync) -> None:
    code, out, _ = insync("kafka", "validate", str(RUN), "--quiet")
    assert code == 0
    assert out.startswith(
        "explained: Kafka 3.9.2 shows a behaviour of cluster by the rules of 3.9.1: all 79 events are explained, by "
    )


@pytest.mark.slow
def test_a_run_that_is_not_explained_is_shown_up_to_there(insync: Insync) -> None:
    code, out, _ = insync("kafka", "validate", str(RUN), "--fixed", "n-01", "--quiet")
    assert code == 1
    assert (
        "no state of cluster by the rules of 3.9.1 with N-01 fixed explains event 52 of 79: r0 is acknowledged" in out
    )
    assert "  b2          F2 [| r0@0]" in out
    assert out.endswith("r0 is a, r1 is r0\n")
    assert sum(" s  " in line for line in out.splitlines()) == 6, "the event, and five before it"


@pytest.mark.slow
def test_the_same_as_json(insync: Insync) -> None:
    told = json.loads(insync("kafka", "validate", str(RUN), "--fixed", "N-01", "--json", "--quiet").out)
    assert (told["verdict"], told["kafka"], told["release"], told["fixed"]) == (
        "not_explained",
        "3.9.2",
        "3.9.1",
        "N-01",
    )
    assert (told["stuck"], told["event"]) == (51, "r0 is acknowledged by b1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["validate", "nowhere.run"], "nowhere.run: cannot be read (No such file or directory)."),
        (["validate", str(RUN), "--release", "9.1"], "'9.1' is not known. The model has the releases of Kafka"),
        (
            ["validate", str(RUN), "--release", "2.1"],
            "Kafka 2.1 keeps its metadata in ZooKeeper, and the run is one of",
        ),
        (["validate", str(RUN), "--fixed", "N-99"], "'N-99' is no defect of `insync defects`."),
        (
            ["validate", str(RUN), "--fixed", "r-48"],
            "Kafka 3.9.1 has not got R-48, so it cannot be fixed",
        ),
        (
            ["validate", str(RUN), "--fixed", "L-1"],
            "Kafka 3.9.1 has not got L-1, so it cannot be fixed",
        ),
        (["validate", str(RUN), "--fixed", "C-6"], "C-6 is no rule of Kafka 3.9.1 that could be fixed, but a setting"),
        (["validate", str(RUN), "--infer-release", "--release", "4.1"], "Give --infer-release by itself"),
        (["scenario", "n-02", "--kafka", "4.3.1"], "Fetch them: insync kafka fetch 4.3.1 --cluster"),
        ([], "insync kafka: a command is missing. The commands are versions, fetch, replay, "),
        (["chek"], "insync kafka has no command 'chek'. The commands are versions, fetch, replay, "),
        (["validate", str(RUN), "--fixed", "Q-1"], "and not of cluster: `insync defects Q-1` shows it."),
        (["scenario", "n-02"], "Give --kafka VERSION, a release of `insync kafka versions`, or --libs DIR"),
        (["cluster", "--kafka", "9.9"], "Kafka '9.9' is not a release that insync can fetch."),
        (["record", "a.run", "--scenario", "n-01", "--libs", "nowhere"], "nowhere is not a folder."),
        (["record", "a.run", "--kafka", "4.3.1"], "Give one of --scenario NAME, --walk SEED and --metadata-log DIR."),
        (["record", "a.run", "--metadata-log", "d", "--kafka", "4.3.1"], "--metadata-log DIR and --topic TOPIC belong"),
        (
            ["record", "a.run", "--walk", "1", "--min-insync-replicas", "2"],
            "--min-insync-replicas belongs to --metadata-log DIR",
        ),
        (
            ["record", "a.run", "--metadata-log", "d", "--topic", "t", "--port", "30000", "--kafka", "4.3.1"],
            "--port is about a cluster that runs here",
        ),
        (
            ["replay", "N-01", "--kafka", "4.3.1", "--port", "30000"],
            "--port is about the ports of a cluster: give",
        ),
        (["fetch", "4.3.1", "--repository", "/nowhere"], "--repository: Directory '/nowhere' does not exist."),
        (["record", "a.run", "--walk", "1", "--broker-log", "s.log"], "--broker-log LOG belongs to --metadata-log DIR"),
    ],
)
def test_a_mistake_is_one_sentence(insync: Insync, arguments: list[str], said: str) -> None:
    code, out, err = insync("kafka", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("explaining", "code"), [({"3.9.1"}, 0), (set[str](), 1)])
def test_a_run_is_a_behaviour_if_it_is_one_by_the_rules_of_some_release(
    explaining: set[str], code: int, insync: Insync, monkeypatch: pytest.MonkeyPatch
) -> None:
    def validated(run: BrokerRun, model: Cluster) -> Validation:
        explained = model.identity["release"] in explaining
        return Validation(explained, 79, None if explained else 4, None if explained else "b1 leads", {}, 9)

    monkeypatch.setattr("insync.conformance.live.runs.validation.validate", validated)
    found = insync("kafka", "validate", str(RUN), "--infer-release", "--quiet")
    assert found.code == code
    assert found.out.endswith(f"It is a behaviour by the rules of: {', '.join(explaining) or 'no release'}.\n")


def test_a_cluster_needs_a_few_jars_more(insync: Insync) -> None:
    assert cluster_versions() == pinned_versions()
    for version in cluster_versions():
        harness, cluster = pinned(version), pinned_for_cluster(version)
        names = [(jar.group, jar.artifact) for jar in cluster.jars]
        assert set(harness.jars) < set(cluster.jars)
        assert len(names) == len(set(names))
        assert any(jar.artifact in ("slf4j-reload4j", "log4j-slf4j-impl") for jar in cluster.jars)


def test_releases_with_the_same_rules_are_tried_once() -> None:
    tried = [release.value for release in releases_to_try()]
    assert tried[0] == "3.3"
    assert {"3.9", "3.9.1", "4.1", "4.3"} <= set(tried)
    assert not {"2.8", "3.4", "4.2"} & set(tried)
