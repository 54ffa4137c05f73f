from __future__ import annotations

import json

import click
import pytest

from insync.cli.commands.ask import command

SMALL = ("--replicas", "2", "--records", "1", "--shrinks", "0")


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = command.main([*SMALL, *arguments], "insync ask", standalone_mode=False)
    return code, capsys.readouterr().out


def test_settings_that_are_safe_within_the_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "4.1")
    assert code == 0
    assert "Kafka 4.1, replicas 2, records 1, shrinks 0" in out
    assert "states searched, all of them" in out
    assert " ".join(out.split()).count(" holds") == 6
    assert "What would have kept the record" not in out


def test_settings_that_lose_a_record_and_what_would_have_kept_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--release", "3.9")
    assert code == 1
    assert "an acknowledged record is never lost                            broken in 5 steps" in out
    assert "r0 was acknowledged, but b1, which leads now, does not have it: its log is [|]." in out
    text = " ".join(out.split())
    assert "What would have kept the record: Kafka 4.1 no record is lost" in text
    assert "records flushed always no record is lost" in text


def test_acks_1_is_told_to_use_acks_all(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--acks", "1")
    assert "acks=all no record is lost" in " ".join(out.split())


def test_all_changes_together_are_tried_where_no_single_one_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--acks", "1", "--min-insync", "1", "--unclean", "on", "--crashes", "1", "--json")
    remedies = json.loads(out)["remedies"]
    assert [remedy["verdict"] for remedy in remedies[:-1]] == ["violated"] * (len(remedies) - 1)
    assert remedies[-1]["settings"] == {"acks": "all", "min_insync": 2, "unclean": "off", "flushing": "always"}
    assert remedies[-1]["verdict"] == "holds"


def test_the_matrix_has_a_row_for_each_acks_and_min_insync(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--matrix")
    rows = [line.split() for line in out.splitlines() if line.startswith("  ") and "acks" not in line]
    assert code == 0
    assert [row[:2] for row in rows] == [["0", "1"], ["0", "2"], ["1", "1"], ["1", "2"], ["all", "1"], ["all", "2"]]
    assert rows[0][2:] == ["nothing", "is", "promised"] * 2
    assert rows[5][2] == "safe"


def test_the_answer_is_there_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ask(capsys, "--release", "3.9", "--json")
    answer = json.loads(out)
    assert answer["settings"]["release"] == "3.9"
    assert answer["verdict"] == "violated"
    assert answer["promises"][0] == {
        "name": "no_acknowledged_record_is_lost", "verdict": "violated", "trace_length": 6,
    }  # fmt: skip
    assert {"settings": {"release": "4.1"}, "verdict": "holds", "trace_length": None} in answer["remedies"]


def test_a_search_that_was_stopped_promises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = ask(capsys, "--replicas", "3", "--records", "2", "--shrinks", "1", "--max-seconds", "0.2")
    assert code == 3
    assert "states searched, not all of them" in out
    assert "unknown" in out


def test_a_release_that_is_not_modelled_is_the_users_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.UsageError, match=r"3\.99"):
        ask(capsys, "--release", "3.99")
