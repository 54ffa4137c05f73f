"""`insync describe`: which features of Kafka are in force in a model, and why."""

from __future__ import annotations

import json

import pytest

from insync.cli.main import run


def test_a_feature_is_shown_with_what_decides_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "cluster", "--release", "3.9", "--log-dir-moves", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("cluster release=3.9 log_dir_moves=1 In force, and by what")
    on, off = said.split(" Not in force, and by what ")
    assert " Rules of the release " in on
    assert "log_dir_moves A log may be moved to another directory of its broker (KIP-113). (log_dir_moves=1)" in on
    assert "elr The controller keeps eligible leader replicas (KIP-966). (elr_by_default=off)" in off
    assert "clean_stop_is_noticed off: A broker that was stopped cleanly stays in the ELR" in on
    assert "fetch A follower fetches one record at its log end" in on
    assert "Steps that need a feature that is not in force, each with that feature" in off
    assert "consume (consumes)" in off
    assert "Other steps that cannot be taken" in off


def test_it_is_one_object_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "cluster", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"model", "chosen", "features", "rules", "steps"}
    (elr,) = [one for one in found["features"] if one["name"] == "elr"]
    assert (elr["on"], elr["decided_by"]) == (True, {"elr": "release", "elr_by_default": "on"})


def test_of_the_quorum_it_shows_the_rules_of_the_release_and_why_a_part_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["describe", "kraft", "--release", "3.9", "--removals", "1", "--defect", "Q-8"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("kraft release=3.9 defect=Q-8 removals=1 In force, and by what")
    on, off = said.split(" Not in force, and by what ")
    assert "changes_voters Voters come and go" in on
    assert "(spare_servers=0, additions=0, removals=1)" in on
    assert "pre_votes A server requests pre-votes before it stands for election (KIP-996). (pre_votes=off)" in off
    rules, changed = on.split(" Rules that differ from those of the release ")
    assert "pre_votes off: A server requests pre-votes" in rules
    assert changed.startswith("only_voters_count off: A leader counts its own log only where it is a voter by it")
    assert "request_vote A voter whose time without a leader is over begins an epoch" in changed
    assert "a later epoch. Kafka: handleVoteResponse. become_leader A candidate" in changed
    assert "handle_pre_vote (pre_votes)" in off


def test_a_model_without_releases_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "kip320"]) == 2
    assert "kip320 has no releases" in capsys.readouterr().err


def test_a_patch_release_without_rules_of_its_own_says_whose_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "cluster", "--release", "3.9.2"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "warning: --release 3.9.2 is answered as 3.9.1, whose rules it has.\n"
    assert printed.out.startswith("cluster   release=3.9.1\n")
