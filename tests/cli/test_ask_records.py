"""How many records a table of `insync ask` is about, so that no cell is safe for want of records."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from insync.cli.commands.ask import command
from insync.kafka_questions.ask import FEWEST_RECORDS, PROMISES, Question

SMALL = ("--replicas", "2", "--records", "1", "--shrinks", "0")

BREAKS: dict[str, dict[str, int | str]] = {
    "no_acknowledged_record_is_lost": {"release": "4.1", "acks": "1"},
    "reads_repeat": {"release": "3.9", "acks": "1"},
    "watermark_never_goes_back": {"release": "0.10.2", "acks": "1"},
    "acks_mean_enough_copies": {"release": "0.10.2", "replicas": 3, "min_insync": 3, "lossy_crashes": 0},
    "logs_keep_write_order": {"release": "0.11", "acks": "1", "min_insync": 1, "unclean": "on"},
    "leader_is_eligible": {"release": "3.9", "acks": "1"},
    "electable_replicas_are_complete": {"release": "0.10.2", "acks": "1"},
}
"""For each promise a cell of a table that breaks it, with 2 replicas unless it says more."""


@pytest.mark.slow_for("reads_repeat", "acks_mean_enough_copies", "logs_keep_write_order")
@pytest.mark.parametrize("name", PROMISES)
def test_a_table_has_as_many_records_as_a_promise_takes_to_be_broken(name: str) -> None:
    fewest = FEWEST_RECORDS.get(name, 1)
    cell = {"replicas": 2, "elections": 0, **BREAKS[name]}
    broken = Question(bounds={}).search({**cell, "records": fewest}, [name], keep_going=False)
    assert str(broken.result.verdict) == "violated"
    if fewest > 1:
        fewer = Question(bounds={}).search({**cell, "records": fewest - 1}, [name], keep_going=False)
        assert str(fewer.result.verdict) == "holds"


@pytest.mark.parametrize("table", ["--matrix", "--config"])
@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ((), 1),
        (("--property", "watermark_never_goes_back"), 1),
        (("--property", "reads_repeat"), 2),
        (("--property", "reads_repeat", "--property", "leader_is_eligible"), 2),
        (("--property", "reads_repeat", "--records", "3"), 3),
        (("--property", "logs_keep_write_order", "--records", "3"), 3),
    ],
)
def test_a_table_is_about_as_few_records_as_can_break_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, table: str, given: tuple[str, ...], taken: int
) -> None:
    asked: list[Question] = []

    def noted(question: Question, *_: object) -> int:
        asked.append(question)
        return 0

    for name in ("ask_matrix", "ask_configs"):
        monkeypatch.setattr(f"insync.cli.commands.ask.{name}", noted)
    (tmp_path / "a.properties").write_text("min.insync.replicas=2\ndefault.replication.factor=3\n")
    of = (table,) if table == "--matrix" else (table, str(tmp_path / "a.properties"))
    command.main([*of, *given, "--quiet"], "insync ask", standalone_mode=False)
    assert [question.bounds["records"] for question in asked] == [taken]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("logs_keep_write_order",), "logs_keep_write_order takes 3 records to break, and a table has 2, with which"),
        (("logs_keep_write_order",), "Give --records 3, with --replicas 2 for searches that take seconds, or leave"),
        (("logs_keep_write_order", "--records", "2"), "takes 3 records to break, and a table has 2"),
        (("reads_repeat", "--records", "1"), "reads_repeat takes 2 records to break, and a table has 1, with which"),
    ],
)
def test_a_table_of_what_nothing_can_break_is_refused(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        command.main(["--matrix", "--property", *given], "insync ask", standalone_mode=False)


def test_what_holds_as_there_are_too_few_records_is_said_to(capsys: pytest.CaptureFixture[str]) -> None:
    calm = ("--release", "4.0", "--elections", "0", "--fencings", "0", "--lossy-crashes", "0")
    command.main([*SMALL, *calm], "insync ask", standalone_mode=False)
    out = capsys.readouterr().out
    said = " ".join(out.split())
    assert "gets the same record holds, as it takes 2 records to break" in said
    assert "in which they were written holds, as it takes 3 records to break" in said
    command.main([*SMALL, *calm, "--json"], "insync ask", standalone_mode=False)
    promises = json.loads(capsys.readouterr().out)["promises"]
    assert {each["name"]: each["takes_records"] for each in promises if each["takes_records"] > 1} == FEWEST_RECORDS
