"""Runs of real brokers beside the model: recorded ones, and the same with one event that did not happen."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from insync.conformance.live.runs.decision_steps import apart
from insync.conformance.live.runs.moving import named_early, told_of_moves
from insync.conformance.live.runs.run_events import (
    Applied,
    BrokerRun,
    Decided,
    Delivered,
    Done,
    FetchAnswered,
    FetchAsked,
    RunEvent,
    read_run,
    write_run,
)
from insync.conformance.live.runs.run_model import run_model
from insync.conformance.live.runs.run_release import release_of_run
from insync.conformance.live.runs.validation import Validation, validate
from insync.kafka.releases import Release
from insync.runtime.errors import UserError

RECORDINGS = Path(__file__).parents[1] / "recordings" / "live"


def recorded(name: str) -> BrokerRun:
    return read_run(RECORDINGS / f"{name}.run")


def beside(run: BrokerRun, release: Release | None = None, fixed: str | None = None) -> Validation:
    return validate(run, run_model(run, release_of_run(run, release), fixed))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["n-01-3.9.2", "n-02-4.3.1", "n-12-4.3.1"])
def test_what_kafka_did_is_a_behaviour_of_the_model(name: str) -> None:
    run = recorded(name)
    result = beside(run)
    assert (result.explained, result.stuck, result.events) == (True, None, len(run.events))
    assert result.states < 500


@pytest.mark.slow
def test_a_run_that_loses_a_record_is_none_of_the_fixed_model() -> None:
    result = beside(recorded("n-01-3.9.2"), fixed="N-01")
    assert result.event == "r0 is acknowledged by b1"
    assert "r1" not in result.before["broker"]["b2"]["log"][: result.before["broker"]["b2"]["leo"]]


@pytest.mark.slow
def test_a_copy_that_lacks_a_record_takes_the_place_of_the_log_only_where_that_is_not_fixed() -> None:
    run = recorded("n-12-4.3.1")
    assert beside(run, fixed="N-12").event == "b1 asks b2 for offset 1 in epoch 2"


@pytest.mark.slow
def test_a_copy_that_nobody_has_asked_for_is_not_explained() -> None:
    run = without(recorded("n-12-4.3.1"), lambda event: isinstance(event, Done) and event.what == "move")
    assert not beside(run).explained


@pytest.mark.slow
def test_a_copy_of_which_the_controller_was_not_told_takes_no_place() -> None:
    run = recorded("n-12-4.3.1")
    (told,) = told_of_moves(run)

    def names_the_copy(event: RunEvent) -> bool:
        return isinstance(event, Decided) and event.decision.offset == told

    assert not beside(without(run, names_the_copy)).explained


@pytest.mark.slow
def test_a_removed_replica_is_eligible_only_where_that_is_not_fixed() -> None:
    result = beside(recorded("n-02-4.3.1"), fixed="N-02")
    assert result.event is not None
    assert result.event.startswith("the controller writes changed: b1 leads in epoch 1, ISR b1")


@pytest.mark.slow
def test_a_run_with_eligible_leader_replicas_is_none_of_a_release_without() -> None:
    result = beside(recorded("n-02-4.3.1"), Release.V3_9)
    assert result.event is not None
    assert result.event.startswith("the controller writes stopping 1, changed: nobody leads")


def without(run: BrokerRun, unwanted: Callable[[RunEvent], bool]) -> BrokerRun:
    place = next(place for place, event in enumerate(run.events) if unwanted(event))
    return replace(run, events=run.events[:place] + run.events[place + 1 :])


def changed(run: BrokerRun, wanted: Callable[[RunEvent], bool], **fields: object) -> tuple[int, BrokerRun]:
    place = next(place for place, event in enumerate(run.events) if wanted(event))
    event = replace(run.events[place], **fields)  # type: ignore[arg-type]
    return place, replace(run, events=(*run.events[:place], event, *run.events[place + 1 :]))


def test_a_watermark_that_no_leader_had_is_not_explained() -> None:
    place, run = changed(
        recorded("n-01-3.9.2"), lambda event: isinstance(event, FetchAnswered) and event.watermark == 1, watermark=2
    )
    assert beside(run).stuck == place


@pytest.mark.slow
def test_a_follower_that_fetches_beyond_its_log_is_not_explained() -> None:
    place, run = changed(
        recorded("n-02-4.3.1"), lambda event: isinstance(event, FetchAsked) and event.offset == 1, offset=0
    )
    assert beside(run).stuck == place


def test_an_acknowledgement_before_a_follower_has_the_record_is_not_explained() -> None:
    run = recorded("n-01-3.9.2")
    sent = next(place for place, event in enumerate(run.events) if isinstance(event, Done) and event.record == "r0")
    acknowledged = replace(run.events[sent], what="acknowledged")  # type: ignore[call-arg]
    result = beside(replace(run, events=(*run.events[: sent + 1], acknowledged, *run.events[sent + 1 :])))
    assert result.stuck == sent + 1


@pytest.mark.slow
def test_a_refusal_that_has_no_reason_is_not_explained() -> None:
    def brings_r0(event: RunEvent) -> bool:
        return isinstance(event, FetchAnswered) and event.follower == 3 and (1, "r0") in event.records

    place, run = changed(recorded("n-01-3.9.2"), brings_r0, error=74)
    assert beside(run).stuck == place


LATE = "b2 asks b3 for offset 1 in epoch 1"
"""In the run of 4.3.1: seen right after b2 has asked b1 in epoch 2, on another connection; it was made before."""


@pytest.mark.slow
def test_a_request_may_pass_after_one_that_its_sender_has_made_later() -> None:
    run = recorded("n-01-4.3.1")
    place = next(place for place, event in enumerate(run.events) if str(event) == LATE)
    assert str(run.events[place - 1]) == "b2 asks b1 for offset 1 in epoch 2"
    assert beside(run).explained


def test_a_late_request_that_nobody_could_have_made_is_not_explained() -> None:
    place, run = changed(recorded("n-01-4.3.1"), lambda event: str(event) == LATE, offset=0)
    assert beside(run).stuck == place


@pytest.mark.slow
def test_a_refusal_may_pass_after_its_leader_has_told_that_it_leads_by_now() -> None:
    run = recorded("n-01-4.3.1")
    refused = next(
        place for place, event in enumerate(run.events) if str(event) == "b2 refuses a fetch of b3 with error 75"
    )
    decided = [event.decision.offset for event in run.events[:refused] if isinstance(event, Decided)]
    leads = Applied(run.events[refused].at, 2, decided[-1] + 1)
    sent = Delivered(leads.at, 2, leads.below)
    assert beside(replace(run, events=(*run.events[:refused], sent, leads, *run.events[refused:]))).explained
    asked = max(place for place in range(refused) if str(run.events[place]).startswith("b3 asks b2"))
    before = (*run.events[:asked], sent, leads, *run.events[asked:])
    assert beside(replace(run, events=before)).stuck == refused + 2


@pytest.mark.slow
def test_who_is_unfenced_before_its_new_directory_is_known_is_not_elected() -> None:
    run = recorded("n-04-4.3.1")
    assert beside(run).explained
    (named,) = told_of_moves(run)
    decided = [event.decision for event in run.events if isinstance(event, Decided)]
    unfenced = next(one for one in decided if "unfenced 1" in one.kinds and one.offset > decided[0].offset)
    heard = next(one.partition for one in decided if one.offset == named)
    assert unfenced.offset < named
    assert heard is not None
    assert heard.leader == -1, "nor is it when the controller learns of the directory"


def test_who_names_its_directory_before_it_is_registered_is_elected() -> None:
    run = recorded("n-04-early-4.3.1")
    decided = [event.decision for event in run.events if isinstance(event, Decided)]
    (told,) = told_of_moves(run)
    registered = next(one for one in decided if "registered 1" in one.kinds)
    assert told == registered.offset
    before = decided[decided.index(registered) - 1].partition
    assert registered.partition is not None
    assert before is not None
    assert registered.partition.directories == before.directories, "the controller knows of it by then"
    assert beside(run).explained
    result = beside(run, fixed="N-04")
    assert result.event == "the controller writes registered 1: nobody leads in epoch 1, ISR of nobody"


def up_to_the_return_of(broker: str, run: BrokerRun) -> BrokerRun:
    """The beginning of a run, up to when the controller unfences a broker."""
    ends = max(place for place, event in enumerate(run.events) if f"unfenced {broker[1:]}" in str(event))
    return replace(run, events=run.events[: ends + 1])


@pytest.mark.slow
def test_the_whole_run_in_which_it_does_is_explained() -> None:
    assert beside(recorded("n-04-4.1.2")).explained


@pytest.mark.slow
def test_who_names_its_directory_before_it_is_registered_empties_the_elr_up_to_4_2() -> None:
    run = up_to_the_return_of("b1", recorded("n-04-4.1.2"))
    (place,) = (place for place, names in named_early(run).items() if names)
    naming = next(event for event in run.events if isinstance(event, Decided) and event.decision.offset == place)
    assert naming.decision.partition is not None
    assert naming.decision.kinds == ("changed",)
    assert naming.decision.partition.elr == ()
    assert beside(run).explained
    kept = replace(naming, decision=replace(naming.decision, partition=replace(naming.decision.partition, elr=(1, 2))))
    number = run.events.index(naming)
    assert beside(replace(run, events=(*run.events[:number], kept, *run.events[number + 1 :]))).stuck == number
    for other in (beside(run, fixed="N-17"), beside(run, Release.V4_3)):
        assert other.stuck == number, "the controller would have kept them"


def test_two_decisions_of_one_batch_are_told_apart() -> None:
    run = recorded("n-04-at-once-4.3.1")
    (both,) = [
        event.decision for event in run.events if isinstance(event, Decided) and "registered 3" in event.decision.kinds
    ]
    assert both.kinds == ("changed", "registered 3")
    assert [part.kinds for part in apart(both)] == [("changed",), ("registered 3",)]
    assert [part.kinds for part in apart(replace(both, kinds=both.kinds[::-1]))] == [("registered 3",), ("changed",)]
    assert [part.kinds for part in apart(replace(both, kinds=("changed",)))] == [("changed",)]


@pytest.mark.slow
def test_an_isr_and_a_registration_that_were_written_at_once_are_explained() -> None:
    """A run on a busy machine."""
    assert beside(recorded("n-04-at-once-4.3.1")).explained


def test_an_election_that_nobody_saw_is_not_explained() -> None:
    def elects(event: RunEvent) -> bool:
        made = event.decision.partition if isinstance(event, Decided) else None
        return made is not None and made.leader == 3

    run = without(without(recorded("n-01-3.9.2"), elects), elects)
    assert beside(run).explained is False


# ----------------------------------------------------------------------------------------------- the metadata log alone


def decided(name: str) -> BrokerRun:
    run = recorded(name)
    return replace(run, elr=True, events=tuple(event for event in run.events if isinstance(event, Decided)))


@pytest.mark.slow
def test_what_the_controller_has_decided_is_explained_by_itself() -> None:
    run = decided("n-02-4.3.1")
    assert beside(run).explained
    assert beside(run, fixed="N-02").stuck == 1


def test_a_decision_that_no_controller_makes_is_not_explained() -> None:
    run = decided("n-02-4.3.1")
    place = next(place for place, event in enumerate(run.events) if "unfenced 2" in str(event))
    event = run.events[place]
    assert isinstance(event, Decided)
    assert event.decision.partition is not None
    other = replace(event.decision, partition=replace(event.decision.partition, isr=(1, 2)))
    events = (*run.events[:place], replace(event, decision=other), *run.events[place + 1 :])
    assert beside(replace(run, events=events)).stuck == place


# ---------------------------------------------------------------------------------------------------------------- files


def test_a_run_is_written_as_it_was_read(tmp_path: Path) -> None:
    run = recorded("n-02-4.3.1")
    write_run(run, tmp_path / "a.run")
    assert read_run(tmp_path / "a.run") == run
    head, *events = (RECORDINGS / "n-02-4.3.1.run").read_text().splitlines()  # in version 1, without a digest
    first, begun, *written = (tmp_path / "a.run").read_text().splitlines()
    assert written == events
    assert json.loads(first) | json.loads(begun) == {**json.loads(head), **json.loads(first)}


def test_a_run_that_was_changed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.run"
    write_run(recorded("n-02-4.3.1"), file)
    text = file.read_bytes()
    drawn = random.Random(11)
    for _ in range(200):
        place = drawn.randrange(len(text))
        changed = bytearray(text)
        changed[place] ^= 1 << drawn.randrange(8)
        cut = text[:place]
        for content in (bytes(changed), cut, text[:place] + text[max(0, place - 9) :]):
            file.write_bytes(content)
            with pytest.raises(UserError, match=r"a\.run"):
                read_run(file)
    lines = text.splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:9], lines[10], lines[9], *lines[11:]]))
    with pytest.raises(UserError, match=r"a\.run: this run was changed after it was written: its digest differs\."):
        read_run(file)


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("{}", 1), ('{"format": "insync-kafka-run", "version": 3}', 1), ("HEAD\nno json", 2)],
    ids=["empty", "other", "later", "line"],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, text: str, line: int) -> None:
    head = (RECORDINGS / "n-02-4.3.1.run").read_text().splitlines()[0]
    (tmp_path / "a.run").write_text(text.replace("HEAD", head))
    with pytest.raises(UserError, match=rf"a\.run:{line}: this is no line of a run that insync kafka record"):
        read_run(tmp_path / "a.run")


def test_a_run_that_does_not_begin_with_a_new_topic_is_refused() -> None:
    run = recorded("n-02-4.3.1")
    with pytest.raises(UserError, match="Record a topic from its creation on"):
        run_model(replace(run, events=run.events[20:]), Release.V4_3)


def test_a_run_without_a_decision_is_refused() -> None:
    with pytest.raises(UserError, match="has no decision of the controller, so a part of its file is missing"):
        run_model(replace(recorded("n-02-4.3.1"), events=()), Release.V4_3)


@pytest.mark.parametrize("kafka", ["4.5.0", "4.10.1-SNAPSHOT", "5.0.0"])
def test_a_run_of_a_kafka_whose_rules_are_not_known_needs_a_release(kafka: str) -> None:
    run = replace(recorded("n-02-4.3.1"), kafka=kafka)
    with pytest.raises(UserError, match=rf"is of Kafka {kafka}, and the model has the rules of.*by --release, or"):
        release_of_run(run)
    assert release_of_run(run, Release.V4_3) is Release.V4_3
    assert release_of_run(replace(run, kafka="4.4.7")) is Release.V4_4


@pytest.mark.parametrize("kafka", ["trunk", "2.1.1"])
def test_a_run_of_no_kafka_with_kraft_is_refused(kafka: str) -> None:
    with pytest.raises(UserError, match=rf"{kafka}"):
        release_of_run(replace(recorded("n-02-4.3.1"), kafka=kafka))


@pytest.mark.parametrize("release", [Release.V2_1, Release.V3_2])
def test_a_run_is_not_laid_beside_a_release_with_zookeeper(release: Release) -> None:
    with pytest.raises(UserError, match=rf"Kafka {release.value} keeps its metadata in ZooKeeper, and the run is one"):
        release_of_run(recorded("n-02-4.3.1"), release)


STRANGERS: dict[str, dict[str, object]] = {
    "a follower": {"event": "fetch", "at": 0, "follower": 9, "leader": 1, "offset": 0, "epoch": 0},
    "who is written to": {"event": "done", "at": 0, "what": "send", "broker": 9, "record": "q", "error": 0},
    "a member": {"event": "isr", "at": 0, "leader": 1, "epoch": 0, "isr": [1, 9]},
    "who hears": {"event": "applied", "at": 0, "broker": 9, "below": 40},
    "who leads": {"leader": 9},
    "who is assigned": {"replicas": [1, 2, 9]},
}


@pytest.mark.parametrize("told", STRANGERS.values(), ids=STRANGERS)
def test_a_run_that_names_a_broker_which_it_has_not_is_refused(tmp_path: Path, told: dict[str, object]) -> None:
    head, first, *rest = (RECORDINGS / "n-02-4.3.1.run").read_text().splitlines()
    if "event" not in told:
        decision = json.loads(first)
        decision["decision"]["partition"] |= told
        told = decision
    (tmp_path / "a.run").write_text("\n".join([head, first, json.dumps(told), *rest]))
    with pytest.raises(
        UserError, match=r"a\.run:3: this names broker 9, and the run is of the brokers 1, 2, 3\. Record"
    ):
        read_run(tmp_path / "a.run")


WRONG: tuple[dict[str, object], ...] = (
    {"kafka": 4}, {"replicas": [1, "2"]}, {"replicas": [1, 1]}, {"replicas": []}, {"spares": [3]}, {"min_insync": "2"}
)  # fmt: skip


@pytest.mark.parametrize("changed", WRONG, ids=str)
def test_a_run_whose_first_line_is_not_one_of_a_run_is_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    head, *rest = (RECORDINGS / "n-02-4.3.1.run").read_text().splitlines()
    (tmp_path / "a.run").write_text("\n".join([json.dumps({**json.loads(head), **changed}), *rest]))
    with pytest.raises(UserError, match=r"a\.run:1: this is no line of a run"):
        read_run(tmp_path / "a.run")


def test_a_run_that_is_too_large_is_refused() -> None:
    run = recorded("n-02-4.3.1")
    more = tuple(Done(0.0, "send", 1, f"x{number}", 0) for number in range(9))
    with pytest.raises(UserError, match=r"writes 11 records, and the model has 5 at most"):
        run_model(replace(run, events=run.events + more), Release.V4_3)
