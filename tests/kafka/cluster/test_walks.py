"""Long walks through large clusters, where all happens that may: a rule that is changed by a hair changes numbers.

Whoever changes a rule on purpose has the new numbers from `python tests/kafka/cluster/test_walks.py`.
"""

from __future__ import annotations

import sys
from collections import Counter
from zlib import crc32

import pytest

from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import Codes, Evaluator

EVERYTHING: dict[str, int | str] = {
    "crashes": 1, "stops": 1, "shrinks": 2, "elections": 1, "pauses": 1, "throttles": 1, "moves": 1, "deletions": 1,
    "directory_losses": 1, "minimum_changes": 1, "late_replies": "on", "isr_replies": "on", "old_checkpoints": "on",
    "flushing": "sometimes",
}  # fmt: skip
REASSIGNED: dict[str, int | str] = {
    "spares": 1, "reassignments": 2, "crashes": 1, "stops": 1, "elections": 1, "metadata_lag": 1, "deletions": 1,
}  # fmt: skip

DISTURBING = {
    "begin_stop", "cancel_move", "change_minimum", "crash", "elect", "fence", "lose_directory", "pause_fetching",
    "reassign", "shrink_isr", "shrink_isr_by_several", "start_move", "throttle",
}  # fmt: skip

CHOSEN: dict[str, dict[str, int | str]] = {
    "4.3": {**EVERYTHING, "unclean": "on"},
    "4.1": {**EVERYTHING, "metadata_lag": 0, "records": 3, "flushing": "never"},
    "4.2": REASSIGNED,
    "3.7": {**REASSIGNED, "partition_zero": 2, "elr": "on", "minimum_changes": 1, "unclean": "on"},
    "3.9": {**EVERYTHING, "races": "off", "acks": "1", "elr": "on", "min_insync": 3},
    "3.6": {**EVERYTHING, "flushing": "always"},
    "2.7": EVERYTHING,
    "2.1": {**EVERYTHING, "unclean": "on"},
    "1.1": {**EVERYTHING, "flushing": "never", "elections": 2},
    "0.10.2": {**EVERYTHING, "acks": "0"},
}
"""What is chosen besides the release."""

WALKS: dict[str, tuple[int, int]] = {
    "4.3": (4_716, 2_139_108_508),
    "4.1": (4_654, 1_214_537_867),
    "4.2": (2_270, 2_932_969_926),
    "3.7": (2_308, 3_415_442_842),
    "3.9": (4_202, 1_628_632_716),
    "3.6": (4_082, 3_901_297_613),
    "2.7": (4_431, 721_863_443),
    "2.1": (4_187, 3_869_595_767),
    "1.1": (4_075, 2_382_324_595),
    "0.10.2": (3_917, 1_609_407_191),
}
"""For each release the steps that were possible in all, and a checksum of the states."""


def walked(model: Cluster, *, walks: int = 6, steps: int = 45) -> tuple[int, int]:
    """Take one step in four of the rarest kind, the others of those that disturb nobody where there are some."""
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
            rarest = min((taken[names[number]], names[number]) for number in enabled)[1]
            candidates = calm or [number for number in enabled if names[number] == rarest]
            number = candidates[(walk * 31 + step * 17) % len(candidates)]
            taken[names[number]] += 1
            codes = evaluator.step(number, codes)
            seen.append(codes)
    return possible, crc32(repr(seen).encode())


@pytest.mark.parametrize("release", list(CHOSEN))
def test_a_long_walk_has_these_choices_and_comes_to_these_states(release: str) -> None:
    assert walked(Cluster(**CHOSEN[release], release=release)) == WALKS[release]


if (
    __name__ == "__main__"
):  # the table for rules that were changed on purpose: `python tests/kafka/cluster/test_walks.py`
    for name, chosen in CHOSEN.items():
        sys.stdout.write(f'    "{name}": ({", ".join(f"{n:_}" for n in walked(Cluster(**chosen, release=name)))}),\n')
