"""Each reason that a step may be not schedulable for has a name in the guide, and a test that shows it no wider."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from insync.conformance.steps import gaps
from insync.conformance.steps.known_after import KNOWN_AFTER_A_STEP
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import words_of

ROOT = Path(__file__).parents[3]
GUIDE = " ".join((ROOT / "docs" / "guide" / "known-differences.md").read_text(encoding="utf-8").split())
TESTS = ROOT / "tests" / "conformance"
OTHERWISE = "test_any_other_difference_is_one"

REASONS = {
    # what the harness, or Kafka's order of events, does not let happen
    "Kafka's leader asks within a fetch alone, and none has made it ask": (
        "Kafka's leader asks for a larger ISR within the fetch alone | always; that it does ask there is demanded",
        "test_a_leader_that_could_ask_must_have_asked_within_the_fetch",
    ),
    "by the leader's metadata the follower may not join, so Kafka does not ask": (
        "by the leader's own metadata the follower is fenced, stopping or another incarnation",
        "test_a_leader_s_own_word_that_the_follower_may_not_join_is_no_reason",
    ),
    "Kafka would take others out of the ISR as well, who are slow too": (
        "all slow followers leave the ISR in one request",
        "test_only_others_who_are_slow_too_keep_a_leader_from_dropping_one",
    ),
    "the preferred leader is the first replica, and the order cannot change during a reassignment": (
        "an election during a reassignment of another than the first of the replicas",
        "test_only_a_reassignment_keeps_another_than_the_first_from_the_election",
    ),
    "no such request is on its way in Kafka": (
        "Kafka's asks for nothing while a request is under way",
        "test_a_leader_that_has_proposed_that_isr_must_have_a_request_for_it_on_its_way",
    ),
    "no such request has come again in Kafka": (
        "Kafka's asks for nothing while a request is under way",
        "test_a_leader_that_has_proposed_that_isr_must_have_a_request_for_it_on_its_way",
    ),
    "no such reply is on its way in Kafka": (
        "Kafka's asks for nothing while a request is under way",
        "test_a_leader_that_waits_for_an_answer_must_get_one",
    ),
    "Kafka's follower asks for the ends of the leader's log later than in the model": (
        "a follower asks where the leader's log begins and ends when that reply arrives",
        "test_a_late_answer_needs_the_ends_that_the_log_had_then",
    ),
    "Kafka's follower has given the partition up, and ends its session": (
        "a follower whose leader was in a later epoch by the time it asked for the ends of the log",
        "test_another_change_ends_no_session_that_the_model_keeps",
    ),
    # the controller
    "a reassignment changes the order of the replicas alone": (
        "a reassignment that changes the order of the replicas alone is a change of the partition",
        "test_a_reassignment_of_the_order_alone_is_told_from_others",
    ),
    "Kafka elects in the order that a reassignment has left, the model in its own": (
        "in and after a reassignment Kafka elects those first who were asked for",
        OTHERWISE,
    ),
    "Kafka takes one who was cleared from the ELR out of the ISR twice": (
        "leaves the ISR twice when it registers",
        "test_any_other_change_at_a_registration_is_a_difference",
    ),
    "Kafka elects as one registers who was cleared from the ELR": (
        "or elects who was not eligible when it last looked",
        "test_any_other_change_at_a_registration_is_a_difference",
    ),
    "Kafka ends a reassignment as one registers who was cleared from the ELR": (
        "that ends a reassignment that is otherwise done, or elects",
        "test_any_other_change_at_a_registration_is_a_difference",
    ),
    "Kafka accepts a member that has registered again and has not fetched before": (
        "Kafka's controller accepts one that names none",
        "test_any_other_answer_to_a_request_is_a_difference",
    ),
    "Kafka refuses a member that has registered again and has not fetched since": (
        "refuses one that names another than the present one",
        "test_any_other_answer_to_a_request_is_a_difference",
    ),
    # leaders and followers
    "Kafka's leader knows the follower's log end from an earlier leadership": (
        "keeps what it knew of the log ends of followers outside the ISR",
        "test_any_other_difference_after_a_fetch_is_one",
    ),
    "Kafka's leader does not wait for one of whose return it has not heard": (
        "a leader does not wait for a follower that has caught up where it has not heard yet that it is back",
        "test_any_other_high_watermark_after_a_fetch_is_a_difference",
    ),
    "Kafka's leader waits for one of whose fencing it has not heard": (
        "a leader asks for a follower, and waits for it, where it has not heard yet that it is fenced, or stops",
        "test_any_other_wait_after_a_fetch_is_a_difference",
    ),
    "Kafka's leader has heard who is fenced, though not of the newest change": (
        "the leader has heard who is fenced, though not of the newest change",
        "test_another_answer_is_a_difference",
    ),
    "Kafka's leader is to hear of a directory before it hears who is back": (
        "it is to hear of a directory (`log_dir_moves`) first, and then who is back",
        "test_a_leader_that_has_heard_all_waits_as_in_the_model",
    ),
    "Kafka's leader is to hear of a directory before it hears who is fenced": (
        "or who is fenced since",
        "test_a_leader_that_has_heard_all_waits_as_in_the_model",
    ),
    "Kafka's leader does not wait for one that is fenced as it asks to stop": (
        "all that it waits for were fenced as they asked to stop",
        "test_a_leader_that_has_heard_all_waits_as_in_the_model",
    ),
    "Kafka waits for a broker that has died while it stopped": (
        "or a broker has died while it stopped",
        "test_a_leader_that_has_heard_all_waits_as_in_the_model",
    ),
    "Kafka waits until the copy of the leader's log has deleted the records too": (
        "who waits for a deletion waits for the leader's copy of its log too",
        "test_a_leader_that_has_heard_all_waits_as_in_the_model",
    ),
    "Kafka's leader knows the last batch of a producer alone, by a snapshot": (
        "of a producer a leader knows the last batch alone when it has read that from a snapshot",
        "test_any_other_answer_is_left_to_the_comparison",
    ),
    "Kafka's leader knows a producer by deleted records": (
        "a leader knows a producer by records that are deleted",
        "test_any_other_answer_is_left_to_the_comparison",
    ),
    # records that were deleted
    "Kafka finds the epoch of deleted records again after a crash": (
        "the newest epoch of a log whose records are all deleted is there again after two crashes",
        "test_only_an_epoch_of_records_that_are_all_deleted_is_one",
    ),
    "one side alone knows the epoch of deleted records that are found again": (
        "one side alone knows the epoch of a record that was deleted and found again",
        "test_no_epoch_but_theirs_may_be_another",
    ),
    "the epoch of deleted records that are found again begins behind them": (
        "Kafka's cache has the epoch of such records begin behind them",
        "test_only_an_epoch_that_begins_with_such_records_begins_later_in_kafka",
    ),
    "Kafka finds another deleted record than the one seen first": (
        "it is another than the first that was seen at its offset",
        "test_nothing_else_is_found_instead",
    ),
    # directories
    "Kafka throws where a broker whose directory has failed is to lead": (
        "metadata makes a broker without a log the leader, whose directory has failed",
        "test_before_4_0_a_broker_throws_that_is_to_lead_without_its_log",
    ),
    "a directory that is named ends a reassignment that is otherwise done": (
        "it ends one that is otherwise done, as all who are added are in the ISR (or all who stay",
        "test_a_directory_may_end_a_reassignment_that_is_otherwise_done",
    ),
    "a directory that the model's does not name clears the ELR (N-17)": (
        "up to 4.2 the controller forgets the eligible leader replicas when a broker names another directory",
        "test_whatever_else_clears_them_is_compared",
    ),
    "a directory that the model's does not name has the ELR reckoned anew": (
        "from 4.3 on it reckons them anew",
        "test_from_4_3_on_a_directory_may_have_the_eligible_replicas_reckoned_anew",
    ),
    "a directory that is named makes the controller look at the leader": (
        "look at a leader that is fenced, or whose directory is gone",
        "test_a_directory_may_make_the_controller_look_at_a_leader_that_may_not_lead",
    ),
    "a copy that is taken at a start has an older high watermark": (
        "a copy that is taken for the log at a start has the high watermark of the log, and its start",
        "test_a_copy_that_is_taken_at_a_start_may_have_an_older_high_watermark",
    ),
    "a directory that is named makes the leader look at its high watermark": (
        "may make the leader look at its high watermark, which grows at most to what its whole ISR has",
        "test_a_directory_may_make_a_leader_look_at_its_high_watermark",
    ),
    "a copy that takes the place of the log keeps the epoch of deleted records": (
        "it also keeps that of records which are deleted, if there are no others",
        "test_a_copy_may_keep_the_epoch_of_records_that_are_all_deleted",
    ),
    "a broker ends with its last directory": (
        "it was the last of two, and a broker ends with that",
        "test_with_one_directory_left_a_broker_ends_with_it_and_moves_nothing",
    ),
    "a broker has no other directory any more": (
        "and moves nothing to another; the walk ends",
        "test_with_one_directory_left_a_broker_ends_with_it_and_moves_nothing",
    ),
    "a broker tells where its log was after that directory has failed": (
        "a broker tells where its log is after that directory has failed, if it had to tell before",
        "test_it_does_so_only_of_what_the_model_has_not_heard_yet",
    ),
    "a broker tells of a failed directory where the model's does not": (
        "of a directory that has failed nothing is told, by the rules before 3.7",
        "test_only_a_model_of_another_release_tells_nothing_of_a_failed_directory",
    ),
    "a directory that is named makes the AlterPartition late": (
        "unless an AlterPartition is on its way, which that makes late",
        "test_anything_else_is_told",
    ),
    "a clean stop is noted in all directories but the one that is taken out": (
        "a clean stop counts if all directories in log.dirs say so",
        "test_a_stop_counts_so_only_if_it_was_clean_and_until_the_next_start",
    ),
    "before 3.9 AssignmentsManager ends with an answer about a copy that is gone": (
        "Before 3.9 `AssignmentsManager` takes that request for one on its way for ever",
        "test_a_broker_that_tells_nothing_any_more_is_not_asked",
    ),
    "a broker has nothing to tell any more of its directory": (
        "so that a broker may have nothing to tell any more of its log",
        "test_a_broker_that_has_told_nothing_of_its_new_directory_is_a_difference",
    ),
    "a copy that catches up takes the place of what is to be told of the log": (
        "what is to be told of a log comes before its copy",
        "test_anything_else_is_told",
    ),
    "only the newest that is to be told of a directory is told": (
        "only the newest that is to be told of a directory is told",
        "test_anything_else_is_told",
    ),
    "what is to be told of a log comes before its copy": (
        "what is to be told of a log comes before its copy",
        "test_anything_else_is_told",
    ),
    "a change of the partition makes a copy that was accepted ask once more": (
        "each change of the partition that it hears after that makes it ask the controller once more",
        "test_only_a_later_change_keeps_an_accepted_copy_from_the_place_of_the_log",
    ),
    "the controller takes no directory of who is a replica no more": (
        "or the broker is a replica no more, of which the controller hears nothing",
        "test_of_a_copy_that_is_told_with_the_swap_the_controller_must_hear",
    ),
    "a copy that was not accepted outlives the directory of its log": (
        "where the directory of the log is gone meanwhile, the walk ends",
        "test_a_copy_that_outlives_the_directory_of_its_log_is_one_only_there",
    ),
    "a replica is added to a broker of which the controller knows one directory": (
        "of a broker with one directory the controller knows where a replica is that it adds",
        "test_nobody_is_added_whose_directory_a_controller_knows",
    ),
    "a broker that drops a copy names a directory that was not known": (
        "a broker that drops a copy of which it has told says where its log is",
        "test_only_a_dropped_copy_of_which_it_has_told_makes_a_broker_name_what_was_not_known",
    ),
    "a broker goes down before it names a directory that is named late": (
        "or goes down before it has named it",
        "test_only_one_that_has_still_to_tell_what_the_model_s_has_told_does_not_go_down",
    ),
    "directories are listed anew in Kafka's order of replicas, or in the model's": (
        "a change lists directories anew if their order is another one",
        "test_only_another_order_keeps_a_list_of_directories_from_being_the_model_s",
    ),
    "a directory that is named late lets another broker name its own late": (
        "a directory that is named later, as it makes an AlterPartition late, lets another broker name its own",
        "test_only_one_that_has_still_to_tell_keeps_another_from_naming_its_directory",
    ),
    "a leader hears of older configuration before it hears of a directory": (
        "a leader that hears of its log's directory before it hears of older configuration",
        "test_only_older_configuration_keeps_a_leader_from_its_directory",
    ),
    "a log is not opened at the start, as metadata has it in a failed directory": (
        "a broker that starts while metadata has its log in the directory of the copy, which has failed",
        "test_any_other_log_is_opened",
    ),
}
"""Of each reason, as `conform` counts it, what the guide says of it, and the test that shows where it is none."""

NOT_OF_THIS_TABLE = {
    "never.reason": "parts that the harness has not got: test_unscheduled_actions",
    "_ONE_DIRECTORY": "the model has no such step there",
    "this release of Kafka has not got {}": "what a release's own rules say, or else `Missing`",
}


def reasons_in(module: Path) -> Iterator[str]:
    """The reasons that a module gives, as they are counted."""
    return (reason for reason, _, _ in given_in(module))


def given_in(module: Path) -> Iterator[tuple[str, str, str]]:
    """The reasons that a module gives: the last argument, or what it was made from; the sentence; the function."""
    for function in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = sorted((one for one in ast.walk(function) if hasattr(one, "lineno")), key=lambda one: one.lineno)
        made: dict[str, ast.expr] = {}
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                made[node.targets[0].id] = node.value
            if isinstance(node, ast.Call) and "NotSchedulable" in ast.unparse(node.func):
                ends = node.args[0], node.args[-1]
                said, kind = (made.get(one.id, one) if isinstance(one, ast.Name) else one for one in ends)
                yield _text(kind), _text(said, named=True), function.name


def _text(node: ast.expr, *, named: bool = False) -> str:
    """A literal, with {} for what is put in, or its name, or else the expression."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _put_in(part) if named else "{}"
            for part in node.values
        )
    return ast.unparse(node)


def _put_in(part: ast.expr) -> str:
    """What is put into a sentence, by the last name in it that says what it is: a broker, an ISR, ..."""
    assert isinstance(part, ast.FormattedValue)
    if isinstance(part.value, ast.IfExp) and isinstance(part.value.body, ast.Constant):
        return " or ".join(str(ast.literal_eval(one)) for one in (part.value.body, part.value.orelse))
    names = [one for one in re.findall(r"[a-z]\w+", ast.unparse(part.value)) if one not in ("list", "len", "names")]
    return f"*{names[-1]}*" if names else "..."


MODULES = sorted(Path(gaps.__file__).parent.glob("*.py"))
REFERENCE = ROOT / "docs" / "guide" / "reference" / "known-differences.md"


def reference() -> str:
    """The page of what has a name: what may differ after a step, and why a step is not taken on Kafka."""
    lines = [
        "# Known differences by name",
        "",
        (
            "For readers of a count of `insync kafka conform`: each name, with where the code looks for it. "
            "[Known differences](../known-differences.md) says more of each. The code makes this page: `make records`."
        ),
        "",
        "## What may differ after a step",
        "",
        "All else that differs is a difference, and fails.",
        "",
        "| what Kafka does | in Kafka | who does more | after | what may differ |",
        "|---|---|---|---|---|",
    ]
    for known in KNOWN_AFTER_A_STEP:
        after = ", ".join(f"`{step}`" for step in sorted(known.steps)) or "any step"
        differs = "all" if known.may_differ is None else ", ".join(f"`{fact}`" for fact in sorted(known.may_differ))
        lines.append(f"| {known.name} | `{known.kafka}` | {known.direction.value} | {after} | {differs} |")
    lines += [
        "",
        "## Why a step is not taken on Kafka",
        "",
        "| reason | what is said of a step | function |",
        "|---|---|---|",
    ]
    for module in MODULES:
        for reason, sentence, function in given_in(module):
            if reason in REASONS:
                lines.append(f"| {reason} | {sentence} | `{module.stem}.{function}` |")
    return "\n".join([*lines, ""])


def test_the_page_of_names_is_what_the_code_says() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == reference(), "`make records` writes it"


def test_every_reason_has_a_row() -> None:
    page = reference()
    assert [reason for reason in REASONS if f"| {reason} |" not in page] == []


def test_every_reason_is_in_the_table() -> None:
    assert len(MODULES) > 10
    found = {reason for module in MODULES for reason in reasons_in(module)}
    found |= {known.name for known in KNOWN_AFTER_A_STEP}
    assert found == {*REASONS, *NOT_OF_THIS_TABLE}


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_name_in_the_guide_and_a_test(reason: str) -> None:
    named, test = REASONS[reason]
    assert named in GUIDE
    assert f"\ndef {test}(" in ALL_TESTS


ALL_TESTS = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))


def test_what_the_harness_has_not_got_is_in_the_guide_too() -> None:
    said = [words_of(Cluster, name).classes for name in Cluster.action_order]
    assert any("ZooKeeper" in one.reason for one in said if one is not None)
    assert "what the harness has not got: quotas and ZooKeeper" in GUIDE


def test_a_reason_that_is_new_is_seen(tmp_path: Path) -> None:
    module = tmp_path / "steps.py"
    module.write_text(
        "def step(name):\n    message = f'{name} is new'\n    raise NotSchedulable(message)\n"
        "def other():\n    raise NotSchedulable('a', 'a kind')\n"
    )
    assert list(reasons_in(module)) == ["{} is new", "a kind"]


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
