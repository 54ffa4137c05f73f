"""Each known difference is data, with a row of the page that the data makes, and a test that shows it no wider."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from insync.conformance.correspondence.known_differences import Known
from insync.conformance.steps import known_reasons
from insync.conformance.steps.known_after import KNOWN_AFTER_A_STEP
from insync.conformance.steps.known_reasons import BY_SUBJECT, HIDDEN, NOT_MET
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import Coded, Never, words_of

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "guide" / "known-differences.md"
TESTS = ROOT / "tests" / "conformance"
WALKS = TESTS / "comparing" / "walks_on_record.json"
MODULES = sorted(Path(known_reasons.__file__).parent.glob("*.py"))
WHILE_TAKEN = [known for subject in BY_SUBJECT.values() for known in subject]

TEST_OF = {
    "Kafka's leader asks within a fetch alone, and none has made it ask": (
        "test_a_leader_that_could_ask_must_have_asked_within_the_fetch"
    ),
    "by the leader's metadata the follower may not join, so Kafka does not ask": (
        "test_a_leader_s_own_word_that_the_follower_may_not_join_is_no_reason"
    ),
    "Kafka would take others out of the ISR as well, who are slow too": (
        "test_only_others_who_are_slow_too_keep_a_leader_from_dropping_one"
    ),
    "the preferred leader is the first replica, and the order cannot change during a reassignment": (
        "test_only_a_reassignment_keeps_another_than_the_first_from_the_election"
    ),
    "no such request is on its way in Kafka": (
        "test_a_leader_that_has_proposed_that_isr_must_have_a_request_for_it_on_its_way"
    ),
    "no such request has come again in Kafka": (
        "test_a_leader_that_has_proposed_that_isr_must_have_a_request_for_it_on_its_way"
    ),
    "no such response is on its way in Kafka": "test_a_leader_that_waits_for_an_answer_must_get_one",
    "Kafka's follower asks for the ends of the leader's log later than in the model": (
        "test_a_late_answer_needs_the_ends_that_the_log_had_then"
    ),
    "Kafka's follower has given the partition up, and ends its session": (
        "test_another_change_ends_no_session_that_the_model_keeps"
    ),
    "a reassignment changes the order of the replicas alone": (
        "test_a_reassignment_of_the_order_alone_is_told_from_others"
    ),
    "Kafka elects in the order that a reassignment has left, the model in its own": "test_any_other_difference_is_one",
    "Kafka takes one who was cleared from the ELR out of the ISR twice": (
        "test_any_other_change_at_a_registration_is_a_difference"
    ),
    "Kafka elects as one registers who was cleared from the ELR": (
        "test_any_other_change_at_a_registration_is_a_difference"
    ),
    "Kafka ends a reassignment as one registers who was cleared from the ELR": (
        "test_any_other_change_at_a_registration_is_a_difference"
    ),
    "Kafka accepts a member that has registered again and has not fetched before": (
        "test_any_other_answer_to_a_request_is_a_difference"
    ),
    "Kafka refuses a member that has registered again and has not fetched since": (
        "test_any_other_answer_to_a_request_is_a_difference"
    ),
    "Kafka's leader knows the follower's log end from an earlier leadership": (
        "test_any_other_difference_after_a_fetch_is_one"
    ),
    "Kafka's leader does not wait for one of whose return it has not learned": (
        "test_any_other_high_watermark_after_a_fetch_is_a_difference"
    ),
    "Kafka's leader waits for one of whose fencing it has not learned": (
        "test_any_other_wait_after_a_fetch_is_a_difference"
    ),
    "Kafka's leader has learned who is fenced, though not of the newest change": "test_another_answer_is_a_difference",
    "Kafka's leader is to learn of a directory before it learns who is back": (
        "test_a_leader_that_has_heard_all_waits_as_in_the_model"
    ),
    "Kafka's leader is to learn of a directory before it learns who is fenced": (
        "test_a_leader_that_has_heard_all_waits_as_in_the_model"
    ),
    "Kafka's leader does not wait for one that is fenced as it asks to stop": (
        "test_a_leader_that_has_heard_all_waits_as_in_the_model"
    ),
    "Kafka waits for a broker that has died while it stopped": "test_a_leader_that_has_heard_all_waits_as_in_the_model",
    "Kafka waits until the copy of the leader's log has deleted the records too": (
        "test_a_leader_that_has_heard_all_waits_as_in_the_model"
    ),
    "Kafka's leader knows the last batch of a producer alone, by a snapshot": (
        "test_any_other_answer_is_left_to_the_comparison"
    ),
    "Kafka's leader knows a producer by deleted records": "test_any_other_answer_is_left_to_the_comparison",
    "Kafka finds the epoch of deleted records again after a crash": (
        "test_only_an_epoch_of_records_that_are_all_deleted_is_one"
    ),
    "one side alone knows the epoch of deleted records that are found again": "test_no_epoch_but_theirs_may_be_another",
    "the epoch of deleted records that are found again begins behind them": (
        "test_only_an_epoch_that_begins_with_such_records_begins_later_in_kafka"
    ),
    "Kafka finds another deleted record than the one seen first": "test_nothing_else_is_found_instead",
    "Kafka throws where a broker whose directory has failed is to lead": (
        "test_before_4_0_a_broker_throws_that_is_to_lead_without_its_log"
    ),
    "a directory that is named ends a reassignment that is otherwise done": (
        "test_a_directory_may_end_a_reassignment_that_is_otherwise_done"
    ),
    "a directory that the model's does not name clears the ELR (N-17)": "test_whatever_else_clears_them_is_compared",
    "a directory that the model's does not name has the ELR reckoned anew": (
        "test_from_4_3_on_a_directory_may_have_the_eligible_replicas_reckoned_anew"
    ),
    "a directory that is named makes the controller look at the leader": (
        "test_a_directory_may_make_the_controller_look_at_a_leader_that_may_not_lead"
    ),
    "a copy that is taken at a start has an older high watermark": (
        "test_a_copy_that_is_taken_at_a_start_may_have_an_older_high_watermark"
    ),
    "a directory that is named makes the leader look at its high watermark": (
        "test_a_directory_may_make_a_leader_look_at_its_high_watermark"
    ),
    "a copy that takes the place of the log keeps the epoch of deleted records": (
        "test_a_copy_may_keep_the_epoch_of_records_that_are_all_deleted"
    ),
    "a broker ends with its last directory": "test_with_one_directory_left_a_broker_ends_with_it_and_moves_nothing",
    "a broker has no other directory any more": "test_with_one_directory_left_a_broker_ends_with_it_and_moves_nothing",
    "a broker tells where its log was after that directory has failed": (
        "test_it_does_so_only_of_what_the_model_has_not_heard_yet"
    ),
    "a broker tells of a failed directory where the model's does not": (
        "test_only_a_model_of_another_release_tells_nothing_of_a_failed_directory"
    ),
    "a directory that is named makes the AlterPartition late": "test_anything_else_is_told",
    "a clean stop is noted in all directories but the one that is taken out": (
        "test_a_stop_counts_so_only_if_it_was_clean_and_until_the_next_start"
    ),
    "before 3.9 AssignmentsManager ends with an answer about a copy that is gone": (
        "test_a_broker_that_tells_nothing_any_more_is_not_asked"
    ),
    "a broker has nothing to tell any more of its directory": (
        "test_a_broker_that_has_told_nothing_of_its_new_directory_is_a_difference"
    ),
    "a copy that catches up takes the place of what is to be told of the log": "test_anything_else_is_told",
    "only the newest that is to be told of a directory is told": "test_anything_else_is_told",
    "what is to be told of a log comes before its copy": "test_anything_else_is_told",
    "a change of the partition makes a copy that was accepted ask once more": (
        "test_only_a_later_change_keeps_an_accepted_copy_from_the_place_of_the_log"
    ),
    "the controller takes no directory of who is a replica no more": (
        "test_of_a_copy_that_is_told_with_the_swap_the_controller_must_hear"
    ),
    "a copy that was not accepted outlives the directory of its log": (
        "test_a_copy_that_outlives_the_directory_of_its_log_is_one_only_there"
    ),
    "a replica is added to a broker of which the controller knows one directory": (
        "test_nobody_is_added_whose_directory_a_controller_knows"
    ),
    "a broker that drops a copy names a directory that was not known": (
        "test_only_a_dropped_copy_of_which_it_has_told_makes_a_broker_name_what_was_not_known"
    ),
    "a broker goes down before it names a directory that is named late": (
        "test_only_one_that_has_still_to_tell_what_the_model_s_has_told_does_not_go_down"
    ),
    "directories are listed anew in Kafka's order of replicas, or in the model's": (
        "test_only_another_order_keeps_a_list_of_directories_from_being_the_model_s"
    ),
    "a directory that is named late lets another broker name its own late": (
        "test_only_one_that_has_still_to_tell_keeps_another_from_naming_its_directory"
    ),
    "a leader learns of older configuration before it learns of a directory": (
        "test_only_older_configuration_keeps_a_leader_from_its_directory"
    ),
    "a log is not opened at the start, as metadata has it in a failed directory": "test_any_other_log_is_opened",
    "Kafka takes one that is fenced already out of the ISR as its session ends": (
        "test_any_other_isr_after_a_fencing_is_a_difference"
    ),
}
"""Of each known difference, as `conform` counts it, the test that shows where it is none."""

NOT_KNOWN_DIFFERENCES = {
    "how.reason": "parts that the harness has not got: test_unscheduled_actions",
    "_ONE_DIRECTORY": "the model has no such step there",
    "message": "what a release's own rules say that it has not got, or else `Missing`",
}
"""What else a step is refused with."""


def refusals_in(module: Path) -> Iterator[str]:
    """The known differences that a module raises, by the names of their constants; of what is none the message."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and "NotSchedulable" in ast.unparse(node.func):
            yield ast.unparse(node.args[-1])


# ------------------------------------------------------------------------------------------------------------ the page

BEGIN = """\
# Known differences of the model from Kafka

For readers of a report of `insync kafka conform` or `replay` that has a step that was not taken, or a named reason. \
[Kafka itself](kafka.md) explains the commands. The code makes this page: `make records`.

A *known difference* is a step at which Kafka and the model do not do the same, for a reason that is understood. \
If its condition holds, the walk ends there, and `conform` counts the difference under its name. Any other difference \
fails.

How to read the tables: *what is counted* is that name, *Kafka* and *the model* say what each does, *when* is the \
condition, and *who does more* says whose behaviour the other one does not have. To look up a report, search this \
page for the name.

{most_met} are met most often ([all counts](#how-often-walks-met-them)).

Compared after each step are the controller's leader, epoch, ISR, ELR, last known leader, replicas and fenced brokers. \
Of each broker it is compared whether it runs, its metadata, log, epochs and high watermark, and of a leader its ISR, \
its request and the log ends of ISR members. Last come the acknowledged records. With `fetch_sessions` and `consumer` \
their state is compared too.

With `log_dir_failures` or `log_dir_moves` each broker has two log directories, whose ids the controller has. Compared \
in addition are replicas in a failed directory, replicas whose directory the controller has wrong or not at all, \
offline logs, and the length of a future log. Kafka's own `AssignmentsManager` sends the requests, with its queue, \
retries and deadlines; each request and each response waits for a command.

## What may differ after a step

Both are compared whole; what differs besides is a difference, and fails.
"""
WHILE = """\
## What shows while a step is taken

Whether one of these is the case shows between the commands of a step. So the condition is code, in the files of \
`conformance/insync/conformance/steps`, and all else of it is data (`known_reasons.py`).
"""
NEVER_MET = """\
## What no walk meets

No step of a walk brings these about, or nothing of them is compared, so there is no condition to be code. They were \
read, or executed by other tests.
"""
LEFT_OUT = """\
## What the harness leaves out
"""
HOW = """\
## How a step is taken

Each step says it at its definition. *Not* is followed by why it is not taken there.
"""
LONGER = """\
Every step takes longer than `replica.lag.time.max.ms`, because the model has no clock: else Kafka's leader would also \
wait for a replica outside the ISR that was caught up a moment ago. Before a shrink those who stay in the ISR fetch \
until they have the leader's whole log, if the trace still breaks its property with these steps added: Kafka drops all \
that are slow. With `partition_zero_replicas` the topic has a partition 0 on brokers that only the controller knows.

With `insync kafka replay --on cluster` every fetch, every broker's metadata and every request of a leader is held, \
and a step releases one of them.
"""
OFTEN = """\
## How often walks met them
"""
END = """\
For one seed of each of four releases \
[known_differences.json](../../tests/conformance/comparing/known_differences.json) has these numbers on record, with a \
number for the program that was walked. A count that grows fails `make kafka`, as its condition covers more than it \
did. [benchmarks/README.md](../../benchmarks/README.md#walks-beside-kafka) lists the tours and walks of earlier \
dates."""


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page() -> str:
    """The page of known differences."""
    columns = "what is counted", "Kafka", "when", "the model", "who does more"
    parts = [
        BEGIN.format(most_met=most_met()),
        table((*columns, "after", "what may differ"), map(after_a_step, KNOWN_AFTER_A_STEP)),
        WHILE,
    ]
    for subject, known in BY_SUBJECT.items():
        parts += [f"### {subject}\n", table(columns, map(cells, known))]
    parts += [NEVER_MET, table(("what", *columns[1:]), map(cells, NOT_MET))]
    parts += [LEFT_OUT, table(("left out", "what that hides"), HIDDEN)]
    steps = [(name, words_of(Cluster, name)) for name in Cluster.action_order]
    ways = ((f"`{name}`", way(one.classes), way(one.brokers)) for name, one in steps)
    parts += [HOW, table(("step", "on Kafka's classes", "on running brokers"), ways), LONGER, OFTEN]
    return "\n".join([*parts, *walks(), END, ""])


def cells(known: Known) -> tuple[str, ...]:
    return known.name, known.kafka, known.when, known.model, known.direction.value


def after_a_step(known: Known) -> tuple[str, ...]:
    (one,) = (one for one in KNOWN_AFTER_A_STEP if one is known)
    after = ", ".join(f"`{step}`" for step in sorted(one.steps)) or "any step"
    differs = "all" if one.may_differ is None else ", ".join(f"`{fact}`" for fact in sorted(one.may_differ))
    return (*cells(one), after, differs)


def way(how: Coded | Never) -> str:
    """How a step is taken, or why it is not."""
    if isinstance(how, Coded):
        return how.how
    return f"*not*: {how.reason}" if how.reason else "*not*: nobody has written it"


def counts() -> dict[str, list[int]]:
    """How often each difference was met on each release, as it is on record, the most frequent first."""
    runs = json.loads(WALKS.read_text(encoding="utf-8"))["releases"].values()
    total = {name: [run["met"].get(name, 0) for run in runs] for run in runs for name in run["met"]}
    return {name: total[name] for name in sorted(total, key=lambda name: (-sum(total[name]), name))}


def most_met() -> str:
    """The names of the three that are met most often."""
    first, second, third = [f"*{name}*" for name in counts()][:3]
    return f"{first}, {second} and {third}"


def walks() -> Iterator[str]:
    """What walks have met, as it is on record."""
    recorded = json.loads(WALKS.read_text(encoding="utf-8"))
    runs = recorded["releases"]
    *others, last = map(str, recorded["seeds"])
    seeds = f"{', '.join(others)} and {last}"
    yield f"Walks with `{recorded['options']}`, {recorded['each']} each of the seeds {seeds}, on {recorded['date']}:\n"
    kinds = {"walks": "walks", "steps": "steps", "fields": "fields compared", "differences": "differences"}
    yield table(("", *runs), ((words, *(f"{run[kind]:,}" for run in runs.values())) for kind, words in kinds.items()))
    yield "What was met in them:\n"
    rows = ((name, *(f"{n:,}" for n in met)) for name, met in counts().items())
    yield table(("what is counted", *runs), rows)


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make records` writes it"


def test_every_step_that_is_refused_is_refused_by_a_known_difference() -> None:
    assert len(MODULES) > 10
    found = {refusal for module in MODULES for refusal in refusals_in(module)}
    constants = {name for name, value in vars(known_reasons).items() if any(value is one for one in WHILE_TAKEN)}
    assert found == {*constants, *NOT_KNOWN_DIFFERENCES}
    assert len(constants) == len(WHILE_TAKEN)


def test_every_known_difference_has_a_name_of_its_own_and_says_all_of_itself() -> None:
    every = [*WHILE_TAKEN, *KNOWN_AFTER_A_STEP, *NOT_MET]
    assert len({known.name for known in every}) == len(every)
    assert [known.name for known in every if not all(cells(known))] == []


@pytest.mark.parametrize("known", [*WHILE_TAKEN, *KNOWN_AFTER_A_STEP], ids=lambda known: known.name)
def test_every_known_difference_has_a_test_that_shows_it_no_wider(known: Known) -> None:
    assert f"\ndef {TEST_OF[known.name]}(" in ALL_TESTS


def test_no_test_is_of_a_difference_that_is_gone() -> None:
    assert set(TEST_OF) == {known.name for known in (*WHILE_TAKEN, *KNOWN_AFTER_A_STEP)}


ALL_TESTS = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))


def test_a_refusal_that_is_new_is_seen(tmp_path: Path) -> None:
    module = tmp_path / "steps.py"
    module.write_text("raise NotSchedulable(message, _NEW)\nraise NotSchedulable('a')\n")
    assert list(refusals_in(module)) == ["_NEW", "'a'"]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
