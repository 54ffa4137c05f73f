"""The harness on Kafka's own classes: it fits the releases, leaves nothing behind, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.self_check import self_check
from insync.conformance.classes.subject import KafkaRaised
from insync.conformance.jars.pinned import cluster_versions, pinned_versions
from insync.runtime.errors import UserError
from insync_classes import HarnessOf, JarsOf, comes_back

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

ONE = "4.3.1"


def _versions(wanted: Iterable[str]) -> list[ParameterSet]:
    """Return them so that `make kafka` takes those alone whose brokers can run too, the newest of each series."""
    quick = cluster_versions()
    return [pytest.param(one, marks=() if one in quick else pytest.mark.slow) for one in wanted]


@pytest.mark.parametrize("version", _versions(pinned_versions()))
def test_every_command_works_on_a_release(jars_of: JarsOf, version: str) -> None:
    with Harness(jars_of(version)) as harness:
        answers = self_check(harness)
    last = answers[-1].state
    assert last.controller.leader == 1
    assert last.brokers[1].log is not None
    assert [value for value, _ in last.brokers[1].log.records] == ["r1"]  # r0 was deleted, r2 written by a zombie
    assert not harness.folder.exists()


def test_two_runs_see_the_same(jars_of: JarsOf) -> None:
    with Harness(jars_of(ONE)) as first, Harness(jars_of(ONE)) as second:
        assert [answer.state for answer in self_check(first)] == [answer.state for answer in self_check(second)]


def test_a_command_that_kafka_cannot_take_raises_and_the_next_one_works(jars_of: JarsOf) -> None:
    with Harness(jars_of(ONE)) as harness:
        with pytest.raises(KafkaRaised, match="no cluster is open"):
            harness.take("observe")
        harness.take("open", brokers=1, replicas=[1], elr=False, configuration={})
        with pytest.raises(KafkaRaised, match="there is no broker 7"):
            harness.take("fetch", broker=7)
        assert harness.take("observe").state.controller.isr == (1,)


def test_a_harness_that_is_killed_is_noticed_and_its_files_go(jars_of: JarsOf) -> None:
    with Harness(jars_of(ONE)) as harness:
        harness.take("open", brokers=1, replicas=[1], elr=False, configuration={})
        os.kill(harness.process_id, signal.SIGKILL)
        with pytest.raises(UserError, match=rf"for Kafka {ONE} was ended by SIGKILL"):
            harness.take("observe")
    assert not harness.folder.exists()


@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.4.0"])
def test_a_broker_that_crashes_at_once_names_itself_in_its_next_fetch(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    """It does so in requests of a version that only names topics by their id, which must be on its disk by then."""
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={})
        harness.take("crash", broker=2, spared=0)
        end = comes_back(harness, 2).state.controller.end
        harness.take("apply", broker=2, to=end)
        harness.take("apply", broker=1, to=end)
        leading = harness.take("fetch", broker=2, wait=31_000).state.brokers[1].leading
    assert leading is not None
    assert leading.known[2].current


@pytest.mark.parametrize("version", _versions(["3.7.0", "3.7.2", "3.9.2", "4.1.2", "4.4.0"]))
def test_a_follower_whose_leader_is_behind_asks_again_at_once(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    """Kafka's fetcher waits after an error by the clock of the machine, which must not decide what a walk sees."""
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=3, replicas=[1, 2, 3], elr=False, configuration={})
        end = harness.take("fence", broker=1).state.controller.end  # the leader is broker 2, who has not learned of it
        harness.take("apply", broker=3, to=end)
        said = {harness.take("fetch", broker=3).said for _ in range(300)}
    assert said == {"UNKNOWN_LEADER_EPOCH"}


PARENT = """
import os, sys
from insync.conformance.classes.harness import Harness
from insync.conformance.jars.pinned import pinned
from insync.conformance.jars.store import stored_jars
harness = Harness(stored_jars(pinned(sys.argv[1])))
harness.take("open", brokers=1, replicas=[1], elr=False, configuration={})
print(harness.folder, harness.process_id, flush=True)
if sys.argv[2] == "under a command":
    (directory,) = harness.folder.glob("cluster-*/b1-0")
    os.mkfifo(directory / "nobody-writes")
    harness.take("crash", broker=1, spared=0)  # it copies what is on the disk, and waits for that file to end
sys.stdin.read()
"""


@pytest.mark.parametrize("when", ["between commands", "under a command"])
def test_it_ends_with_its_parent_however_that_ends(jars_of: JarsOf, when: str) -> None:
    jars_of(ONE)
    command = [sys.executable, "-c", PARENT, ONE, when]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    folder, process = parent.stdout.readline().split()
    assert Path(folder).is_dir()
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (Path(folder).exists() or Path(f"/proc/{process}").exists()):
        time.sleep(0.1)
    assert not Path(folder).exists()
    assert not Path(f"/proc/{process}").exists()
