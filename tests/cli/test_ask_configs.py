"""`insync ask --config`: the three formats, what overrides what, mistakes, and what is answered."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from insync.cli.commands.ask import command
from insync.cli.show.exposure_report import Shown, describe_exposure
from insync.explorer.results import PropertyResult, Verdict, Violation
from insync.explorer.traces.grid import plain
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import LOSS, Asked, Cell, Question
from insync.kafka_questions.configs.reading import (
    EVERY_OTHER,
    Configured,
    read_configs,
)
from insync.kafka_questions.disturbances import Remedy
from insync.kafka_questions.exposure import Exposure, exposures
from insync.runtime.errors import UserError

TOPICS = (
    "Topic: orders\tTopicId: aX-_\tPartitionCount: 2\tReplicationFactor: 3\t"
    "Configs: min.insync.replicas=2,cleanup.policy=compact,delete,segment.bytes=1024\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr: \n"
    "\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3\tIsr: 2,3\tElr: \tLastKnownElr: \n"
    "\n"
    "Topic: logs\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: logs\tPartition: 0\tLeader: none\tReplicas: 1\tIsr: \n"
)
CONFIGS = """All configs for broker 1 are:
  min.insync.replicas=2 sensitive=false synonyms={STATIC_BROKER_CONFIG:min.insync.replicas=2, DEFAULT_CONFIG:x=1}
  default.replication.factor=3 sensitive=false synonyms={}
Default configs for brokers in the cluster are:
  min.insync.replicas=1 sensitive=false synonyms={}
  unclean.leader.election.enable=true sensitive=false synonyms={}
Dynamic configs for topic a.b are:
  flush.messages=1 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:flush.messages=1}
Configs for topic 'old' are min.insync.replicas=3
Dynamic configs for topic none are:
"""


def read(tmp_path: Path, *texts: str, **given: int | str) -> Configured:
    files = [tmp_path / f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return read_configs(files, given)


def by_topic(configured: Configured) -> dict[str, dict[str, int | str]]:
    return {topic: dict(found.settings) for found in configured.combinations for topic in found.topics}


@pytest.mark.slow
def test_topics_at_risk_are_named_with_what_goes_wrong_and_what_helps(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "topics.txt"
    narrow = TOPICS.replace("Factor: 3", "Factor: 2").replace("Replicas: 1,2,3", "Replicas: 1,2")
    file.write_text(narrow + "Topic: wide\tReplicationFactor: 7\n", encoding="utf-8")
    arguments = ["--quiet", "--release", "3.9", "--config", str(file)]
    code = command.main(arguments, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert code == 1
    assert "orders-1" not in text
    assert "min.insync.replicas=2, replication factor 2, unclean.leader.election.enable=false topics: orders" in text
    assert "at risk: an acknowledged record is lost in 5 steps by: b1 crashes, its log ends at 0" in text
    assert "what helps: Kafka 4.4" in text
    assert "topics: wide unknown: the model has at most 5 replicas, not 7" in text
    assert "not asked about: cleanup.policy (compaction, which is not modelled) ignored: segment.bytes" in text
    command.main([*arguments, "--json"], "insync ask", standalone_mode=False)
    answer = json.loads(capsys.readouterr().out)
    orders = answer["combinations"][0]
    assert (answer["verdict"], orders["verdict"], orders["remedy"]) == ("violated", "violated", {"release": "4.4"})
    (lost,) = orders["promises"]
    assert len(lost["steps"]) == lost["trace_length"] == 6
    assert {stop["by"] for stop in orders["writes_stop"]} == {"down", "fenced", "slow", "down_beside_slow"}


@pytest.mark.slow
def test_what_helps_is_named_also_where_nothing_has_failed_on_the_way(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.kafka_questions.exposure._FAILURES", frozenset())
    file = tmp_path / "server.properties"
    file.write_text("default.replication.factor=2\nmin.insync.replicas=2\n", encoding="utf-8")
    command.main(["--quiet", "--release", "3.9", "--config", str(file)], "insync ask", standalone_mode=False)
    text = capsys.readouterr().out
    assert "what helps: Kafka 4.4" in text
    assert "by:" not in text


@pytest.mark.parametrize(
    ("verdict", "said"), [("incomplete", "unknown, as not every change"), ("violated", "no single")]
)
def test_what_helps_is_unknown_where_a_change_was_not_searched(verdict: str, said: str) -> None:
    lost = Violation(LOSS, 3, Trace("cluster", {}, LOSS, (), ""))
    properties = [PropertyResult(LOSS, Verdict.VIOLATED)]
    result: Any = SimpleNamespace(violations=[lost], properties=properties, warnings=(), stopped_by=None)
    asked = Asked(Cluster(), result)
    exposure = Exposure({}, asked, remedies=(Remedy(Cell({"acks": "all"}, verdict, None)),))
    assert f"what helps: {said}" in describe_exposure(Shown(exposure, ["t"]), set(), plain, 120)


def test_settings_that_are_safe_end_with_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("default.replication.factor=2\nmin.insync.replicas=2\n", encoding="utf-8")
    calm = ["--elections", "0", "--reassignments", "0"]
    code = command.main(["--release", "4.1", "--config", str(file), *calm], "insync ask", standalone_mode=False)
    text = capsys.readouterr().out
    assert code == 0
    assert f"topics: {EVERY_OTHER}" in text
    assert "safe: no acknowledged record is lost in" in text
    assert "with one election" not in text


@pytest.mark.slow
def test_settings_that_are_safe_but_for_a_disturbance_are_at_risk(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "server.properties"
    file.write_text("default.replication.factor=2\nmin.insync.replicas=2\n", encoding="utf-8")
    arguments = ["--release", "4.1", "--config", str(file), "--elections", "0"]
    code = command.main(arguments, "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert code == 1
    assert "safe: no acknowledged record is lost in" in text
    assert "with two reassignments at risk: a record is lost in 10 steps (N-02: A replica that was removed" in text
    assert "what helps: no setting that was tried; lower min.insync.replicas of the topic before" in text
    command.main([*arguments, "--json"], "insync ask", standalone_mode=False)
    (combination,) = json.loads(capsys.readouterr().out)["combinations"]
    (found,) = combination["disturbances"]
    assert (combination["verdict"], found["verdict"], found["defect"]["name"]) == ("violated", "violated", "N-02")
    (lost,) = found["promises"]
    assert len(lost["steps"]) == lost["trace_length"] == 11


def test_what_the_model_is_too_small_for_is_unknown() -> None:
    (found,) = exposures(Question(bounds={}), [{"replicas": 3, "min_insync": 6}])
    assert (found.verdict, found.causes, found.remedy) == ("incomplete", [], None)
    assert found.beyond == "the model has at most 5 min.insync.replicas, not 6"


@pytest.mark.parametrize("told", [["--github"], ["--sarif", "found.sarif"]], ids=str)
@pytest.mark.parametrize("table", ["--config", "--matrix"])
def test_a_table_is_no_one_answer_for_a_build(tmp_path: Path, table: str, told: list[str]) -> None:
    (tmp_path / "a.properties").write_text("min.insync.replicas=2\n")
    given = [table, str(tmp_path / "a.properties")] if table == "--config" else [table]
    with pytest.raises(click.UsageError, match=f"{told[0]} tells of one answer, and not of a table. Leave {table} out"):
        command.main([*given, *told], "insync ask", standalone_mode=False)


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="--matrix tries settings, and --config reads them"):
        command.main(["--matrix", "--config", str(tmp_path)], "insync ask", standalone_mode=False)


@pytest.mark.parametrize(("count", "shown"), [(1, "t0"), (8, "t0, t1, t2, t3, t4, t5, t6, t7"), (9, " t7 and 1 more")])
def test_of_many_topics_the_first_eight_are_named_and_the_others_counted(count: int, shown: str) -> None:
    combination = Shown(Exposure({}, None, beyond="too many"), [f"t{n}" for n in range(count)])
    said = describe_exposure(combination, set(), plain, 120)
    *_, topics, outcome = said.splitlines()
    assert topics.endswith(shown)
    assert ("more" in topics) == (count > 8)
    assert outcome == "  unknown: too many"


def properties(folder: Path, text: str) -> str:
    file = folder / "server.properties"
    file.write_text(text)
    return str(file)


CALM = ("--quiet", "--elections", "0", "--reassignments", "0", "--lossy-crashes", "0", "--fencings", "0")


def test_with_acks_0_nothing_is_promised(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = properties(tmp_path, "acks=0\ndefault.replication.factor=1\n")
    code = command.main([*CALM, "--config", file, "--release", "4.1"], "insync ask", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert "nothing is promised: no record is acknowledged" in text
    assert "safe" not in text


@pytest.mark.slow
def test_another_promise_is_asked_of_each_combination_and_its_traces_are_beside_one_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "Topic: a\tReplicationFactor: 2\tConfigs: unclean.leader.election.enable=true,min.insync.replicas=1\n"
    (tmp_path / "topics.txt").write_text(f"{text}Topic: b\tReplicationFactor: 1\tConfigs: \n")
    file, page = tmp_path / "broken.json", tmp_path / "broken.html"
    (tmp_path / "broken.combination_2.json").write_text("{}")
    given = ["--config", str(tmp_path / "topics.txt"), "--property", "watermark_never_goes_back"]
    given += ["--trace", str(file), "--html", str(page), "--release", "4.1", "--shrinks", "1", "--crashes", "1"]
    code = command.main([*CALM, *given], "insync ask", standalone_mode=False)
    out, err = capsys.readouterr()
    said = " ".join(out.split())
    written = tmp_path / "broken.combination_1.json"
    assert code == 1
    assert "Can this be broken: the end of the partition never goes back?" in said
    assert "at risk: broken in " in said
    assert "safe: all that was asked about holds in" in said
    assert f"trace: {written}" in out
    assert json.loads(written.read_text())["property"] == "watermark_never_goes_back"
    assert "broken.combination_1.json" in page.read_text()
    assert f"Page: {page}" in out
    assert "broken.combination_2.json was not written" in err
    assert not file.exists()


def test_a_trace_that_cannot_be_written_does_not_end_the_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = properties(tmp_path, "min.insync.replicas=1\ndefault.replication.factor=2\n")
    (tmp_path / "lost.combination_1.json").mkdir()
    given = [*CALM, "--config", file, "--acks", "1", "--crashes", "1", "--release", "4.1"]
    with pytest.raises(UserError, match=r"lost\.combination_1\.json"):
        command.main([*given, "--trace", str(tmp_path / "lost.json")], "insync ask", standalone_mode=False)
    assert "at risk: an acknowledged record is lost in" in capsys.readouterr().out


@pytest.mark.slow
def test_topics_that_are_told_in_part_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text("\tTopic: a\tPartition: 3\tLeader: none\tReplicas: 1\tIsr: \n")
    given = [*CALM, "--config", str(tmp_path / "topics.txt"), "--release", "4.1"]
    command.main(given, "insync ask", standalone_mode=False)
    assert "not known is what these topics set themselves: a; give what" in capsys.readouterr().out
