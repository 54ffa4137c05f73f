"""A course of events that takes every command: that the harness fits a release is seen by running it."""

from __future__ import annotations

from collections.abc import Iterator

from insync.conformance.classes.subject import Answer, Argument, Subject
from insync.runtime.errors import InternalError

__all__ = ["self_check"]

_NEWEST = "newest"
_LATER = 31_000
_LONG = 61_000

_Step = tuple[str, dict[str, Argument]]

_ANSWERS = {"delete_records": "-1", "lose_fetch": "FETCH_SESSION_ID_NOT_FOUND"}
"""What is answered to commands that are not answered NONE: a low watermark that is not known yet; a session is gone."""


def self_check(subject: Subject) -> list[Answer]:
    """Take every command on three brokers, and return what came of each.

    Raises:
        InternalError: Kafka answers otherwise than it should; the message names the command.
    """
    answers = [subject.take("open", **_OPENING)]
    for command, arguments in _course():
        if arguments.get("to") == _NEWEST:
            arguments["to"] = answers[-1].state.controller.end
        answers.append(subject.take(command, **arguments))
        if answers[-1].said != _ANSWERS.get(command, "NONE"):
            message = f"Kafka {subject.version} answers {answers[-1].said} to {command} {arguments} of the self-check."
            raise InternalError(message)
    return answers


_OPENING: dict[str, Argument] = {
    "brokers": 3,
    "replicas": [1, 2, 3],
    "elr": False,
    "configuration": {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"},
    "sessions": True,
    "consumer": "earliest",
}


def _course() -> Iterator[_Step]:
    yield from _writing()
    yield from _leaving_and_joining()
    yield from _diverging()
    yield from _crashing()
    yield from _stopping()
    yield from _deleting()
    yield from _reassigning()


def _everybody_applies() -> Iterator[_Step]:
    for broker in (1, 2, 3):
        yield "apply", {"broker": broker, "to": _NEWEST}


def _fetches(broker: int, times: int) -> Iterator[_Step]:
    for _ in range(times):
        yield "fetch", {"broker": broker, "wait": _LATER}


def _deleting() -> Iterator[_Step]:
    """b1 deletes its first record; b3 learns of it, crashes, and has it again."""
    yield "flush", {"broker": 1}
    yield "delete_records", {"broker": 1, "below": 1}
    yield from _fetches(3, 1)
    yield "crash", {"broker": 3, "spared": 1}
    yield "find_older_start", {"broker": 3, "offset": 0}
    yield "fence", {"broker": 3}
    yield "register", {"broker": 3, "wait": _LONG}
    yield "apply", {"broker": 3, "to": _NEWEST}
    yield "unfence", {"broker": 3}
    yield "configure", {"name": "min.insync.replicas", "value": "2"}
    yield from _everybody_applies()


def _writing() -> Iterator[_Step]:
    yield "write", {"broker": 1, "value": "r0", "acks": -1}
    yield "send_fetch", {"broker": 2}
    yield "receive_fetch", {"broker": 2}
    yield from _fetches(2, 1)
    yield from _fetches(3, 2)
    yield "evict_session", {"broker": 3}
    yield "lose_fetch", {"broker": 3}
    yield "consume", {"broker": 1}


def _leaving_and_joining() -> Iterator[_Step]:
    """b3 is slow, and leaves the ISR; it comes back once it has caught up."""
    yield "write", {"broker": 1, "value": "r1", "acks": -1}
    yield from _fetches(2, 2)
    yield "shrink", {"broker": 1, "wait": _LONG}
    yield from _asked(1)
    yield from _fetches(3, 2)
    yield from _asked(1)


def _asked(leader: int) -> Iterator[_Step]:
    """What a leader has asked for reaches the controller; a first response is lost."""
    yield "lose_reply", {"broker": leader}
    yield "deliver_request", {"broker": leader}
    yield "deliver_reply", {"broker": leader}
    yield from _everybody_applies()


def _diverging() -> Iterator[_Step]:
    """b1 writes on after its deposition, and has to truncate."""
    yield "elect", {"broker": 2}
    yield "apply", {"broker": 2, "to": _NEWEST}
    yield "write", {"broker": 1, "value": "r2", "acks": 1}
    yield "apply", {"broker": 1, "to": _NEWEST}
    yield "apply", {"broker": 3, "to": _NEWEST}
    yield from _fetches(1, 2)
    yield from _fetches(3, 2)
    yield "validate_position", {"broker": 2}


def _crashing() -> Iterator[_Step]:
    """b3 crashes with half of its log; b1 has an expired session."""
    yield "crash", {"broker": 3, "spared": 1}
    yield "find_older_checkpoint", {"broker": 3, "offset": 0}
    yield "fence", {"broker": 3}
    yield "fence", {"broker": 1}
    yield "register", {"broker": 3, "wait": _LONG}
    yield "apply", {"broker": 3, "to": _NEWEST}
    yield "unfence", {"broker": 3}
    yield "unfence", {"broker": 1}
    yield from _everybody_applies()
    yield from _fetches(3, 3)
    yield from _asked(2)
    yield from _fetches(1, 1)
    yield from _asked(2)


def _stopping() -> Iterator[_Step]:
    yield "start_controlled_shutdown", {"broker": 2}
    yield "stop", {"broker": 2}
    yield "fence", {"broker": 2}
    yield "register", {"broker": 2, "wait": _LONG}
    yield "apply", {"broker": 2, "to": _NEWEST}
    yield "unfence", {"broker": 2}
    yield from _everybody_applies()


def _reassigning() -> Iterator[_Step]:
    """b2 is added anew, so the reassignment waits for it, and can be taken back; b3 loads a snapshot without it."""
    yield "reassign", {"replicas": [1]}
    yield "load_snapshot", {"broker": 3, "to": _NEWEST}
    yield from _everybody_applies()
    yield "reassign", {"replicas": [1, 2]}
    yield from _everybody_applies()
    yield "cancel_reassignment", {}
    yield from _everybody_applies()
    yield "observe", {}
