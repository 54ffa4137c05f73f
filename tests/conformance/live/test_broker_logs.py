"""What brokers log of their own accord, beside what the controller has decided."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from insync.conformance.live.runs.broker_logs import with_broker_logs
from insync.conformance.live.runs.run_events import Acting, BrokerRun, Decided, IsrAsked, read_run
from insync.conformance.live.runs.run_model import run_model
from insync.conformance.live.runs.validation import Validation, validate
from insync.kafka.releases import release_of
from insync.runtime.errors import UserError

RECORDINGS = Path(__file__).parents[1] / "recordings" / "live"
MISSED, REMOVED = RECORDINGS / "n-01-3.9.2-logs", RECORDINGS / "n-02-4.3.1-logs"


def logs_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.log"))


def with_logs(folder: Path, files: list[Path] | None = None) -> BrokerRun:
    return with_broker_logs(read_run(folder / "decided.run"), "t-0", logs_of(folder) if files is None else files)


def beside(run: BrokerRun, fixed: str | None = None) -> Validation:
    return validate(run, run_model(run, release_of(run.kafka), fixed))


def acts(run: BrokerRun, broker: int) -> list[int]:
    """The partition epochs that a broker is seen to act on, in order."""
    epochs = {
        event.decision.offset + 1: event.decision.partition.partition_epoch
        for event in run.events
        if isinstance(event, Decided) and event.decision.partition is not None
    }
    return [epochs[event.below] for event in run.events if isinstance(event, Acting) and event.broker == broker]


def rewritten(folder: Path, to: Path, pattern: str, new: str) -> list[Path]:
    """The logs of a folder with something in them replaced."""
    for file in logs_of(folder):
        (to / file.name).write_text(re.sub(pattern, new, file.read_text()))
    return logs_of(to)


def test_a_broker_that_missed_an_election_is_seen_to_have_missed_it() -> None:
    run = with_logs(MISSED)
    leaders = {
        event.decision.partition.partition_epoch: event.decision.partition.leader
        for event in run.events
        if isinstance(event, Decided) and event.decision.partition is not None
    }
    assert [leaders[epoch] for epoch in acts(run, 1)] == [1, 1, 1, 1, 2, 2]
    assert [leaders[epoch] for epoch in acts(run, 2)][:4] == [1, 1, 3, 3]
    assert 3 in leaders.values(), "b3 was elected, of which b1 never learned"


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", [MISSED, pytest.param(REMOVED, marks=pytest.mark.slow)], ids=lambda folder: str(folder.name)
)
def test_what_brokers_log_is_a_behaviour_of_their_release(folder: Path) -> None:
    run = with_logs(folder)
    assert sum(isinstance(event, Acting) for event in run.events) >= 7
    assert beside(run).explained


def test_a_leader_is_seen_to_ask_for_an_isr() -> None:
    asked = [event for event in with_logs(REMOVED).events if isinstance(event, IsrAsked)]
    assert [(event.leader, event.epoch, event.isr) for event in asked] == [(2, 3, (1, 2))]


def test_what_is_taken_out_of_the_isr_is_in_a_log_as_kafka_has_it(tmp_path: Path) -> None:
    file = tmp_path / "server.log"
    line = (
        "[2026-01-31 12:00:00,000] INFO [Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1,3. Leader: "
        "(highWatermark: 1, endOffset: 2). Out of sync replicas: (brokerId: 2, endOffset: 1). (kafka.cluster.Partition)"
    )
    file.write_text(f"{(MISSED / 'broker-1.log').read_text()}{line}\n")
    asked = [event for event in with_logs(MISSED, [file]).events if isinstance(event, IsrAsked)]
    assert [(event.leader, event.epoch, event.isr) for event in asked] == [(1, 3, (1, 3))]


@pytest.mark.slow
def test_a_broker_does_not_act_on_what_it_has_left_behind(tmp_path: Path) -> None:
    """The last line but one of b1 is written once more at the end."""
    lines = [line for line in (MISSED / "broker-1.log").read_text().splitlines() if " t-0 " in line]
    older = next(line for line in lines if "starts at leader epoch 2" in line)
    file = tmp_path / "state-change.log"
    file.write_text("\n".join([*lines, older.replace(older[:25], lines[-1][:25])]) + "\n")
    run = with_logs(MISSED, [file])
    stuck = beside(run).stuck
    assert stuck is not None
    assert isinstance(run.events[stuck], Acting)


@pytest.mark.parametrize("zone", ["-09:30", "-03:00", "+00:00", "+05:30", "+05:45", "+14:00"])
def test_clocks_on_the_wall_may_be_those_of_any_zone(tmp_path: Path, zone: str) -> None:
    away = datetime.fromisoformat(f"2026-01-01T00:00{zone}").utcoffset()
    assert away is not None

    def there(time: re.Match[str]) -> str:
        return f"[{datetime.fromisoformat(time[1]) + away}"

    for file in logs_of(MISSED):
        (tmp_path / file.name).write_text(re.sub(r"(?m)^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", there, file.read_text()))
    assert with_logs(MISSED, logs_of(tmp_path)) == with_logs(MISSED)


def test_a_clock_that_is_slow_does_not_make_a_broker_act_before_the_decision(tmp_path: Path) -> None:
    files = rewritten(MISSED, tmp_path, r"(?m)^(\[\S+ \d\d:\d\d:\d)\d", r"\g<1>0")
    run = with_logs(MISSED, files)
    made = {event.decision.offset: event.at for event in run.events if isinstance(event, Decided)}
    assert all(event.at > made[event.below - 1] for event in run.events if isinstance(event, Acting))
    assert acts(run, 1) == acts(with_logs(MISSED), 1)


@pytest.mark.slow
def test_one_broker_alone_is_enough() -> None:
    run = with_logs(MISSED, [MISSED / "broker-1.log"])
    assert {event.broker for event in run.events if isinstance(event, Acting)} == {1}
    assert beside(run).explained


def test_no_log_leaves_the_run_as_it_is() -> None:
    run = read_run(MISSED / "decided.run")
    assert with_broker_logs(run, "t-0", []) == run


def test_brokers_that_never_had_a_replica_say_nothing(tmp_path: Path) -> None:
    (file,) = rewritten(MISSED, tmp_path, r"(broker=|Broker id=)\d", r"\g<1>7")[:1]
    with pytest.raises(UserError, match=r"broker-1\.log says nothing of t-0 in lines such as"):
        with_logs(MISSED, [file])


def test_a_log_of_another_partition_is_refused() -> None:
    run = read_run(MISSED / "decided.run")
    with pytest.raises(UserError, match=r"broker-1\.log says nothing of t-1"):
        with_broker_logs(run, "t-1", [MISSED / "broker-1.log"])
    with pytest.raises(UserError, match=r"none\.log: cannot be read \(No such file or directory\)"):
        with_broker_logs(run, "t-0", [MISSED / "none.log"])


def test_a_time_that_there_is_not_is_refused(tmp_path: Path) -> None:
    (file,) = rewritten(MISSED, tmp_path, r"(?m)^\[(\d+)-\d\d-", r"[\g<1>-13-")[:1]
    with pytest.raises(UserError, match=r"broker-1\.log: \[2026-13-22 .*\] is no time \(month must be in 1\.\.12\)"):
        with_logs(MISSED, [file])


def test_decisions_that_are_not_in_the_run_are_left_out() -> None:
    run = read_run(MISSED / "decided.run")
    short = with_broker_logs(replace(run, events=run.events[:3]), "t-0", logs_of(MISSED))
    assert acts(short, 1) == [0, 1]
    assert beside(short).explained
