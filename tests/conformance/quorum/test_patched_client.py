"""Kafka's Raft client with a patch in its released sources does not throw where it did, and does as the model then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from insync.conformance.comparing.conform import Conforming
from insync.conformance.jars.jar_set import JarSet, file_digest
from insync.conformance.jars.pinned import pinned_for_quorum
from insync.conformance.jars.store import stored_for_quorum
from insync.conformance.patches.patched_jars import patched_kafka, read_patch
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import conform_quorum
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.quorum.kraft import Kraft
from insync_classes import skip_where_missing
from insync_led_again import LED_AGAIN, LED_AGAIN_BOUNDS, REMOVED, REMOVED_BOUNDS
from insync_quorum import recorded_course, take_course, take_labels
from insync_voters import COURSES

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(400)]

Patched = Callable[[str], AbstractContextManager[QuorumHarness]]
FIXED: dict[str, int | str] = {"defect": "Q-6", "fixed": "on"}
FOLLOWS: dict[str, int | str] = {"servers": 3, "records": 1, "elections": 2, "restarts": 1, **FIXED}


@pytest.fixture(params=("4.1.2", "4.3.1"))
def patched(request: pytest.FixtureRequest) -> Patched:
    """Starts the harness of the quorum of a release with a patch in it."""
    version: str = request.param
    skip_where_missing(pinned_for_quorum(version), " --quorum")

    @contextmanager
    def start(patch: str) -> Iterator[QuorumHarness]:
        libs = patched_kafka(read_patch(patch, version), stored_for_quorum(version)).libs
        paths = tuple(sorted(libs.glob("*.jar")))
        with QuorumHarness(JarSet(version, paths, tuple(map(file_digest, paths)))) as harness:
            yield harness

    return start


@pytest.mark.slow_for("4.1.2")
def test_a_leader_passes_over_the_answer_of_who_was_removed(patched: Patched) -> None:
    with patched("Q-7") as quorum:
        course = COURSES["an_acknowledgement_of_who_was_removed"](quorum)
        course.deliver("BEGIN_QUORUM_EPOCH", 3, 1, answer=True)
        assert (course.server(1).state, course.membership(1).voters) == ("Leader", (1, 2))


@pytest.mark.slow_for("4.1.2")
def test_a_follower_that_was_a_candidate_restarts_as_a_follower(patched: Patched) -> None:
    labels = recorded_course("4.1.2-a_follower_is_a_candidate_again")
    (restart,) = (place for place, label in enumerate(labels) if label.endswith(" restarts"))
    stepper = Stepper(Kraft(**FOLLOWS))
    with patched("Q-6") as quorum:
        pair = QuorumPair(stepper, quorum)
        assert take_labels(pair, labels[: restart + 1]) == []
        server = pair.seen.servers[int(labels[restart].split()[0].removeprefix("n"))]
        assert (server.state, server.voted > 0) == ("Follower", True)


@pytest.mark.slow_for("4.1.2")
def test_with_the_patch_walks_agree_with_the_model_that_has_the_fix(patched: Patched) -> None:
    with patched("Q-6") as quorum:
        found = conform_quorum(quorum_model(quorum.version, FOLLOWS), quorum, walks=60, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 60)


@pytest.mark.parametrize(
    ("course", "bounds", "state", "epoch"),
    [
        pytest.param(REMOVED, REMOVED_BOUNDS, "Follower", 2, id="removed"),
        pytest.param(LED_AGAIN, LED_AGAIN_BOUNDS, "Leader", 3, id="left alone", marks=pytest.mark.slow),
    ],
)
def test_who_has_stood_follows_or_begins_an_epoch(
    patched: Patched, course: tuple[str, ...], bounds: dict[str, int | str], state: str, epoch: int
) -> None:
    with patched("Q-6") as quorum:
        model = quorum_model(quorum.version, {**bounds, **FIXED})
        pair = QuorumPair(Stepper(model), quorum)
        assert take_course(pair, course[: course.index("n2 restarts") + 1]) == []
        server = pair.seen.servers[2]
        assert (server.state, server.epoch) == (state, epoch)
