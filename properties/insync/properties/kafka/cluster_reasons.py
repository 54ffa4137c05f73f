"""Why a property of a cluster fails, in words: which broker, which record, what the controller has decided."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.cluster.beliefs import believed_by
from insync.properties import Failure

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
    decided = f"what the deposed one has decided: {_decided(failure)}"
    return f"{replica} knows the new controller, and will not hear of {decided}."


def unnoticed(failure: Failure) -> str:
    """Say whose directory has failed, and what the controller goes by."""
    replica = failure.bindings["replica"]
    place = "it takes the log to be in another one" if _broker(failure, replica).get("elsewhere") else "nobody says so"
    return (
        f"The directory of {replica} has failed, and the controller does not hear of it: {place}. {_decides(failure)}"
    )


def unremoved(failure: Failure) -> str:
    """Say who goes on without a replica, and with what."""
    replica = failure.bindings["replica"]
    view = believed_by(failure.state, replica)
    does = f"leads on in epoch {view['epoch']}" if view["leader"] == replica else f"follows in epoch {view['epoch']}"
    return f"By its own metadata {replica} has no replica any more, and it {does}: {_log(failure, replica)}."


def directoryless(failure: Failure) -> str:
    """Say who is in the ISR though the controller knows that its directory has failed."""
    replica = failure.bindings["replica"]
    return f"The controller knows that the directory of {replica} has failed. {_decides(failure)}"


def untold(failure: Failure) -> str:
    """Say what a follower does not know that its session takes for known."""
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    told, mine = _broker(failure, leader)["hw"], _broker(failure, follower)["hw"]
    return (
        f"The session of {follower} has told it the high watermark {told} of {leader}, so the next reply leaves it "
        f"out, but {follower} has {mine}: {_log(failure, follower)}."
    )


def lost(failure: Failure) -> str:
    """Say which acknowledged record the leader lacks."""
    leader, record = failure.bindings["leader"], failure.bindings["record"]
    return f"{record} was acknowledged, but {leader}, which leads now, does not have it: {_log(failure, leader)}."


def other_history(failure: Failure) -> str:
    """Say which record a reader gets in place of the one that was read before."""
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    seen = cast(list[str | None], failure.state["seen"])[offset]
    return (
        f"Consumers have read {seen} at offset {offset}, and {replica} gives them another record there: "
        f"{_log(failure, replica)}."
    )


def shorter(failure: Failure) -> str:
    """Say how far the high watermark has gone back."""
    leader = failure.bindings["leader"]
    seen = [record for record in cast(list[str | None], failure.state["seen"]) if record]
    hw = _broker(failure, leader)["hw"]
    return f"Clients have seen a high watermark of {len(seen)}; {leader}, which leads now, tells them {hw}."


def thin(failure: Failure) -> str:
    """Say which records were acknowledged; on how many replicas they were then is not in the state any more."""
    acked = ", ".join(cast(list[str], failure.state["acked"]))
    return f"Of the records acknowledged ({acked}) one was on fewer than min.insync.replicas replicas at that moment."


def incomplete(failure: Failure) -> str:
    """Say which committed record an electable replica lacks."""
    replica, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    seen = cast(list[str | None], failure.state["seen"])[offset]
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    where = "the ISR" if replica in newest["isr"] else "the ELR"
    lacks = f"{replica} runs and is in {where}, but it lacks {seen}, committed at offset {offset}"
    return f"{lacks}: {_log(failure, replica)}."


def parted(failure: Failure) -> str:
    """Say where two logs differ."""
    one, other = failure.bindings["one"], failure.bindings["other"]
    offset = failure.bindings["offset"]
    return (
        f"{one} and {other} have different records at offset {offset}, which is below the high watermark of both: "
        f"{_log(failure, one)} and {_log(failure, other)}."
    )


def counted(failure: Failure) -> str:
    """Say for which records a leader counts on a follower that has others."""
    leader, follower = failure.bindings["leader"], failure.bindings["follower"]
    end = _broker(failure, leader)["known"][follower]["end"]
    return (
        f"{leader} counts on {follower} for the records below offset {end}, but they have other logs there: "
        f"{_log(failure, leader)} and {_log(failure, follower)}."
    )


def disorder(failure: Failure) -> str:
    """Say whose log is out of order."""
    replica = failure.bindings["replica"]
    return f"{replica} has records out of order, or twice: {_log(failure, replica)}."


def ineligible(failure: Failure) -> str:
    """Say who leads, and why it may not."""
    return f"{failure.bindings['leader']} may not lead: {_decided(failure)}."


def unsound(failure: Failure) -> str:
    """Say what the controller has decided."""
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    if "replicas" not in newest:
        return f"ISR and ELR do not go with who is fenced: {_decided(failure)}."
    replicas = _members(newest["replicas"])
    return f"ISR and ELR do not go with the replicas {replicas} and who is fenced: {_decided(failure)}."


def uncounted(failure: Failure) -> str:
    """Say for whom the leader does not wait."""
    leader = failure.bindings["leader"]
    pending = _broker(failure, leader)["pending"]
    asked = f", and it has asked for the ISR {_members(pending)}" if pending else ""
    return f"{leader} does not wait for all who may be elected: {_decided(failure)}{asked}."


def thinned(failure: Failure) -> str:
    """Say what was left when the reassignment ended."""
    return f"A reassignment has ended with fewer than min.insync.replicas replicas in the ISR: {_decided(failure)}."


def _decides(failure: Failure) -> str:
    decided = _decided(failure)
    return f"{decided[:1].upper()}{decided[1:]}."


def _decided(failure: Failure) -> str:
    newest = cast(list[dict[str, Any]], failure.state["changes"])[0]
    controller = cast(dict[str, Any], failure.state["controller"])
    elr = f", the ELR {_members(controller['elr'])}" if "elr" in controller else ""
    return (
        f"the leader is {newest['leader'] or 'nobody'}, the ISR {_members(newest['isr'])}{elr}, "
        f"and fenced are {_members(controller['fenced'])}"
    )


def _members(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}"


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
    elr = ", ".join(controller.get("elr", ()))
    replicas = ", ".join(newest.get("replicas", list(cast(dict[str, Any], failure.state["broker"]))))
    return (
        f"All replicas ({replicas}) run, and none leads: the ISR is {{{', '.join(newest['isr'])}}}, the ELR {{{elr}}}."
    )


def endless(failure: Failure) -> str:
    """Say who is to come and to go at once."""
    controller = cast(dict[str, Any], failure.state["controller"])
    both = ", ".join(name for name in controller["adding"] if name in controller["removing"])
    return f"The reassignment cannot end: {both} is to come and to go, and it waits for it in an ISR without it."


def repeated(failure: Failure) -> str:
    """Say which record of a log is one that was sent before."""
    replica = failure.bindings["replica"]
    broker, sent = _broker(failure, replica), cast(dict[str, str], failure.state["sent"])
    again = ", ".join(f"{r} is {sent[r]} again" for r in broker["log"][: broker["leo"]] if sent[r] != r)
    return f"{replica} has what was sent twice, or out of order: {_log(failure, replica)}, where {again}."


def misled(failure: Failure) -> str:
    """Say what the consumer has got, one after the other."""
    consumer = cast(dict[str, Any], failure.state["consumer"])
    epochs = cast(dict[str, str], failure.state["epoch_of"])
    first, position = int(consumer["begin"]), int(consumer["position"])
    got = ", ".join(f"{record}@{epochs[record]}" for record in consumer["got"][first:position])
    logs = "; ".join(f"{name}: {_log(failure, name)}" for name in cast(dict[str, Any], failure.state["broker"]))
    return f"From offset {first} on the consumer has got {got}, and was told of nothing between: {logs}."


def early(failure: Failure) -> str:
    """Say what the consumer has got, and how far a high watermark has ever come."""
    consumer = cast(dict[str, Any], failure.state["consumer"])
    first, position = int(consumer["begin"]), int(consumer["position"])
    seen = cast(list[str | None], failure.state["seen"])
    at = next(offset for offset in range(first, position) if seen[offset] is None)
    return f"The consumer has got {consumer['got'][at]} at offset {at}, which no leader's high watermark has passed."


def cut(failure: Failure) -> str:
    """Say what a broker has cut off that was below its high watermark."""
    replica, before = failure.bindings["replica"], failure.before
    assert before is not None, "it is about a step"
    old = Failure(before, failure.bindings, "", True, {})
    cut, left = _records(old, replica), _records(failure, replica)
    return f"{replica} cuts its log below its high watermark {_broker(old, replica)['hw']}: of {cut} is left {left}."


def out_of_order(failure: Failure) -> str:
    """Say who leads, and in which order the replicas are."""
    places = cast(dict[str, int], failure.state["controller"]["places"])
    order = " ".join(sorted(places, key=places.__getitem__))
    isr = " ".join(failure.state["changes"][0]["isr"])
    return f"{failure.bindings['replica']} is elected from the ISR {isr}, and the replicas are in the order {order}."


def haunted(failure: Failure) -> str:
    """Say in which epoch of its producer each record of a log was sent."""
    replica, epochs = failure.bindings["replica"], cast(dict[str, int], failure.state["producer_epoch"])
    broker = _broker(failure, replica)
    sent = ", ".join(f"{r} in {epochs[r]}" for r in broker["log"][broker.get("start", 0) : broker["leo"]])
    return f"{replica} has taken a record of a producer of which it has later ones: by producer epoch {sent}."


def refused(failure: Failure) -> str:
    """Say which record is read though it was refused."""
    record, offset = failure.bindings["record"], failure.bindings["offset"]
    return f"The producer was told that too few replicas have {record}, and consumers get it at offset {offset}."


def undone(failure: Failure) -> str:
    """Say what was told; who had a record then is not in the state any more."""
    below = failure.state["deleted_below"]
    return f"An operator was told that all records below {below} are deleted, and a live replica had one then."


def undead(failure: Failure) -> str:
    """Say which deleted record is there again."""
    leader, offset = failure.bindings["leader"], int(failure.bindings["offset"])
    record = _broker(failure, leader)["log"][offset]
    return (
        f"An operator was told that {record} at offset {offset} is deleted, and {leader}, which leads now, has it: "
        f"{_log(failure, leader)}."
    )
