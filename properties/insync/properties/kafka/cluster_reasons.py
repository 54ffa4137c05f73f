"""Why a property of a cluster fails, in words: which broker, which record, what the controller has decided."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.cluster.broker_state import is_elsewhere
from insync.kafka.cluster.metadata_image import believed_by
from insync.properties import Failure, offset_in, said

__all__ = [
    "counted",
    "cut",
    "directoryless",
    "disorder",
    "early",
    "endless",
    "haunted",
    "incomplete",
    "ineligible",
    "leaderless",
    "lost",
    "misled",
    "other_history",
    "parted",
    "refused",
    "repeated",
    "shorter",
    "thin",
    "thinned",
    "uncounted",
    "undead",
    "undone",
    "unheard",
    "unnoticed",
    "unremoved",
    "unsound",
    "untold",
]


def unheard(failure: Failure) -> str:
    """Say whose decision a broker will not learn."""
    return _told(
        failure, "{replica} knows the new controller, and will not learn of what the stale one has decided: {decided}."
    )


def unnoticed(failure: Failure) -> str:
    """Say whose directory has failed, and what the controller goes by."""
    elsewhere = is_elsewhere(_broker(failure, failure.bindings["replica"]))
    place = "it takes the log to be in another one" if elsewhere else "nobody says so"
    sentence = (
        f"The directory of {{replica}} has failed, and the controller does not learn of it: {place}. {{Decided}}."
    )
    return _told(failure, sentence)


def unremoved(failure: Failure) -> str:
    """Say who goes on without a replica, and with what."""
    view = believed_by(failure.state, failure.bindings["replica"])
    does = "leads on" if view["leader"] == failure.bindings["replica"] else "follows"
    sentence = "By its own metadata {replica} has no replica any more, and it {does} in epoch {epoch}: {log}."
    return _told(failure, sentence, does=does, epoch=view["epoch"])


def directoryless(failure: Failure) -> str:
    """Say who is in the ISR though the controller knows that its directory has failed."""
    return _told(failure, "The controller knows that the directory of {replica} has failed. {Decided}.")


def untold(failure: Failure) -> str:
    """Say what a follower does not know that its session takes for known."""
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    return _told(
        failure,
        "The session of {follower} has told it the high watermark {told} of {leader}, so the next response leaves it "
        "out, but {follower} has {mine}: {log}.",
        told=_broker(failure, leader)["hw"],
        mine=_broker(failure, follower)["hw"],
        log=_log(failure, follower),
    )


def lost(failure: Failure) -> str:
    """Say which acknowledged record the leader lacks."""
    return _told(failure, "{record} was acknowledged, but {leader}, which leads now, does not have it: {log}.")


def other_history(failure: Failure) -> str:
    """Say which record a reader gets in place of the one that was read before."""
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    sentence = "Consumers have read {seen} at {offset}, and {replica} gives them another record there: {log}."
    return _told(failure, sentence, seen=failure.state["seen"][offset], offset=offset_in(offset, replica))


def shorter(failure: Failure) -> str:
    """Say how far the high watermark has gone back."""
    seen = sum(1 for record in failure.state["seen"] if record)
    sentence = "Clients have seen a high watermark of {seen}; {leader}, which leads now, tells them {hw}."
    return _told(failure, sentence, seen=seen, hw=_broker(failure, failure.bindings["leader"])["hw"])


def thin(failure: Failure) -> str:
    """Say which records were acknowledged; on how many replicas they were then is not in the state any more."""
    sentence = (
        "Of the records acknowledged ({acked}) one was on fewer than min.insync.replicas replicas at that moment."
    )
    return _told(failure, sentence, acked=failure.state["acked"])


def incomplete(failure: Failure) -> str:
    """Say which committed record an electable replica lacks."""
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    return _told(
        failure,
        "{replica} runs and is in {where}, but it lacks {seen}, committed at {offset}: {log}.",
        where="the ISR" if replica in failure.state["registrations"][0]["isr"] else "the ELR",
        seen=failure.state["seen"][offset],
        offset=offset_in(offset, replica),
    )


def parted(failure: Failure) -> str:
    """Say where two logs differ."""
    one, other = failure.bindings["one"], failure.bindings["other"]
    return _told(
        failure,
        "{one} and {other} have different records at {offset}, which is below the high watermark of both: "
        "{its_log} and {other_log}.",
        offset=offset_in(int(failure.bindings["offset"]), one, other),
        its_log=_log(failure, one),
        other_log=_log(failure, other),
    )


def counted(failure: Failure) -> str:
    """Say for which records a leader counts on a follower that has others."""
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    return _told(
        failure,
        "{leader} counts on {follower} for the records below {end}, but they have other logs there: {log} and {its}.",
        end=offset_in(_broker(failure, leader)["remote_replicas"][follower]["leo"], leader, follower),
        its=_log(failure, follower),
    )


def disorder(failure: Failure) -> str:
    """Say whose log is out of order."""
    return _told(failure, "{replica} has records out of order, or twice: {log}.")


def ineligible(failure: Failure) -> str:
    """Say who leads, and why it may not."""
    return _told(failure, "{leader} may not lead: {decided}.")


def unsound(failure: Failure) -> str:
    """Say what the controller has decided."""
    newest = failure.state["registrations"][0]
    replicas = said("the replicas {{{replicas}}} and ", replicas=newest["replicas"]) if "replicas" in newest else ""
    return _told(failure, "ISR and ELR do not go with {replicas}who is fenced: {decided}.", replicas=replicas)


def uncounted(failure: Failure) -> str:
    """Say for whom the leader does not wait."""
    pending = _broker(failure, failure.bindings["leader"])["pending_isr"]
    asked = said(", and it has asked for the ISR {{{pending}}}", pending=pending) if pending else ""
    return _told(failure, "{leader} does not wait for all who may be elected: {decided}{asked}.", asked=asked)


def thinned(failure: Failure) -> str:
    """Say what was left when the reassignment ended."""
    sentence = "A reassignment has ended with fewer than min.insync.replicas replicas in the ISR: {decided}."
    return _told(failure, sentence)


def _told(failure: Failure, template: str, **parts: object) -> str:
    """Return a sentence with these parts, the bindings, the decisions of the controller, and the log of its subject."""
    told: dict[str, object] = {**failure.bindings, **parts}
    if "ecided}" in template:
        told |= {"decided": _decided(failure, "the"), "Decided": _decided(failure, "The")}
    if "{log}" in template and "log" not in parts:
        told["log"] = _log(failure, failure.bindings["replica" if "{replica}" in template else "leader"])
    return said(template, **told)


def _decided(failure: Failure, the: str) -> str:
    newest, controller = failure.state["registrations"][0], failure.state["controller"]
    elr = said(", the ELR {{{elr}}}", elr=controller["elr"]) if "elr" in controller else ""
    decided = "{the} leader is {leader}, the ISR {{{isr}}}{elr}, and fenced are {{{fenced}}}"
    leader = newest["leader"] or "nobody"
    return said(decided, the=the, leader=leader, isr=newest["isr"], elr=elr, fenced=controller["fenced"])


def _broker(failure: Failure, name: str) -> dict[str, Any]:
    return cast(dict[str, Any], failure.state["broker"][name])


def _log(failure: Failure, name: str) -> str:
    return f"its log is {_records(failure, name)}"


def _records(failure: Failure, name: str) -> str:
    broker = _broker(failure, name)
    records = [f"{record}@{failure.state['epoch_of'][record]}" for record in broker["log"][: broker["leo"]]]
    return f"[{' '.join([*records[: broker['hw']], '|', *records[broker['hw'] :]])}]"


def leaderless(failure: Failure) -> str:
    """Say that nobody can be elected, and who would be."""
    newest = failure.state["registrations"][0]
    return said(
        "All replicas ({replicas}) run, and none leads: the ISR is {{{isr}}}, the ELR {{{elr}}}.",
        replicas=newest.get("replicas", list(failure.state["broker"])),
        isr=newest["isr"],
        elr=failure.state["controller"].get("elr", ()),
    )


def endless(failure: Failure) -> str:
    """Say who is to come and to go at once."""
    controller = failure.state["controller"]
    both = [name for name in controller["adding"] if name in controller["removing"]]
    sentence = "The reassignment cannot end: {both} is to come and to go, and it waits for it in an ISR without it."
    return said(sentence, both=both)


def repeated(failure: Failure) -> str:
    """Say which record of a log is one that was sent before."""
    broker, sent = _broker(failure, failure.bindings["replica"]), failure.state["sent"]
    twice = [record for record in broker["log"][: broker["leo"]] if sent[record] != record]
    again = [said("{record} is {first} again", record=record, first=sent[record]) for record in twice]
    sentence = "{replica} has what was sent twice, or out of order: {log}, where {again}."
    return _told(failure, sentence, again=again)


def misled(failure: Failure) -> str:
    """Say what the consumer has got, one after the other."""
    consumer, epochs, brokers = failure.state["consumer"], failure.state["epoch_of"], failure.state["broker"]
    first, position = int(consumer["begin"]), int(consumer["position"])
    return said(
        "From {first} on the consumer has got {got}, and was told of nothing between: {logs}.",
        first=offset_in(first, *brokers),
        got=[f"{record}@{epochs[record]}" for record in consumer["got"][first:position]],
        logs="; ".join(f"{name}: {_log(failure, name)}" for name in brokers),
    )


def early(failure: Failure) -> str:
    """Say what the consumer has got, and how far a high watermark has ever come."""
    consumer, seen = failure.state["consumer"], failure.state["seen"]
    at = next(offset for offset in range(int(consumer["begin"]), int(consumer["position"])) if seen[offset] is None)
    sentence = "The consumer has got {record} at {offset}, which no leader's high watermark has passed."
    return said(sentence, record=consumer["got"][at], offset=offset_in(at, *failure.state["broker"]))


def cut(failure: Failure) -> str:
    """Say what a broker has cut off that was below its high watermark."""
    replica, before = failure.bindings["replica"], failure.before
    assert before is not None, "it is about a step"
    old = Failure(before, failure.bindings, "", True, {})
    return _told(
        failure,
        "{replica} cuts its log below its high watermark {hw}: of {cut} is left {left}.",
        hw=_broker(old, replica)["hw"],
        cut=_records(old, replica),
        left=_records(failure, replica),
    )


def out_of_order(failure: Failure) -> str:
    """Say who leads, and in which order the replicas are."""
    places = failure.state["controller"]["places"]
    return _told(
        failure,
        "{replica} is elected from the ISR {isr}, and the replicas are in the order {order}.",
        isr=" ".join(failure.state["registrations"][0]["isr"]),
        order=" ".join(sorted(places, key=places.__getitem__)),
    )


def haunted(failure: Failure) -> str:
    """Say in which epoch of its producer each record of a log was sent."""
    broker, epochs = _broker(failure, failure.bindings["replica"]), failure.state["producer_epoch"]
    records = broker["log"][broker.get("log_start", 0) : broker["leo"]]
    sent = [said("{record} in {epoch}", record=record, epoch=epochs[record]) for record in records]
    sentence = "{replica} has taken a record of a producer of which it has later ones: by producer epoch {sent}."
    return _told(failure, sentence, sent=sent)


def refused(failure: Failure) -> str:
    """Say which record is read though it was refused."""
    leader, offset = failure.bindings["leader"], int(failure.bindings["offset"])
    record = _broker(failure, leader)["log"][offset]
    sentence = "The producer was told that too few replicas have {record}, and consumers get it at {offset}."
    return _told(failure, sentence, record=record, offset=offset_in(offset, *failure.state["broker"]))


def undone(failure: Failure) -> str:
    """Say what was told; who had a record then is not in the state any more."""
    sentence = "An operator was told that all records below {below} are deleted, and a live replica had one then."
    return said(sentence, below=failure.state["deleted_below"])


def undead(failure: Failure) -> str:
    """Say which deleted record is there again."""
    leader, offset = failure.bindings["leader"], int(failure.bindings["offset"])
    return _told(
        failure,
        "An operator was told that {record} at {offset} is deleted, and {leader}, which leads now, has it: {log}.",
        record=_broker(failure, leader)["log"][offset],
        offset=offset_in(offset, leader),
    )
