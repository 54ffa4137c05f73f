"""`insync kafka replay --all`, `bisect` and `claims`, and what `insync defects` says of Kafka, without Java."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.catalogue import catalogue_record
from insync.conformance.catalogue.catalogue_record import BrokersRun, RecordedEntry, RecordedRun, read_record
from insync.conformance.catalogue.reached import claims
from insync.conformance.documents import seen as seen_on_kafka
from insync.conformance.documents.catalogue import describe_catalogue_runs, is_as_listed, outcome_lines
from insync.conformance.jars.jar_set import JarSet
from insync_kafka import Recording

Insync = Callable[..., Any]


@pytest.fixture(autouse=True)
def _an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


class Played:
    """Stands in for the harness of each release: the recording of R-26 is what Kafka says."""

    def __init__(self, jars: JarSet) -> None:
        self.version = jars.version

    def __enter__(self) -> Recording:
        return Recording.read(f"R-26-{self.version}")

    def __exit__(self, *left: object) -> None:
        return


@pytest.fixture
def two_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """3.9.2 and 4.1.2 are here, as far as R-26 goes."""
    monkeypatch.setattr("insync.conformance.jars.fetched.fetched_versions", lambda: ["3.9.2", "4.1.2"])
    monkeypatch.setattr("insync.conformance.jars.store.stored_jars", lambda one: JarSet(one.version, (), ()))
    monkeypatch.setattr("insync.conformance.classes.harness.Harness", Played)
    monkeypatch.setattr("insync.conformance.catalogue.catalogue_runs.catalogue_names", lambda: ("R-26",))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay"], "Name a TRACE, a file or a defect of `insync defects`, or give --all."),
        (["replay", "N-001", "--all"], "'N-001' is no entry of `insync defects` that can be run. Did you mean 'N-01'?"),
        (["replay", "--all", "--libs", "x"], "--all takes the catalogue on the classes of releases that are fetched"),
        (
            ["replay", "--all", "--on", "cluster"],
            "--all takes the catalogue on the classes of releases that are fetched",
        ),
        (
            ["replay", "N-01", "--kafka", "4.3.1", "--record"],
            "--record is about the catalogue: give --all with it, or --on cluster.",
        ),
        (["replay", "--all"], "No release of Kafka is here yet. Fetch one, such as: insync kafka fetch 4.3.1"),
        (
            ["replay", "--all", "--kafka", "4.3"],
            "Kafka '4.3' is not a release that insync can fetch. Near it: 4.3.0, 4.3.1.",
        ),
        (
            ["replay", "N-01", "--libs", "x", "--on", "cluster", "--record"],
            "--record is about a release as it is: give --kafka VERSION with it, and not --libs.",
        ),
        (
            ["replay", "lost.json", "--kafka", "4.3.1", "--on", "cluster", "--record"],
            "'lost.json' is no entry of `insync defects` that can be run.",
        ),
        (["scenario", "n-02", "--libs", "x", "--record"], "--record is about a release as it is: give --kafka VERSION"),
        (
            ["scenario", "n-99", "--kafka", "4.3.1", "--record"],
            "'n-99' is no scenario.",
        ),
        (["scenario", "n-99", "--kafka", "4.3.1"], "'n-99' is no scenario."),
        (["scenario", "n-01", "--kafka", "4.3.1"], "Fetch them: insync kafka fetch 4.3.1 --cluster"),
        (["record", "a.run", "--scenario", "n-99", "--kafka", "4.3.1"], "'n-99' is no scenario."),
        (
            ["replay", "R-34", "--all"],
            "R-34 (A crash while logs are loaded looks like a clean stop, KAFKA-10471, KAFKA-15375) is not modelled: ",
        ),
        (
            ["replay", "Q-1", "--all"],
            "Q-1 (A leader that restarts leads on in its epoch) is a defect of kraft, and not of",
        ),
        (["bisect", "N-01"], "No release of Kafka is here yet. Fetch one, such as: insync kafka fetch 4.3.1"),
        (
            ["bisect", "N-01", "--repository", "."],
            "--repository says where --fetch takes jars from: give --fetch with it.",
        ),
        (["bisect", "N-01", "--fetch", "--repository", "."], ". has no "),
    ],
)
def test_a_mistake_is_one_sentence(insync: Insync, arguments: list[str], said: str) -> None:
    code, out, err = insync("kafka", *arguments, "--quiet")
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.usefixtures("two_releases")
@pytest.mark.parametrize("given", ["N-001", "nowhere.json"])
def test_what_is_no_trace_is_one_sentence(insync: Insync, given: str) -> None:
    code, out, err = insync("kafka", "bisect", given, "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert given in err


@pytest.mark.usefixtures("two_releases")
def test_a_bisection_says_where_it_changes(insync: Insync) -> None:
    code, out, err = insync("kafka", "bisect", "r-26", "--quiet")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "r-26 on 2 releases of Kafka"
    assert lines[2] == "  3.9.2   reproduced in 5 steps"
    assert lines[3].startswith(
        "  4.1.2   differs at step 5, b1 starts and registers: controller.leader is b1 in the model"
    )
    assert lines[5] == "reproduced up to 3.9.2, not any more from 4.1.2 on"
    assert lines[6].startswith("not here, so not tried: ")


@pytest.mark.usefixtures("two_releases")
def test_a_bisection_as_json(insync: Insync) -> None:
    found = json.loads(insync("kafka", "bisect", "R-26", "--quiet", "--json").out)
    assert [(run["kafka"], run["verdict"], run["as_the_rules_say"]) for run in found["runs"]] == [
        ("3.9.2", "reproduced", True),
        ("4.1.2", "diverges", True),
    ]
    assert found["changes"] == [{"before": "3.9.2", "since": "4.1.2", "reproduced_since": False}]
    assert "4.3.1" in found["not_here"]


@pytest.mark.usefixtures("two_releases")
def test_the_catalogue_is_run_on_each_release_and_recorded(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "record.json"
    monkeypatch.setattr(catalogue_record, "RECORD", file)
    monkeypatch.setattr(catalogue_record.read_record, "__defaults__", (file,))
    monkeypatch.setattr(catalogue_record.write_record, "__defaults__", (file,))
    code, out, err = insync("kafka", "replay", "--all", "--record", "--quiet")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "  R-26  3.9.2: reproduced in 5 steps"
    assert "Every release does what the model's rules of that release say, as far as the steps can be taken." in out
    assert out.endswith(f"Recorded in {file}.\n")
    assert [run.kafka for run in read_record(file)["R-26"].runs] == ["3.9.2", "4.1.2"]


# -------------------------------------------------------------------------------------------------------- on record


def test_claims_are_confirmed_from_the_record(insync: Insync) -> None:
    code, out, err = insync("kafka", "claims")
    assert (code in (0, 3), err) == (True, "")
    rows = [line.split() for line in out.splitlines()]
    assert ["3.9.2", "4.0.0", "register_leaves_isr", "R-26", "confirmed:"] in [row[:5] for row in rows]
    assert "register_leaves_isr: A broker that registers after an unclean stop leaves the ISR" in out


def test_claims_as_json(insync: Insync) -> None:
    found = json.loads(insync("kafka", "claims", "--json").out)["claims"]
    assert [(one["rule"], one["before"], one["since"]) for one in found] == [
        (claim.rule, claim.before, claim.since) for claim in claims()
    ]
    assert any(one["confirmed"] for one in found)


def test_without_a_record_no_claim_is_confirmed(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: dict[str, RecordedEntry] = {}
    monkeypatch.setattr(catalogue_record, "read_record", lambda: nothing)
    code, out, _ = insync("kafka", "claims")
    assert code == 3
    assert "not run" in out


def test_a_claim_that_was_run_on_one_side_alone_is_not_confirmed(
    insync: Insync, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = catalogue_record.read_record()
    first = {
        name: replace(one, runs=tuple(run for run in one.runs if run.kafka.startswith("3.")))
        for name, one in known.items()
    }
    monkeypatch.setattr(catalogue_record, "read_record", lambda: first)
    rows = [line.split() for line in insync("kafka", "claims").out.splitlines()]
    assert ["3.9.2", "4.0.0", "register_leaves_isr", "R-26", "not", "run"] in rows


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of three releases, whatever the one of the package has come to."""
    taken = [RecordedRun(kafka, "classes", "reproduced", 5, "2026-11-22", "", True) for kafka in ("3.9.1", "3.9.2")]
    label, field = "b1 starts and registers", "controller.leader"
    other = RecordedRun("4.0.0", "classes", "diverges", 3, "2026-11-21", "", True, label, field, "b1", "none")
    brokers = (
        BrokersRun("3.9.2", "r-26", 9, 10, "2026-11-20"),
        BrokersRun("3.9.2", "trace", 1, 1, "2026-11-22"),
        BrokersRun("4.1.2", "r-26-kill", 0, 1, "2026-11-21"),
    )
    entry = RecordedEntry(runs=(*taken, other), on_brokers=brokers)
    monkeypatch.setattr(seen_on_kafka, "_record", lambda: {"R-26": entry})


@pytest.mark.usefixtures("seen")
def test_the_list_of_defects_says_where_each_was_seen(insync: Insync) -> None:
    lines = insync("defects").out.splitlines()
    after = {line.split()[0]: following.strip() for line, following in pairwise(lines) if line.startswith("  R-")}
    assert after["R-26"] == "seen on Kafka's classes, 3.9.1 to 3.9.2; on running brokers, 3.9.2"
    assert not any("seen on" in line for name, line in after.items() if name != "R-26")
    listed = {entry["name"]: entry["on_kafka"] for entry in json.loads(insync("defects", "--json").out)["defects"]}
    on = {kind: [run for run in listed["R-26"] if run["on"] == kind] for kind in ("classes", "brokers")}
    assert [(run["kafka"], run["how"], run["reproduced"], run["runs"], run["date"]) for run in on["brokers"]][:1] == [
        ("3.9.2", "r-26", 9, 10, "2026-11-20")
    ]
    runs = {run["kafka"]: (run["verdict"], run["on"], bool(run["date"])) for run in on["classes"]}
    assert (runs["3.9.2"], runs["4.0.0"]) == (("reproduced", "classes", True), ("diverges", "classes", True))


@pytest.mark.slow
@pytest.mark.usefixtures("seen")
def test_a_defect_says_what_each_release_does(insync: Insync) -> None:
    out = " ".join(insync("defects", "R-26", "--quiet").out.split())
    assert "on the classes of Kafka 3.9.1 to 3.9.2: reproduced in 5 steps (2026-11-22)" in out
    words = "differs at step 3, b1 starts and registers: controller.leader is b1 in the model, none in Kafka"
    assert f"on the classes of Kafka 4.0.0: {words} (2026-11-21)" in out
    assert "on running brokers of Kafka 3.9.2, by the scenario r-26: reproduced in 9 of 10 runs (2026-11-20)" in out
    assert "on running brokers of Kafka 3.9.2, step by step: reproduced (2026-11-22)" in out
    assert "on running brokers of Kafka 4.1.2, by the scenario r-26-kill: not reproduced (2026-11-21)" in out


@pytest.mark.parametrize(
    ("verdict", "predicted", "against"),
    [
        ("reproduced", True, False),
        ("reproduced", False, True),
        ("diverges", True, True),
        ("diverges", False, False),
        ("not_schedulable", True, False),
        ("not_schedulable", False, False),
    ],
)
def test_only_a_release_that_does_otherwise_than_its_rules_say_is_against_them(
    verdict: str, predicted: bool, against: bool
) -> None:
    run = RecordedRun("4.1.2", "classes", verdict, 5, "2026-01-01", "", predicted, "label", reason="why")
    found = {"N-01": RecordedEntry(runs=(run,))}
    assert is_as_listed(found) is not against
    assert ("N-01 (4.1.2)" in describe_catalogue_runs(found, None)) == against


def test_versions_with_one_outcome_are_a_line_which_says_if_one_of_them_is_against_its_rules() -> None:
    right = RecordedRun("4.1.1", "classes", "reproduced", 5, "2026-01-01", "", predicted=True)
    wrong = replace(right, kafka="4.1.2", predicted=False)
    assert outcome_lines(RecordedEntry(runs=(right,)))[0].startswith("4.1.1: ")
    (line,) = outcome_lines(RecordedEntry(runs=(right, wrong)))
    assert line.startswith("4.1.1")
    assert line.endswith(" (not what its rules say)")
    assert "not what" not in outcome_lines(RecordedEntry(runs=(right,)))[0]
    assert outcome_lines(RecordedEntry()) == ["not run"]
