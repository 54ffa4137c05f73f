from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.cli.commands.defects import defects_command as command
from insync.explorer import CheckResult, check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, LEFT_OUT, LeftOut, all_defects
from insync.kafka.defects.findings import finding_of
from insync.kafka.defects.named import by_ticket, named_by_ticket
from insync.kafka_questions.defects import DefectFound, breaks_as_listed
from insync.kafka_questions.symptoms import by_symptom
from insync.model import UserError
from insync.runtime.watch import Limits

Insync = Callable[..., Any]


@pytest.fixture
def defects(capsys: pytest.CaptureFixture[str]) -> object:
    """Run the command in this process: its exit code and its output."""

    def call(*arguments: str) -> tuple[int, str]:
        code = command.main(
            list(arguments), "insync defects", standalone_mode=False, help_option_names=["-h", "--help"]
        )
        return code, capsys.readouterr().out

    return call


def run(defects: object, *arguments: str) -> tuple[int, str]:
    assert callable(defects)
    code, out = defects(*arguments)
    return code, out


def test_the_list_names_every_entry_and_what_is_left_out(defects: object) -> None:
    code, out = run(defects)
    assert code == 0
    assert all(f"\n  {name} " in f"\n{out}" for name in all_defects())
    findings, others, left_out, _ = out.split("\n\n")
    assert findings.splitlines()[1].startswith("  N-01  A leader elected again")
    assert "\n  Q-18 " in findings
    assert others.splitlines()[1].startswith("  R-01 ")
    assert "  R-41  A reassignment ends with one new replica; KIP-966" in left_out.splitlines()
    assert max(map(len, out.splitlines())) <= 120


def test_the_list_is_there_for_scripts(defects: object) -> None:
    code, out = run(defects, "--json")
    listed = json.loads(out)
    assert code == 0
    assert [entry["name"] for entry in listed["defects"]] == list(all_defects())
    assert listed["left_out"]


def test_a_defect_is_shown_with_its_trace_and_its_fix(defects: object) -> None:
    code, out = run(defects, "R-26", "--color", "never")
    assert code == 0
    assert "KAFKA-18106; affected: 3.3 to 3.9" in out
    assert "no_acknowledged_record_is_lost fails after 5 steps" in out
    assert "b1 starts and registers" in out
    assert "r0 was acknowledged, but b1, which leads now, does not have it: its log is [|]." in out
    assert "With the fix no_acknowledged_record_is_lost holds in all 1,000 states at these bounds." in out


@pytest.mark.slow
def test_a_defect_that_does_no_harm_says_so_and_case_does_not_matter(defects: object) -> None:
    assert all(name.isupper() for name in DEFECTS)
    _, out = run(defects, "m-7")
    assert "No harm: electable_replicas_are_complete holds in all" in out


@pytest.mark.slow
def test_verifying_compares_with_the_catalogue(defects: object) -> None:
    code, out = run(defects, "--verify", "R-26", "C-2")
    assert code == 0
    assert "  ok  R-26  broken in 5 steps; with the fix holds, 1,000 states;" in out
    assert "  ok  C-2   broken in 3 steps;" in out


@pytest.mark.parametrize(("harmless", "lengths"), [(True, []), (False, [6])])
def test_an_entry_breaks_what_is_listed_or_nothing_where_it_does_no_harm(harmless: bool, lengths: list[int]) -> None:
    defect = replace(DEFECTS["R-26"], length=0 if harmless else 6)
    assert defect.harmless == harmless
    for found in ([], [5], [6], [7]):
        result = SimpleNamespace(verdict="holds", traces=[SimpleNamespace(length=length) for length in found])
        assert breaks_as_listed(defect, cast(DefectFound, result)) == (found == lengths)
    stopped = SimpleNamespace(verdict="incomplete", traces=[])
    assert breaks_as_listed(defect, cast(DefectFound, stopped)) is None


def test_an_entry_whose_fix_does_not_hold_is_bad(defects: object, monkeypatch: pytest.MonkeyPatch) -> None:
    lasting = replace(DEFECTS["R-26"], base=DEFECTS["R-26"].rules)
    monkeypatch.setitem(DEFECTS, "R-26", lasting)
    code, out = run(defects, "--verify", "R-26")
    assert code == 1
    assert "  BAD R-26  broken in 5 steps; with the fix " in out


@pytest.mark.slow
def test_verifying_is_there_for_scripts(defects: object) -> None:
    _, out = run(defects, "--verify", "--json", "C-10")
    (entry,) = json.loads(out)["defects"]
    assert (entry["name"], entry["verified"], entry["steps"]) == ("C-10", True, DEFECTS["C-10"].length - 1)
    sizes = [check(Cluster(**one), properties=[DEFECTS["C-10"].breaks]).distinct_states for one in _both("C-10")]
    assert [entry["states"], entry["fixed_states"]] == sizes


def _both(name: str) -> list[dict[str, int | str]]:
    return [DEFECTS[name].witness, DEFECTS[name].fixed_witness]


def test_a_rule_with_several_ways_is_shown_with_the_way_that_is_wrong_and_the_right_one(defects: object) -> None:
    _, out = run(defects, "R-01")
    said = "the rule truncation: it cuts its log back to its own high watermark (before KIP-101); fixed: the fetch"
    assert said in " ".join(out.split())
    _, out = run(defects, "R-26")
    assert "without the rule register_leaves_isr: " in out


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make Ctrl-C come in the midst of the search with this number, the first being 0."""

    def after(number: int) -> None:
        numbers = itertools.count()

        def stopping(*given: Any, **named: Any) -> CheckResult:
            if next(numbers) == number:
                named["stop"].set()
            return check(*given, **named)

        monkeypatch.setattr("insync.kafka_questions.defects.check", stopping)

    return after


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (0, "  undecided R-26  stopped by Ctrl-C after 0 states; with the fix not tried;"),
        (1, "  undecided R-26  broken in 5 steps; with the fix stopped by Ctrl-C after 0 states;"),
    ],
)
def test_an_interrupted_entry_is_undecided_and_the_rest_not_tried(
    defects: object, interrupted: Callable[[int], None], number: int, line: str
) -> None:
    interrupted(number)
    code, out = run(defects, "--verify", "R-26", "C-2", "M-7")
    assert code == 3
    assert out.startswith(line)
    assert out.endswith("\n\nStopped by Ctrl-C; not tried: C-2, M-7.\n")
    assert "BAD" not in out


def test_where_all_that_was_tried_is_right_the_rest_may_be_left(
    defects: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes between two entries."""
    searched = itertools.count(1)

    def stopping(*given: Any, **named: Any) -> CheckResult:
        result = check(*given, **named)
        if next(searched) == 2:
            named["stop"].set()
        return result

    monkeypatch.setattr("insync.kafka_questions.defects.check", stopping)
    code, out = run(defects, "--verify", "R-26", "C-2")
    assert (code, out.splitlines()[-1]) == (3, "Stopped by Ctrl-C; not tried: C-2.")
    assert out.startswith("  ok  R-26")


def test_what_an_interrupt_leaves_is_there_for_scripts(defects: object, interrupted: Callable[[int], None]) -> None:
    interrupted(2)
    code, out = run(defects, "--verify", "--json", "R-26", "C-2", "M-7")
    assert code == 3
    found = json.loads(out)
    assert [(one["name"], one["verified"]) for one in found["defects"]] == [("R-26", True), ("C-2", None)]
    assert found["defects"][1]["fixed_states"] is None
    assert found["not_tried"] == ["M-7"]


def test_a_disagreement_stays_one_when_the_rest_is_not_tried(
    defects: object, interrupted: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DEFECTS, "R-26", replace(DEFECTS["R-26"], length=3))
    interrupted(1)
    code, out = run(defects, "--verify", "R-26", "C-2")
    assert code == 1
    assert "  BAD R-26  broken in 5 steps (catalogue: 2 steps); with the fix stopped by Ctrl-C after 0 states;" in out


def test_an_entry_that_is_shown_may_be_undecided_too(defects: object, interrupted: Callable[[int], None]) -> None:
    interrupted(0)
    code, out = run(defects, "R-26", "C-2")
    assert code == 3
    assert "Without the fix: undecided, stopped by Ctrl-C after 0 states." in out
    assert "With the fix: undecided, stopped by Ctrl-C after 0 states." in out
    assert out.endswith("\nStopped by Ctrl-C; not shown: C-2.\n")


@pytest.mark.parametrize(
    ("number", "without"),
    [(0, "undecided, stopped by Ctrl-C after 0 states"), (1, "no_acknowledged_record_is_lost fails")],
)
def test_an_entry_of_which_one_search_is_not_decided_is_incomplete(
    defects: object, interrupted: Callable[[int], None], number: int, without: str
) -> None:
    """Be it the search with the defect or that with its fix: what was shown is whole, and not known to its end."""
    interrupted(number)
    code, out = run(defects, "R-26")
    assert code == 3
    assert without in out
    assert "With the fix: undecided, stopped by Ctrl-C after 0 states." in out
    assert "not shown" not in out


@pytest.mark.slow
def test_one_undecided_entry_makes_the_whole_incomplete(defects: object, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count(1)

    def limited(*given: Any, **named: Any) -> CheckResult:
        if next(numbers) <= 2:
            named["limits"] = Limits(states=1)
        return check(*given, **named)

    monkeypatch.setattr("insync.kafka_questions.defects.check", limited)
    code, out = run(defects, "R-26", "C-2")
    assert code == 3
    assert out.count("undecided") == 2


def test_a_name_that_is_not_in_the_catalogue_is_explained(defects: object) -> None:
    with pytest.raises(UserError, match="The catalogue has no defect 'R-99'"):
        run(defects, "R-99")


@pytest.mark.parametrize("given", ["n-1", "N1", "n 01"])
def test_a_name_with_its_number_written_otherwise_is_told(defects: object, given: str) -> None:
    with pytest.raises(UserError, match="Did you mean 'N-01'"):
        run(defects, given)


@pytest.mark.parametrize("entry", LEFT_OUT, ids=lambda entry: entry.name)
def test_what_is_on_record_of_an_entry_that_is_not_modelled_is_shown(defects: object, entry: LeftOut) -> None:
    code, out = run(defects, entry.name)
    said = " ".join(out.split())
    assert (code, said.startswith(f"{entry.name} {entry.title} {entry.ticket} not searched for: ")) == (0, True)
    assert entry.reason in said
    finding = finding_of(entry.name)
    if finding is not None and finding.paged:
        assert finding.page in said
    code, out = run(defects, entry.name, "--json")
    (only,) = json.loads(out)["left_out"]
    assert (code, only["name"], only["reason"]) == (0, entry.name, entry.reason)


def test_what_brings_an_entry_about_on_running_kafka_is_named(defects: object) -> None:
    assert "on running controllers: insync kafka scenario q-18 --kafka VERSION" in run(defects, "Q-18")[1]
    assert "insync kafka scenario" not in run(defects, "R-35")[1]


def test_entries_with_and_without_a_trace_are_shown_together(defects: object) -> None:
    code, out = run(defects, "R-26", "R-35", "--color", "never")
    assert code == 0
    assert out.index("R-35   ") < out.index("\nR-26   ")


@pytest.mark.parametrize("line", ["R-35 --trace a.json", "--verify R-35"])
def test_what_needs_a_trace_is_refused_for_an_entry_without_one(insync: Insync, line: str) -> None:
    code, out, err = insync("defects", *line.split())
    assert (code, out) == (2, "")
    assert "no traces that --trace could write" in err or "R-35 (" in err


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        ("cluster", "Q-7", "is an entry of the quorum, and not of cluster: `insync defects Q-7` prints"),
        ("cluster", "R-35", "is an entry of the cluster, that cluster does not bring back: `insync defects R-35`"),
        ("kraft", "N-01", "is an entry of the cluster, and not of kraft: `insync defects N-01` prints"),
        ("kraft", "Q-9", "is an entry of the quorum, that kraft does not bring back: `insync defects Q-9` prints"),
        ("cluster", "n-01", "Its name is N-01."),
        ("cluster", "N-021", "Did you mean 'N-02'?"),
    ],
)
def test_a_defect_that_a_model_does_not_bring_back_is_explained(
    insync: Insync, model: str, given: str, said: str
) -> None:
    code, _, err = insync("check", model, "--defect", given)
    assert code == 2
    assert said in err


@pytest.mark.parametrize(("ticket", "names"), [("KAFKA-13790", {"N-01", "N-06"}), ("KIP-996", {"Q-18"})])
def test_a_ticket_on_the_page_of_a_finding_leads_to_its_entry(ticket: str, names: set[str]) -> None:
    assert named_by_ticket(ticket) == []
    assert set(by_ticket(ticket)) == names


def test_a_ticket_that_is_related_alone_is_said_to_be(insync: Insync) -> None:
    code, out, err = insync("defects", "KAFKA-17642")
    assert (code, out.startswith("Q-18   ")) == (0, True)
    assert "No entry is about KAFKA-17642; it is related to Q-18." in err


@pytest.mark.parametrize("words", [["hanging", "transaction"], ["UnknownTopicOrPartition"]])
def test_words_that_fit_nothing_are_answered(defects: object, words: list[str]) -> None:
    code, out = run(defects, *words)
    assert (code, out.startswith(f"Nothing in the catalogue fits {' '.join(words)!r}.")) == (0, True)
    assert run(defects, *words, "--json") == (0, '{"fits": []}\n')


@pytest.mark.parametrize("name", ["makeLeader", "Partition.makeLeader", "partition.makeleader"])
def test_a_method_of_kafka_leads_to_the_entries_that_cite_it(name: str) -> None:
    assert [match.entry.name for match in by_symptom([name])] == ["N-01", "N-06"]


def test_a_ticket_that_an_entry_cites_leads_to_it() -> None:
    """The story of M-14 alone names KIP-570; of KIP-966 there are entries of its own."""
    assert by_ticket("KIP-570") == ["M-14"]
    assert "N-15" in by_ticket("KIP-966")
    assert "R-02" not in by_ticket("KIP-966")


def test_a_symptom_may_have_numbers(defects: object) -> None:
    code, out = run(defects, "acks=1", "loss")
    assert (code, "C-2" in out) == (0, True)
    code, out = run(defects, "two", "of", "3", "brokers", "killed", "lost")
    assert (code, "C-7" in out) == (0, True)


def test_a_defect_is_there_for_scripts_with_its_trace(defects: object, tmp_path: Path) -> None:
    file = tmp_path / "defect.json"
    code, out = run(defects, "R-26", "--json", "--trace", str(file))
    (entry,) = json.loads(out)["defects"]
    assert (code, entry["verdict"], entry["verdict_with_fix"]) == (0, "violated", "holds")
    assert entry["bounds"] == Cluster(**DEFECTS["R-26"].witness).identity == json.loads(file.read_text())["bounds"]
    (violation,) = entry["violations"]
    assert (len(violation["steps"]), violation["trace"]) == (DEFECTS["R-26"].length, str(file))


def test_a_file_of_a_defect_that_this_run_does_not_show_is_said_to_be_older(insync: Insync, tmp_path: Path) -> None:
    for name in ("d.html", "d.R-13.html", "d.C-2.html", "d.notes.html", "e.html"):
        (tmp_path / name).write_text("old")
    code, out, err = insync("defects", "R-26", "C-2", "--html", tmp_path / "d.html", "--quiet")
    assert (code, out.count("Page: ")) == (0, 2)
    said = "was not written: this run has no trace to put there. The file that is there is of an earlier run."
    assert err.splitlines() == [f"{tmp_path / name} {said}" for name in ("d.html", "d.R-13.html")]
    assert (tmp_path / "d.C-2.html").read_text() != "old"


@pytest.mark.parametrize("line", ["--verify --html a.html", "R-26 --verify --trace a.json", "--html a.html"])
def test_no_file_is_asked_for_that_no_trace_would_be_in(insync: Insync, line: str) -> None:
    code, out, err = insync("defects", *line.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"no traces that {line.split()[-2]} could write. Name defects to show" in err


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("KAFKA-18723", ["R-47"]),
        ("kafka-18723", ["R-47"]),
        ("Kafka 18723", ["R-47"]),
        ("KAFKA18723", ["R-47"]),
        ("18723", ["R-47"]),
        ("#18723", ["R-47"]),
        ("https://issues.apache.org/jira/browse/KAFKA-18723", ["R-47"]),
        ("kip_279", ["R-03"]),
        ("KIP-27", []),
        ("R-26", []),
        ("26", []),
    ],
)
def test_an_entry_is_found_by_its_ticket_however_that_is_written(given: str, names: list[str]) -> None:
    assert named_by_ticket(given) == names


def test_several_entries_may_be_of_one_ticket() -> None:
    names = named_by_ticket("KIP-966")
    assert len(names) > 1
    assert all("KIP-966" in all_defects()[name].ticket for name in names)


def test_a_ticket_shows_its_entries(defects: object) -> None:
    code, out = run(defects, "kafka-7415")
    assert code == 0
    assert out == run(defects, "R-04")[1]


@pytest.mark.parametrize(("ticket", "name"), [("KAFKA-16452", "R-61"), ("16121", "R-60")])
def test_a_ticket_whose_entry_is_not_modelled_shows_that(defects: object, ticket: str, name: str) -> None:
    assert run(defects, ticket) == run(defects, name)


def test_a_ticket_without_an_entry_is_refused(defects: object) -> None:
    with pytest.raises(UserError, match=r"The catalogue has no entry of KAFKA-99999. `insync defects` lists them."):
        run(defects, "KAFKA-99999")
