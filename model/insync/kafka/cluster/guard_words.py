"""Conditions of steps of the cluster in the words of an operator, for `insync explore`.

A condition is told by its text in the names of the fields, such as `spent.fencings < 1`.
"""

from __future__ import annotations

import re

from insync.kafka.cluster.configuration import BOUNDS

__all__ = ["condition_in_words"]

_B = r"broker\[(?P<b>\w+)\]"
_OTHER = r"(?P<other>\w+)"
_KNOWN = rf"registrations\[{_B}\.image_lag\]"
_BELIEVED = r"registrations\[broker\[\w+\]\.image_lag\]"

_WORDS: tuple[tuple[str, str], ...] = (
    (rf"{_B}\.running == true", "{b} runs"),
    (rf"not {_B}\.running == true", "{b} is down"),
    (rf"{_KNOWN}\.leader == (?P=b)", "{b} leads, by its own metadata"),
    (rf"{_KNOWN}\.leader == {_OTHER}", "{other} leads, by the metadata of {b}"),
    (rf"{_KNOWN}\.isr contains {_OTHER}", "{other} is in the ISR, by the metadata of {b}"),
    (rf"not {_KNOWN}\.isr contains {_OTHER}", "{other} is not in the ISR, by the metadata of {b}"),
    (rf"{_KNOWN}\.replicas contains {_OTHER}", "{other} is a replica, by the metadata of {b}"),
    (r"registrations\[0\]\.isr contains (?P<b>\w+)", "{b} is in the ISR"),
    (r"not registrations\[0\]\.leader == (?P<b>\w+)", "{b} does not lead"),
    (rf"{_B}\.pending_isr == {{}}", "{b} waits for no answer about the ISR"),
    (
        rf"\(not {_B}\.image_lag == 0 or alter_partition\.isr == {{}}\)",
        "no change of the ISR is on its way to the controller",
    ),
    (r"not alter_partition\.isr == {}", "a change of the ISR is on its way to the controller"),
    (r"\(alter_partition\.isr & controller\.fenced\) == {}", "nobody in the ISR that is asked for is fenced"),
    (
        r"\(alter_partition\.isr - registrations\[0\]\.replicas\) == {}",
        "everybody in the ISR that is asked for is a replica",
    ),
    (
        r"alter_partition\.broker_epochs_are_current == true",
        "the partition has not changed since the ISR was asked for",
    ),
    (r"controller\.fenced contains (?P<b>\w+)", "the controller has fenced {b}"),
    (r"not controller\.fenced contains (?P<b>\w+)", "the controller has not fenced {b}"),
    (rf"{_B}\.remote_replicas\[{_OTHER}\]\.leo >= 0", "{other} has fetched from {b} in this epoch"),
    (rf"{_B}\.hw <= broker\[\w+\]\.remote_replicas\[{_OTHER}\]\.leo", "{other} has reached the high watermark of {b}"),
    (
        rf"{_B}\.leader_epoch_start <= broker\[\w+\]\.remote_replicas\[{_OTHER}\]\.leo",
        "{other} has reached the offset at which {b} began to lead",
    ),
    (
        rf"not \({_B}\.remote_replicas\[{_OTHER}\]\.leo \+ 1\) == \(broker\[\w+\]\.leo \+ 1\)",
        "{other} has not caught up with {b}, by what it has fetched",
    ),
    (rf"{_KNOWN}\.epoch == {_BELIEVED}\.epoch", "leader and follower are in the same epoch"),
    (rf"{_B}\.image_lag > 0", "{b} has metadata to learn"),
    (rf"{_B}\.image_lag > [1-9]", "{b} has more metadata to learn"),
    (rf"{_B}\.leo >= (?P<n>\d+)", "the log of {b} ends at {n} or later"),
    (
        rf"\({_B}\.leo <= (?P<n>\d+) or spent\.power_failures < (?P<most>\d+)\)",
        "{b} loses nothing, or fewer than {most} crashes have lost something so far (--power-failures)",
    ),
    (
        rf"\(not {_B}\.running == true or spent\.fencings < (?P<most>\d+)\)",
        "{b} is down, or fewer than {most} sessions of running brokers have expired so far (--fencings)",
    ),
    (
        rf"\(not {_B}\.running == true or broker\[\w+\]\.image_lag < (?P<most>\d+)\)",
        "{b} is down, or lacks fewer than {most} changes of metadata (--metadata-lag)",
    ),
    (r"written < (?P<most>\d+)", "fewer than {most} records have been written so far (--records)"),
    (
        rf"size of\({_KNOWN}\.isr\) >= (?P<most>\d+)",
        "the ISR has min.insync.replicas members, by the metadata of {b} (--min-insync-replicas {most})",
    ),
    (rf"not {_B}\.fetch_delayed == true", "the fetcher of {b} works"),
    (rf"{_B}\.fetch_delayed == true", "the fetcher of {b} has failed"),
    (rf"not {_B}\.throttled == true", "{b} is within its replication quota"),
    (rf"{_B}\.throttled == true", "{b} is beyond its replication quota"),
    (rf"not {_B}\.in_controlled_shutdown == true", "{b} is not being stopped"),
    (rf"{_B}\.in_controlled_shutdown == true", "{b} is being stopped"),
    (rf"{_B}\.log_start < broker\[\w+\]\.hw", "{b} has a committed record that is not deleted"),
)
_PATTERNS = tuple((re.compile(pattern), words) for pattern, words in _WORDS)
_BUDGET = re.compile(r"spent\.(?P<name>\w+) < (?P<most>\d+)")


def condition_in_words(condition: str) -> str:
    """Return a condition in words; empty if there are none for it."""
    if (budget := _BUDGET.fullmatch(condition)) is not None and budget["name"] in BOUNDS:
        fewer = "none" if budget["most"] == "1" else f"fewer than {budget['most']}"
        option = budget["name"].replace("_", "-")
        return f"{fewer} so far of: {BOUNDS[budget['name']].doc} (--{option})"
    for pattern, words in _PATTERNS:
        if (found := pattern.fullmatch(condition)) is not None:
            return words.format(**found.groupdict())
    return ""
