"""Why a property of a cluster fails, in words: which broker, which record, what the controller has decided."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.cluster.beliefs import believed_by
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
    """Say whose decision a broker will not hear."""
    replica = failure.bindings["replica"]
    decided = said("what the deposed one has decided: {decided}", decided=_decided(failure))
    return said("{replica} knows the new controller, and will not hear of {decided}.", replica=replica, decided=decided)


def unnoticed(failure: Failure) -> str:
    """Say whose directory has failed, and what the controller goes by."""
    replica = failure.bindings["replica"]
    place = "it takes the log to be in another one" if _broker(failure, replica).get("elsewhere") else "nobody says so"
    return said(
        "The directory of {replica} has failed, and the controller does not hear of it: {place}. {decides}",
        replica=replica,
        place=place,
        decides=_decides(failure),
    )


def unremoved(failure: Failure) -> str:
    """Say who goes on without a replica, and with what."""
    replica = failure.bindings["replica"]
    view = believed_by(failure.state, replica)
    does = f"leads on in epoch {view['epoch']}" if view["leader"] == replica else f"follows in epoch {view['epoch']}"
    return said(
        "By its own metadata {replica} has no replica any more, and it {does}: {log}.",
        replica=replica,
        does=does,
        log=_log(failure, replica),
    )


def directoryless(failure: Failure) -> str:
    """Say who is in the ISR though the controller knows that its directory has failed."""
    replica = failure.bindings["replica"]
    return said(
        "The controller knows that the directory of {replica} has failed. {decides}",
        replica=replica,
        decides=_decides(failure),
    )


def untold(failure: Failure) -> str:
    """Say what a follower does not know that its session takes for known."""
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    told, mine = _broker(failure, leader)["hw"], _broker(failure, follower)["hw"]
    return said(
        "The session of {follower} has told it the high watermark {told} of {leader}, so the next reply leaves it out, "
        "but {follower} has {mine}: {log}.",
        follower=follower,
        leader=leader,
        told=told,
        mine=mine,
        log=_log(failure, follower),
    )


def lost(failure: Failure) -> str:
    """Say which acknowledged record the leader lacks."""
    leader, record = failure.bindings["leader"], failure.bindings["record"]
    return said(
        "{record} was acknowledged, but {leader}, which leads now, does not have it: {log}.",
        record=record,
        leader=leader,
        log=_log(failure, leader),
    )


def other_history(failure: Failure) -> str:
    """Say which record a reader gets in place of the one that was read before."""
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    seen = cast(list[str | None], failure.state["seen"])[offset]
    return said(
        "Consumers have read {seen} at {offset}, and {replica} gives them another record there: {log}.",
        seen=seen,
        offset=offset_in(offset, replica),
        replica=replica,
        log=_log(failure, replica),
    )


def shorter(failure: Failure) -> str:
    """Say how far the high watermark has gone back."""
    leader = failure.bindings["leader"]
    seen = [record for record in cast(list[str | None], failure.state["seen"]) if record]
    hw = _broker(failure, leader)["hw"]
    return said(
        "Clients have seen a high watermark of {seen}; {leader}, which leads now, tells them {hw}.",
        seen=len(seen),
        leader=leader,
        hw=hw,
    )


def thin(failure: Failure) -> str:
    """Say which records were acknowledged; on how many replicas they were then is not in the state any more."""
    return said(
        "Of the records acknowledged ({acked}) one was on fewer than min.insync.replicas replicas at that moment.",
        acked=failure.state["acked"],
    )


def incomplete(failure: Failure) -> str:
    """Say which committed record an electable replica lacks."""
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    seen = cast(list[str | None], failure.state["seen"])[offset]
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    where = "the ISR" if replica in newest["isr"] else "the ELR"
    return said(
        "{replica} runs and is in {where}, but it lacks {seen}, committed at {offset}: {log}.",
        replica=replica,
        where=where,
        seen=seen,
        offset=offset_in(offset, replica),
        log=_log(failure, replica),
    )


def parted(failure: Failure) -> str:
    """Say where two logs differ."""
    one, other = failure.bindings["one"], failure.bindings["other"]
    return said(
        "{one} and {other} have different records at {offset}, which is below the high watermark of both: "
        "{its_log} and {other_log}.",
        one=one,
        other=other,
        offset=offset_in(int(failure.bindings["offset"]), one, other),
        its_log=_log(failure, one),
        other_log=_log(failure, other),
    )


def counted(failure: Failure) -> str:
    """Say for which records a leader counts on a follower that has others."""
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    end = _broker(failure, leader)["known"][follower]["end"]
    return said(
        "{leader} counts on {follower} for the records below {end}, but they have other logs there: {mine} and {its}.",
        leader=leader,
        follower=follower,
        end=offset_in(end, leader, follower),
        mine=_log(failure, leader),
        its=_log(failure, follower),
    )


def disorder(failure: Failure) -> str:
    """Say whose log is out of order."""
    replica = failure.bindings["replica"]
    return said("{replica} has records out of order, or twice: {log}.", replica=replica, log=_log(failure, replica))


def ineligible(failure: Failure) -> str:
    """Say who leads, and why it may not."""
    return said("{leader} may not lead: {decided}.", leader=failure.bindings["leader"], decided=_decided(failure))


def unsound(failure: Failure) -> str:
    """Say what the controller has decided."""
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    if "replicas" not in newest:
        return said("ISR and ELR do not go with who is fenced: {decided}.", decided=_decided(failure))
    return said(
        "ISR and ELR do not go with the replicas {{{replicas}}} and who is fenced: {decided}.",
        replicas=newest["replicas"],
        decided=_decided(failure),
    )


def uncounted(failure: Failure) -> str:
    """Say for whom the leader does not wait."""
    leader = failure.bindings["leader"]
    pending = _broker(failure, leader)["pending"]
    asked = said(", and it has asked for the ISR {{{pending}}}", pending=pending) if pending else ""
    return said(
        "{leader} does not wait for all who may be elected: {decided}{asked}.",
        leader=leader,
        decided=_decided(failure),
        asked=asked,
    )


def thinned(failure: Failure) -> str:
    """Say what was left when the reassignment ended."""
    return said(
        "A reassignment has ended with fewer than min.insync.replicas replicas in the ISR: {decided}.",
        decided=_decided(failure),
    )


def _decides(failure: Failure) -> str:
    return said("{decided}.", decided=_decided(failure, "The"))


def _decided(failure: Failure, the: str = "the") -> str:
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    controller = cast(dict[str, Any], failure.state["controller"])
    elr = said(", the ELR {{{elr}}}", elr=controller["elr"]) if "elr" in controller else ""
    return said(
        the + " leader is {leader}, the ISR {{{isr}}}{elr}, and fenced are {{{fenced}}}",
        leader=newest["leader"] or "nobody",
        isr=newest["isr"],
        elr=elr,
        fenced=controller["fenced"],
    )


def _broker(failure: Failure, name: str) -> dict[str, Any]:
    return cast(dict[str, Any], cast(dict[str, Any], failure.state["broker"])[name])


def _log(failure: Failure, name: str) -> str:
    return f"its log is {_records(failure, name)}"


def _records(failure: Failure, name: str) -> str:
    broker = _broker(failure, name)
    epochs = cast(dict[str, str], failure.state["epoch_of"])
    records = [f"{record}@{epochs[record]}" for record in broker["log"][: broker["leo"]]]
    return f"[{' '.join([*records[: broker['hw']], '|', *records[broker['hw'] :]])}]"


def leaderless(failure: Failure) -> str:
    """Say that nobody can be elected, and who would be."""
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    controller = cast(dict[str, Any], failure.state["controller"])
    return said(
        "All replicas ({replicas}) run, and none leads: the ISR is {{{isr}}}, the ELR {{{elr}}}.",
        replicas=newest.get("replicas", list(cast(dict[str, Any], failure.state["broker"]))),
        isr=newest["isr"],
        elr=controller.get("elr", ()),
    )


def endless(failure: Failure) -> str:
    """Say who is to come and to go at once."""
    controller = cast(dict[str, Any], failure.state["controller"])
    return said(
        "The reassignment cannot end: {both} is to come and to go, and it waits for it in an ISR without it.",
        both=[name for name in controller["adding"] if name in controller["removing"]],
    )


def repeated(failure: Failure) -> str:
    """Say which record of a log is one that was sent before."""
    replica = failure.bindings["replica"]
    broker, sent = _broker(failure, replica), cast(dict[str, str], failure.state["sent"])
    twice = [record for record in broker["log"][: broker["leo"]] if sent[record] != record]
    return said(
        "{replica} has what was sent twice, or out of order: {log}, where {again}.",
        replica=replica,
        log=_log(failure, replica),
        again=[said("{record} is {first} again", record=record, first=sent[record]) for record in twice],
    )


def misled(failure: Failure) -> str:
    """Say what the consumer has got, one after the other."""
    consumer = cast(dict[str, Any], failure.state["consumer"])
    epochs = cast(dict[str, str], failure.state["epoch_of"])
    first, position = int(consumer["begin"]), int(consumer["position"])
    logs = "; ".join(f"{name}: {_log(failure, name)}" for name in cast(dict[str, Any], failure.state["broker"]))
    return said(
        "From {first} on the consumer has got {got}, and was told of nothing between: {logs}.",
        first=offset_in(first, *cast(dict[str, Any], failure.state["broker"])),
        got=[f"{record}@{epochs[record]}" for record in consumer["got"][first:position]],
        logs=logs,
    )


def early(failure: Failure) -> str:
    """Say what the consumer has got, and how far a high watermark has ever come."""
    consumer = cast(dict[str, Any], failure.state["consumer"])
    first, position = int(consumer["begin"]), int(consumer["position"])
    seen = cast(list[str | None], failure.state["seen"])
    at = next(offset for offset in range(first, position) if seen[offset] is None)
    return said(
        "The consumer has got {record} at {offset}, which no leader's high watermark has passed.",
        record=consumer["got"][at],
        offset=offset_in(at, *cast(dict[str, Any], failure.state["broker"])),
    )


def cut(failure: Failure) -> str:
    """Say what a broker has cut off that was below its high watermark."""
    replica, before = failure.bindings["replica"], failure.before
    assert before is not None, "it is about a step"
    old = Failure(before, failure.bindings, "", True, {})
    return said(
        "{replica} cuts its log below its high watermark {hw}: of {cut} is left {left}.",
        replica=replica,
        hw=_broker(old, replica)["hw"],
        cut=_records(old, replica),
        left=_records(failure, replica),
    )


def out_of_order(failure: Failure) -> str:
    """Say who leads, and in which order the replicas are."""
    places = cast(dict[str, int], failure.state["controller"]["places"])
    return said(
        "{replica} is elected from the ISR {isr}, and the replicas are in the order {order}.",
        replica=failure.bindings["replica"],
        isr=" ".join(failure.state["changes"][0]["isr"]),
        order=" ".join(sorted(places, key=places.__getitem__)),
    )


def haunted(failure: Failure) -> str:
    """Say in which epoch of its producer each record of a log was sent."""
    replica, epochs = failure.bindings["replica"], cast(dict[str, int], failure.state["producer_epoch"])
    broker = _broker(failure, replica)
    records = broker["log"][broker.get("start", 0) : broker["leo"]]
    return said(
        "{replica} has taken a record of a producer of which it has later ones: by producer epoch {sent}.",
        replica=replica,
        sent=[said("{record} in {epoch}", record=record, epoch=epochs[record]) for record in records],
    )


def refused(failure: Failure) -> str:
    """Say which record is read though it was refused."""
    return said(
        "The producer was told that too few replicas have {record}, and consumers get it at {offset}.",
        record=failure.bindings["record"],
        offset=offset_in(int(failure.bindings["offset"]), *cast(dict[str, Any], failure.state["broker"])),
    )


def undone(failure: Failure) -> str:
    """Say what was told; who had a record then is not in the state any more."""
    return said(
        "An operator was told that all records below {below} are deleted, and a live replica had one then.",
        below=failure.state["deleted_below"],
    )


def undead(failure: Failure) -> str:
    """Say which deleted record is there again."""
    leader, offset = failure.bindings["leader"], int(failure.bindings["offset"])
    return said(
        "An operator was told that {record} at {offset} is deleted, and {leader}, which leads now, has it: {log}.",
        record=_broker(failure, leader)["log"][offset],
        offset=offset_in(offset, leader),
        leader=leader,
        log=_log(failure, leader),
    )
