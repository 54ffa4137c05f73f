"""Long walks through large clusters, where all happens that may: a rule that is changed by a hair changes numbers.

Whoever changes a rule on purpose runs this file, with tests/support in PYTHONPATH: it prints the numbers of the walks,
and records those of all actions and properties.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch
from zlib import crc32

import pytest

from insync.kafka.cluster.former_names import FORMER_STEPS
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import ControllerFence, Counting, StrictMinimum
from insync.model.evaluator import Codes, Evaluator
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync_meanings import KAFKA, beside, meanings, words

EVERYTHING: dict[str, int | str] = {
    "crashes": 1,
    "controlled_shutdowns": 1,
    "isr_shrinks": 2,
    "preferred_elections": 1,
    "fetch_failures": 1,
    "throttles": 1,
    "log_dir_moves": 1,
    "delete_records": 1,
    "log_dir_failures": 1,
    "config_changes": 1,
    "late_fetch_responses": "on",
    "late_alter_partition_responses": "on",
    "stale_checkpoints": "on",
    "flush": "sometimes",
}
REASSIGNED: dict[str, int | str] = {
    "spares": 1,
    "reassignments": 2,
    "crashes": 1,
    "controlled_shutdowns": 1,
    "preferred_elections": 1,
    "metadata_lag": 1,
    "delete_records": 1,
}

SESSIONS: dict[str, int | str] = {"controller_failovers": 1, "fetch_sessions": "on", "lost_fetch_responses": 1}

DISTURBING = {
    "begin_stop", "cancel_move", "change_minimum", "crash", "elect", "elect_as_stale_controller", "evict_session",
    "fail_copy_directory", "fail_directory", "fail_over", "fence", "load_snapshot", "lose_directory", "lose_leadership",
    "lose_fetch_response",
    "pause_fetching", "reassign", "reorder", "restart_producer", "shrink_isr", "shrink_isr_by_several", "start_move",
    "throttle",
}  # fmt: skip

CHOSEN: dict[str, dict[str, int | str]] = {
    "4.3": {**EVERYTHING, "unclean_leader_election": "on"},
    "4.1": {
        **EVERYTHING,
        "metadata_lag": 0,
        "records": 3,
        "flush": "never",
        "retries": 1,
        "elr": "off",
        "unclean_leader_election": "on",
    },
    "4.2": {**REASSIGNED, "unclean_leader_election": "on"},
    "3.7": {
        **REASSIGNED,
        "partition_zero_replicas": 1,
        "elr": "on",
        "config_changes": 1,
        "unclean_leader_election": "on",
    },
    "3.9": {**EVERYTHING, "races": "off", "acks": "1", "elr": "on", "min_insync_replicas": 3},
    "3.6": {**EVERYTHING, "flush": "always"},
    "2.6.1": {**EVERYTHING, "preferred_elections": 2},
    "2.7": {**EVERYTHING, **SESSIONS},
    "2.1": {**EVERYTHING, "unclean_leader_election": "on"},
    "1.1": {**EVERYTHING, "flush": "never", "preferred_elections": 2},
    "0.10.2": {**EVERYTHING, "acks": "0"},
    "4.4": {**EVERYTHING, "fetch_sessions": "on", "lost_fetch_responses": 2},
    "2.0.1": {**EVERYTHING, "fetch_sessions": "on", "lost_fetch_responses": 1, "controller_failovers": 2},
    "2.2": {**EVERYTHING, "consumer": "leader", "auto_offset_reset": "earliest", "unclean_leader_election": "on"},
    "2.4": {**EVERYTHING, "consumer": "follower", "unclean_leader_election": "on"},
    "3.8": {**EVERYTHING, "consumer": "follower", "auto_offset_reset": "none", "acks": "1"},
    "4.0": {**EVERYTHING, "log_dir_failures": 2, "log_dir_moves": 2},
    "3.5": {**EVERYTHING, "log_dir_failures": 1, "unclean_leader_election": "on"},
    "1.0": {**EVERYTHING, "log_dir_failures": 2, "elr": "on"},
    "4.0.1": {**EVERYTHING, "records": 4, "retries": 2, "producer_restarts": 2, "acks": "1"},
    "2.8.1": {**EVERYTHING, "lost_alter_partition_responses": 2},
    "3.4.1": {**EVERYTHING, "delete_records": 2, "records": 3},
    "3.3": {
        **EVERYTHING,
        "controller_failovers": 2,
        "lost_alter_partition_responses": 2,
        "elr": "on",
    },
    "3.9.1": {
        **REASSIGNED,
        "replica_order_changes": 2,
        "late_alter_partition_responses": "on",
        "lost_alter_partition_responses": 2,
    },
    "4.1.1": {
        **REASSIGNED,
        "snapshots": 2,
        "metadata_lag": 2,
        "acks": "1",
        "config_changes": 1,
        "late_alter_partition_responses": "on",
        "consumer": "follower",
    },
}
"""What is chosen besides the release."""

LIKE_ANOTHER = {"1.0", "1.1", "2.0.1", "2.6.1", "2.8.1", "3.3", "3.6", "3.8", "4.2"}
"""Those that choose what another chooses too: they are walked with the slow tests."""

WALKS: dict[str, tuple[int, int]] = {
    "4.3": (4_470, 3_728_511_321),
    "4.1": (4_376, 3_076_169_945),
    "4.2": (2_257, 2_095_671_287),
    "3.7": (2_354, 3_574_629_483),
    "3.9": (4_562, 3_470_481_060),
    "3.6": (4_040, 208_815_028),
    "2.6.1": (3_998, 3_230_389_840),
    "2.7": (4_744, 265_624_428),
    "2.1": (4_287, 3_613_733_620),
    "1.1": (4_084, 2_719_020_002),
    "0.10.2": (4_019, 859_247_244),
    "4.4": (5_180, 1_989_031_958),
    "2.0.1": (5_131, 1_221_622_442),
    "2.2": (4_172, 1_885_578_437),
    "2.4": (3_942, 4_067_898_178),
    "3.8": (4_757, 458_835_126),
    "4.0": (5_137, 2_462_444_875),
    "3.5": (4_508, 1_517_714_983),
    "1.0": (4_346, 2_461_929_144),
    "4.0.1": (5_358, 2_182_842_982),
    "2.8.1": (4_010, 4_050_683_500),
    "3.4.1": (4_402, 1_250_156_904),
    "3.3": (4_379, 509_506_633),
    "3.9.1": (2_241, 3_021_967_235),
    "4.1.1": (3_943, 3_273_716_084),
}
"""For each release the steps that were possible in all, and a checksum of the states."""


FIRST_NAMES = {now: first for first, now in FORMER_STEPS.items()}


def walked(model: Cluster, *, walks: int = 6, steps: int = 45) -> tuple[int, list[Codes]]:
    """Return how many steps were possible in all, and the states.

    Take one step in four of the rarest kind, the others of those that disturb nobody where there are some. Of kinds as
    rare the first by its first name is taken, so that walks stay when names change.
    """
    program = model.program
    evaluator, names = Evaluator(program), [action.name for action in program.actions]
    possible, taken = 0, Counter[str]()
    seen: list[Codes] = []
    for walk in range(walks):
        codes = program.initials[0]
        for step in range(steps):
            enabled = evaluator.enabled(codes)
            possible += len(enabled)
            if not enabled:
                break
            calm = [number for number in enabled if names[number] not in DISTURBING] if step % 4 else []
            rarest = min({names[number] for number in enabled}, key=lambda one: (taken[one], FIRST_NAMES.get(one, one)))
            candidates = calm or [number for number in enabled if names[number] == rarest]
            number = candidates[(walk * 31 + step * 17) % len(candidates)]
            taken[names[number]] += 1
            codes = evaluator.step(number, codes)
            seen.append(codes)
    return possible, seen


def checksum(seen: list[Codes]) -> int:
    return crc32(repr(seen).encode())


def all_of(model: Cluster, seen: list[Codes], only: Collection[str] | None = None) -> dict[str, str]:
    """The numbers of what is written of a cluster, and of what people read of it; of some properties alone."""
    states = beside(model, seen)
    return {**meanings(model, states, only), **words(model, states, only)}


@pytest.mark.slow_for("4.3", "3.7", "3.9", "2.7", "2.1", "4.4", "2.2", "2.4", "4.0", "3.5", "4.0.1", "3.4.1", "3.9.1")
@pytest.mark.parametrize(
    "release", [pytest.param(each, marks=pytest.mark.slow) if each in LIKE_ANOTHER else each for each in CHOSEN]
)
def test_a_long_walk_has_these_choices_and_all_that_is_written_means_this_on_it_and_beside_it(release: str) -> None:
    model = Cluster(**CHOSEN[release], release=release)
    possible, seen = walked(model)
    known = KAFKA.known(f"cluster {release}")
    found = all_of(model, seen, known)
    assert {name: found[name] for name in known} == known
    assert (possible, checksum(seen)) == WALKS[release]


NEVER_RELEASED: dict[str, dict[str, object]] = {
    "first": {
        "forget_isr_when_re_elected": True, "counting": Counting.COMMITTED, "compare_partition_epoch": False,
        "fence_one_at_a_time": False, "cancel_needs_member": False, "join_needs_fetch": False,
        "swap_needs_whole_copy": False, "named_is_answered": True, "lost_reply_ends_session": False,
    },
    "second": {
        "forget_followers": False, "counting": Counting.PROPOSED, "strict_minimum": StrictMinimum.MAXIMAL,
        "join_needs_watermark": False, "reply_matches_offset": False, "controller_fence": ControllerFence.NOTHING,
        "brokers_refuse_deposed": False,
    },
    "third": {"consumer_compares_epoch": True},
    "fourth": {"start_needs_whole_copy": True, "accepted_copy_stays_accepted": True, "isr_needs_directory": True},
    "fifth": {"dropped_copy_is_taken_back": False, "start_takes_accepted_copy": False},
    "sixth": {"old_producers_are_fenced": False, "retry_keeps_partition_epoch": False},
    "seventh": {
        "producer_keeps_id": False, "low_watermark_counts_electable": True, "join_needs_log_start": True,
        "low_watermark_counts_live": False,
    },
    "eighth": {
        "brokers_hear_committed": False, "answers_wait_for_commit": False, "lost_decisions_are_undone": False,
        "controller_fence": ControllerFence.NOTHING,
    },
    "ninth": {"elects_in_order": False},
    "tenth": {
        "fetcher_begins_at_log_end": False, "waiting_writes_need_leader": False, "join_below_minimum_needs_end": True,
        "slowness_has_a_budget": False, "named_directory_may_lead": True,
    },
    "eleventh": {
        "controller_watches_all": False, "same_incarnation_keeps_epoch": False, "unclean_elects_longest_log": True,
        "failed_directory_report_arrives": False,
    },
}  # fmt: skip
"""What rules say in defects alone, as many at once as go together."""

LOOSE: dict[str, dict[str, int | str]] = {
    "third": {"consumer": "leader"},
    "fourth": {"log_dir_failures": 2, "log_dir_moves": 2},
    "fifth": {"log_dir_failures": 2, "log_dir_moves": 2},
    "sixth": {"records": 3, "retries": 2, "producer_restarts": 1, "lost_alter_partition_responses": 2},
    "eighth": {"controller_failovers": 2, "reassignments": 2, "spares": 1},
    "eleventh": {
        "controller_failovers": 2,
        "crashes": 2,
        "unclean_leader_election": "on",
        "log_dir_failures": 1,
    },
    "ninth": {**REASSIGNED, "replica_order_changes": 2, "log_dir_failures": 2},
    "tenth": {"log_dir_failures": 2, "log_dir_moves": 2, "preferred_elections": 2},
    "seventh": {"records": 3, "retries": 2, "producer_restarts": 1, "delete_records": 2},
}
"""What is chosen with them, if it is not reassignments and sessions."""


@contextmanager
def loose(name: str) -> Iterator[Cluster]:
    """A cluster with such rules."""
    entry = replace(DEFECTS["R-39"], base={}, rules=NEVER_RELEASED[name])
    with patch.dict(DEFECTS, {"R-39": entry}):
        chosen = LOOSE.get(name, {**REASSIGNED, **SESSIONS, "controller_failovers": 0})
        yield Cluster(**{**EVERYTHING, **chosen}, release="4.1", elr="on", defect="R-39")


@pytest.mark.slow_but("third", "tenth")
@pytest.mark.parametrize("name", list(NEVER_RELEASED))
def test_rules_that_were_never_released_mean_this(name: str) -> None:
    known = KAFKA.known(f"cluster {name}")
    with loose(name) as model:
        found = all_of(model, walked(model)[1], known)
    assert {one: found[one] for one in known} == known


WITH_LEMMAS = "4.1"
"""The release with which the lemmas are on record: they are long, and written once for all releases."""


def _recorded(name: str, model: Cluster, seen: list[Codes]) -> None:
    lemmas = [] if name == WITH_LEMMAS else [lemma for lemma in lemmas_of(model) if lemma not in invariants_of(model)]
    names = {*invariants_of(model), *run_properties_of(model), *lemmas_of(model)}.difference(lemmas)
    KAFKA.write(f"cluster {name}", all_of(model, seen, names))


if __name__ == "__main__":
    for name, chosen in CHOSEN.items():
        model = Cluster(**chosen, release=name)
        possible, seen = walked(model)
        sys.stdout.write(f'    "{name}": ({possible:_}, {checksum(seen):_}),\n')
        _recorded(name, model, seen)
    for name in NEVER_RELEASED:
        with loose(name) as model:
            _recorded(name, model, walked(model)[1])
