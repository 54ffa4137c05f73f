"""How steps of the cluster are drawn: requests and replies between brokers, controller and clients, and what fails.

What a step sends is read off the states before and after it, so that an arrow says which records came, which ISR was
asked for, which change a broker has applied. `clients` are producers, the consumer and operators.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.model import Arrow, Drawn, Mark, MarkKind, Taken

__all__ = ["CLIENTS", "CONTROLLER", "draw_step"]

CONTROLLER, CLIENTS = "controller", "clients"
"""Lifelines and columns."""

_ON_ONE = {
    "pause_fetching": ("follower", "fetcher stops", MarkKind.NOTE),
    "resume_fetching": ("follower", "fetcher goes on", MarkKind.NOTE),
    "throttle": ("follower", "quota used up", MarkKind.NOTE),
    "unthrottle": ("follower", "quota has room", MarkKind.NOTE),
    "flush": ("replica", "flushes", MarkKind.NOTE),
    "find_older_checkpoint": ("replica", "older checkpoint", MarkKind.CUT),
    "find_older_start": ("replica", "older log start", MarkKind.CUT),
    "evict_session": ("follower", "session evicted", MarkKind.NOTE),
    "stop": ("replica", "stops", MarkKind.DOWN),
    "start_move": ("replica", "copies its log", MarkKind.NOTE),
    "copy_record": ("replica", "copies a record", MarkKind.NOTE),
    "cancel_move": ("replica", "drops the copy", MarkKind.NOTE),
    "swap_log": ("replica", "swaps in the copy", MarkKind.NOTE),
    "lose_directory": ("replica", "loses its log", MarkKind.CUT),
    "name_directory": ("replica", "names its directory", MarkKind.NOTE),
    "fail_directory": ("replica", "disk fails", MarkKind.DOWN),
    "fail_copy_directory": ("replica", "other disk fails", MarkKind.DOWN),
    "stop_former_fetcher": ("follower", "stops its fetcher", MarkKind.NOTE),
    "repair_directory": ("replica", "disk works again", MarkKind.UP),
    "fence": ("replica", "fenced", MarkKind.FENCED),
    "unfence": ("replica", "unfenced", MarkKind.UP),
}
"""Steps that happen on one broker: the parameter that names it, a word or two, and what the mark is."""


def draw_step(steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
    """Return how the last of some steps of `Cluster` is drawn."""
    drawing, action = _Drawing(steps), steps[-1].action or ""
    return (*drawing.own(action, label), *drawing.decided(action), *drawing.acknowledged())


class _Drawing:
    def __init__(self, steps: Sequence[Taken]) -> None:
        self.earlier, named = steps[:-1], steps[-1].parameters
        self.before, self.after, self.named = steps[-2].state, steps[-1].state, named
        self.follower, self.leader = named.get("follower", ""), named.get("leader", "")
        self.replica = named.get("replica", "")

    def own(self, action: str, label: str) -> tuple[Drawn, ...]:
        """What is drawn by the action."""
        if action in _ON_ONE:
            parameter, text, kind = _ON_ONE[action]
            return (Mark(self.named[parameter], text, kind),)
        made = getattr(self, f"draw_{action}", None)
        if made is not None:
            drawn: tuple[Drawn, ...] = made()
            return drawn
        place = next(iter(self.named.values()), "")
        return (Mark(place if place in self.after["broker"] else CONTROLLER, label),)

    # ------------------------------------------------------------------------------------------------ what follows

    def decided(self, action: str) -> tuple[Drawn, ...]:
        """Say what the controller has decided, if it has."""
        old, new = self.before["changes"][0], self.after["changes"][0]
        if action == "lose_leadership":
            return ()
        if (old["leader"], old["epoch"]) != (new["leader"], new["epoch"]):
            leads = f"{new['leader'] or 'nobody'} leads @{new['epoch']}"
            return (Mark(CONTROLLER, leads, MarkKind.LEADS),)
        if set(old["isr"]) != set(new["isr"]) and action not in ("accept_isr", "accept_isr_unheard"):
            return (Mark(CONTROLLER, _isr(new["isr"])),)
        return ()

    def acknowledged(self) -> tuple[Drawn, ...]:
        """Say which records are acknowledged, and by whom: the leader whose high watermark or log has grown."""
        new = [record for record in self.after["acked"] if record not in self.before["acked"]]
        if not new:
            return ()
        grown = [
            name
            for name, broker in self.after["broker"].items()
            if (broker["hw"], broker["leo"]) > (self.before["broker"][name]["hw"], self.before["broker"][name]["leo"])
        ]
        by = self.leader or next(iter(grown), self.after["changes"][0]["leader"]) or CONTROLLER
        return (Arrow(by, CLIENTS, f"acks {' '.join(new)}", reply=True),)

    # ------------------------------------------------------------------------------------------ followers and leaders

    def draw_fetch(self) -> tuple[Drawn, ...]:
        """With late replies the request alone; `receive` is the reply."""
        old = self.before["broker"][self.follower]
        asked = Arrow(self.follower, self.leader, f"fetch at {old['leo']}")
        reply = self.after["broker"][self.follower].get("reply")
        if reply is not None and reply["waiting"]:
            return (asked,)
        return (asked, Arrow(self.leader, self.follower, self._came(), reply=True))

    def draw_receive(self) -> tuple[Drawn, ...]:
        """The reply to the follower's last fetch, whoever leads now."""
        fetches = (one for one in reversed(self.earlier) if one.action == "fetch")
        asked = next((one for one in fetches if one.parameters["follower"] == self.follower), None)
        if asked is None:
            return (Mark(self.follower, f"receives {self._came()}"),)
        return (Arrow(asked.parameters["leader"], self.follower, self._came(), reply=True),)

    def draw_receive_rewritten(self) -> tuple[Drawn, ...]:
        return (Arrow(self.leader, self.follower, self._came(), reply=True),)

    def draw_lose_reply(self) -> tuple[Drawn, ...]:
        return (
            Arrow(self.follower, self.leader, "fetch"),
            Arrow(self.leader, self.follower, "reply", reply=True, lost=True),
        )

    def draw_ask_epoch_end(self) -> tuple[Drawn, ...]:
        answer = self._came()
        return (Arrow(self.follower, self.leader, "epoch end?"), Arrow(self.leader, self.follower, answer, reply=True))

    def _came(self) -> str:
        """What a reply has changed at the follower: records, where its log was cut, its high watermark."""
        old, new = self.before["broker"][self.follower], self.after["broker"][self.follower]
        if new["leo"] < old["leo"]:
            return f"cut to {new['leo']}"
        records = [f"{record}@{self.after['epoch_of'][record]}" for record in new["log"][old["leo"] : new["leo"]]]
        if records:
            return " ".join(records)
        return f"HW {new['hw']}" if new["hw"] != old["hw"] else "nothing new"

    # ---------------------------------------------------------------------------------------------------- the ISR

    def _proposed(self) -> tuple[Drawn, ...]:
        return (Arrow(self.leader, CONTROLLER, _isr(self.after["broker"][self.leader]["pending"])),)

    draw_expand_isr = draw_shrink_isr = draw_shrink_isr_by_several = _proposed

    def draw_look_at_follower(self) -> tuple[Drawn, ...]:
        return (Mark(self.leader, f"{self.follower} has caught up"),)

    def draw_accept_isr(self) -> tuple[Drawn, ...]:
        return (Mark(CONTROLLER, f"accepts {_isr(self.after['changes'][0]['isr'])}"),)

    def draw_accept_isr_unheard(self) -> tuple[Drawn, ...]:
        leader = self.before["changes"][0]["leader"]
        lost = (Arrow(CONTROLLER, leader, "accepted", reply=True, lost=True),) if leader else ()
        return (*self.draw_accept_isr(), *lost)

    def draw_refuse_isr(self) -> tuple[Drawn, ...]:
        leader = self.before["changes"][0]["leader"]
        return (Arrow(CONTROLLER, leader, "refused", reply=True),) if leader else (Mark(CONTROLLER, "refuses"),)

    def draw_refuse_isr_as_deposed(self) -> tuple[Drawn, ...]:
        old, new = self.before["broker"], self.after["broker"]
        leader = next((name for name in old if old[name]["pending"] and not new[name]["pending"]), None)
        refused = "refused by a deposed one"
        return (Arrow(CONTROLLER, leader, refused, reply=True),) if leader else (Mark(CONTROLLER, refused),)

    def draw_lose_leadership(self) -> tuple[Drawn, ...]:
        return (Mark(CONTROLLER, "loses its leadership", MarkKind.DOWN),)

    def draw_become_active(self) -> tuple[Drawn, ...]:
        return (Mark(CONTROLLER, "another one is active", MarkKind.UP),)

    def draw_commit_decisions(self) -> tuple[Drawn, ...]:
        return (Mark(CONTROLLER, "committed"),)

    def draw_receive_isr(self) -> tuple[Drawn, ...]:
        isr = self.before["changes"][int(self.named["place"])]["isr"]
        return (Arrow(CONTROLLER, self.leader, f"accepted: {_isr(isr)}", reply=True),)

    # ---------------------------------------------------------------------------------------------------- brokers

    def draw_apply_metadata(self) -> tuple[Drawn, ...]:
        change = self.before["changes"][int(self.named["place"])]
        return (Arrow(CONTROLLER, self.replica, f"{change['leader'] or 'nobody'} leads @{change['epoch']}"),)

    def draw_load_snapshot(self) -> tuple[Drawn, ...]:
        return (Arrow(CONTROLLER, self.replica, "snapshot"),)

    def draw_crash(self) -> tuple[Drawn, ...]:
        old, kept = self.before["broker"][self.replica], int(self.named["spared"])
        lost = old["log"][kept : old["leo"]]
        return (Mark(self.replica, f"crashes, loses {' '.join(lost)}" if lost else "crashes", MarkKind.DOWN),)

    def draw_begin_stop(self) -> tuple[Drawn, ...]:
        return (Arrow(self.replica, CONTROLLER, "wants to stop"),)

    def draw_register(self) -> tuple[Drawn, ...]:
        return (Mark(self.replica, "starts", MarkKind.UP), Arrow(self.replica, CONTROLLER, "registers"))

    def draw_fence_two(self) -> tuple[Drawn, ...]:
        return tuple(Mark(self.named[name], "fenced", MarkKind.FENCED) for name in ("first", "second"))

    def draw_elect(self) -> tuple[Drawn, ...]:
        return ()  # the decision says it

    draw_elect_as_deposed = draw_elect

    # ----------------------------------------------------------------------------------------------------- clients

    def draw_write(self) -> tuple[Drawn, ...]:
        at = self.before["broker"][self.leader]["leo"]
        return (Arrow(CLIENTS, self.leader, f"write {self.after['broker'][self.leader]['log'][at]}"),)

    def draw_send_again(self) -> tuple[Drawn, ...]:
        return (Arrow(CLIENTS, self.leader, f"{self.named['record']} again"),)

    def draw_acknowledge_again(self) -> tuple[Drawn, ...]:
        return self.draw_send_again()

    def draw_delete_record(self) -> tuple[Drawn, ...]:
        return (Arrow(CLIENTS, self.leader, "delete"),)

    def draw_change_minimum(self) -> tuple[Drawn, ...]:
        return (Arrow(CLIENTS, CONTROLLER, "min.insync.replicas"),)

    def draw_reassign(self) -> tuple[Drawn, ...]:
        return (Arrow(CLIENTS, CONTROLLER, f"assign {self.named['target']}"),)

    def draw_reorder(self) -> tuple[Drawn, ...]:
        return (Arrow(CLIENTS, CONTROLLER, f"{self.replica} first"),)

    def draw_cancel_reassignment(self) -> tuple[Drawn, ...]:
        return (Arrow(CLIENTS, CONTROLLER, "cancel"),)

    def draw_consume(self) -> tuple[Drawn, ...]:
        at = self.before["consumer"]["position"]
        record = self.after["consumer"]["got"][at]
        return (Arrow(CLIENTS, self.replica, f"read at {at}"), Arrow(self.replica, CLIENTS, record, reply=True))

    def draw_consume_beyond(self) -> tuple[Drawn, ...]:
        at = self.before["consumer"]["position"]
        both = " ".join(self.after["consumer"]["got"][at : at + 2])
        return (Arrow(CLIENTS, self.replica, f"read at {at}"), Arrow(self.replica, CLIENTS, both, reply=True))

    def draw_validate_position(self) -> tuple[Drawn, ...]:
        answer = f"position {self.after['consumer']['position']}"
        return (Arrow(CLIENTS, self.leader, "epoch end?"), Arrow(self.leader, CLIENTS, answer, reply=True))

    def draw_reset_position(self) -> tuple[Drawn, ...]:
        return (Arrow(self.leader, CLIENTS, f"reset to {self.after['consumer']['position']}", reply=True),)


def _isr(members: list[str]) -> str:
    return f"ISR {' '.join(members) or 'empty'}"
