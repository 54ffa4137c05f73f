"""How a step of `cluster` is taken on Kafka's classes: the commands of each action.

Kafka does one thing by itself that the model has as a step: it asks for a larger ISR within the fetch that shows a
follower to have caught up. Everything else waits for a command. Metadata is handed to a broker as far as the model's
broker has it, and at once where that is up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from insync.conformance.classes.observation import LogSeen, Observation
from insync.conformance.classes.subject import Argument, Subject
from insync.conformance.correspondence.known_differences import Missing, NotSchedulable, Unlike
from insync.conformance.steps.checkpoint_steps import OF_CHECKPOINTS, CheckpointSteps
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.consumer_steps import OF_CONSUMER, ConsumerSteps
from insync.conformance.steps.deletion_gaps import require_same_answer
from insync.conformance.steps.directory_gaps import (
    require_epochs_of_copy,
    require_watermark_of_copy,
    require_watermarks,
    waits_for_directory,
    watermarks_of,
)
from insync.conformance.steps.directory_steps import OF_DIRECTORIES, DirectorySteps
from insync.conformance.steps.gaps import (
    require_more_than_order,
    require_no_epoch_of_deleted_records,
    require_one_change,
    require_unknown_directory,
)
from insync.conformance.steps.isr_requests import IsrRequests
from insync.conformance.steps.known_reasons import (
    ASKS_WITHIN_A_FETCH,
    MAY_NOT_JOIN,
    ORDER_DURING_REASSIGNMENT,
    OTHERS_ARE_SLOW,
)
from insync.conformance.steps.likeness import broker_id
from insync.conformance.steps.named_brokers import ids_in, in_order
from insync.conformance.steps.out_of_range import OutOfRange
from insync.conformance.steps.producer_steps import OF_PRODUCER, ProducerSteps
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import Never, words_of
from insync.model import ReadableState

__all__ = ["NotSchedulable", "Schedule", "Unlike"]

_LATER = 31_000
"""Milliseconds that every step takes: more than replica.lag.time.max.ms, so nobody is waited for outside the ISR."""
_MUCH_LATER = 61_000

_SERVED = ("NONE", "OFFSET_OUT_OF_RANGE")
"""What the leader answers to a fetch; after the second the follower asks where the log begins or ends, at once."""
_SESSION_IS_OVER = ("FETCH_SESSION_ID_NOT_FOUND", "INVALID_FETCH_SESSION_EPOCH")
"""What it answers where it has not got the session; the follower begins another one at once, as in the model."""


class Schedule:
    """Takes the steps of a model on Kafka's classes.

    Args:
        subject: who takes the commands.
        model: the model, whose settings Kafka gets.

    Attributes:
        order: the replicas in Kafka's order, in which it elects.
        registered: who may join an ISR by which metadata.
    """

    def __init__(self, subject: Subject, model: Cluster) -> None:
        without_log = model.features.directories_fail and not model.rules.register_leaves_isr
        self._kafka, self._model = Commands(subject, leads_without_log=without_log), model
        self.registered = self._kafka.registered
        self._ends: list[int] = []  # the places in the metadata log of the model's changes, the newest last
        self._requests = IsrRequests(self._kafka, model.in_force, self._ends)
        self._directories = DirectorySteps(self._kafka, model, self._ends)
        self._checkpoints, self._consumer = CheckpointSteps(self._kafka), ConsumerSteps(self._kafka)
        self._producer = ProducerSteps(self._kafka, model, _LATER)
        self.order: list[int] = []
        self._out_of_range = OutOfRange()
        self._deleted = False  # whether an operator was answered that the records are gone
        self._cleared: set[int] = set()  # those whom a change of the minimum took out of the ELR

    @property
    def seen(self) -> Observation:
        """Kafka's state after the last command."""
        return self._kafka.seen

    @property
    def acknowledged(self) -> set[str]:
        """The records that producers have had acknowledged so far."""
        return self._kafka.acknowledged

    @property
    def given(self) -> int:
        """How many commands the last step took; of one that is not schedulable, before that was clear."""
        return self._kafka.given

    def open(self) -> None:
        """Make a cluster with the settings of the model."""
        b = self._model.b
        configuration = {"min.insync.replicas": str(b.min_insync_replicas)}
        if b.settings.unclean_leader_election:
            configuration["unclean.leader.election.enable"] = "true"
        other: dict[str, Argument] = {"partition_zero": b.partition_zero_replicas} if b.partition_zero_replicas else {}
        if self._directories.count > 1:
            other["directories"] = self._directories.count
        if self._model.features.sessions:
            other["sessions"] = True
        if self._model.features.consumes:
            other["consumer"] = self._model.auto_offset_reset.value
        self._kafka.give(
            "open",
            brokers=b.replicas,
            replicas=list(range(1, b.replicas - b.spares + 1)),
            elr=self._model.features.elr,
            configuration=configuration,
            **other,
        )
        self._ends[:] = [self.seen.controller.end]
        self.order = list(self.seen.controller.replicas)

    def take(self, action: str, given: Mapping[str, str], before: ReadableState, after: ReadableState) -> None:
        """Take a step.

        Args:
            action: the name of its action.
            given: the parameters.
            before: the model's state before it.
            after: the model's state after it.

        Raises:
            NotSchedulable: it cannot be brought about.
            Unlike: Kafka refuses what the model accepts, or the other way round.
        """
        self._kafka.given = 0
        was = self.seen.controller
        self._directories.require_told(action, given, before)
        if action in ("apply_metadata", "load_snapshot"):
            self._out_of_range.require_fetcher(action, given, before, self.seen)
        if action in OF_DIRECTORIES:
            OF_DIRECTORIES[action](self._directories, given, before)
        elif action in OF_PRODUCER:
            self._producer.take(action, given, before)
        elif action in OF_CHECKPOINTS:
            self._checkpoints.take(action, given, before)
        elif action in OF_CONSUMER:
            self._consumer.take(action, given)
        elif action in _ACTIONS:
            _ACTIONS[action](self, given, before)
        else:
            how = words_of(type(self._model), action).classes
            if isinstance(how, Never) and how.reason:
                raise NotSchedulable(how.reason)
            message = f"the harness cannot do {action} yet"
            raise Missing(message)
        if not self._directories.changes_partition(action, before, after):
            self._ends[-1] = self.seen.controller.end  # in the model that is no change
        elif self.seen.controller.partition_epoch != was.partition_epoch or action == "change_minimum":
            self._ends.append(self.seen.controller.end)
        if after["registrations"][0].get("configuration") and action == "change_minimum":
            self._requests.note_configuration()
        self.order = [number for number in self.order if number in self.seen.controller.replicas]
        self._directories.require_same_list(action, given, before, after, was)
        self._settle(after)
        self._checkpoints.require_alike(action, given, after)
        if action == "delete_record":
            require_same_answer(given["leader"], after, self.seen, self.registered, answered=self._deleted)
        if action == "swap_log":
            require_epochs_of_copy(given["replica"], after, self._log(given))
        if action == "register":
            self._directories.note_start(given["replica"], before, after)
            self._directories.require_log_that_is_opened(given["replica"], before, after)
            self._directories.end_former_copy(given["replica"], after)
            require_watermark_of_copy(given["replica"], before, after, self._log(given))
            require_no_epoch_of_deleted_records(given["replica"], after, self.seen)

    def probe(self, command: str, **arguments: Argument) -> str:
        """Give a command that is no step, and return Kafka's answer, or the exception that it throws."""
        return self._kafka.probe(command, **arguments)

    def _settle(self, after: ReadableState) -> None:
        """Hand metadata to brokers that are up to date in the model, and responses to those who know their effect.

        What a broker tells then of its directories, and the model's has told already, the controller learns at once.
        """
        self._hand_metadata(after)
        while self._directories.count > 1 and self._directories.tell_where_log_is(after):
            self._ends[-1], known = self.seen.controller.end, watermarks_of(self.seen)
            self._hand_metadata(after)
            require_watermarks(known, self.seen)

    def _log(self, given: Mapping[str, str]) -> LogSeen | None:
        return self._kafka.broker(broker_id(given["replica"])).log

    def _hand_metadata(self, after: ReadableState) -> None:
        for name, broker in after["broker"].items():
            number = broker_id(name)
            seen = self._kafka.broker(number)
            hears = (
                broker["running"] and broker["image_lag"] == 0 and not broker.get("isr_from_response") and seen.running
            )
            if hears and not waits_for_directory(broker) and seen.applied < self.seen.controller.end:
                self._kafka.give("apply", broker=number, to=self.seen.controller.end)
            self._requests.hear_known(number)

    # ------------------------------------------------------------------------------------------ leaders and followers

    def _fetch(self, given: Mapping[str, str], before: ReadableState) -> None:
        follower, leader = broker_id(given["follower"]), broker_id(given["leader"])
        self._requests.forget_late(leader, before)
        if self._kafka.broker(follower).reply_waits:  # one that the model has dropped, as Kafka does when it arrives
            self._kafka.give("receive_fetch", broker=follower)
        command = "send_fetch" if self._model.features.late_fetch_responses else "fetch"
        answer = self._kafka.give(command, broker=follower, wait=_LATER)
        if answer.said in _SESSION_IS_OVER:
            if self._model.features.late_fetch_responses:
                self._kafka.give("receive_fetch", broker=follower)
            answer = self._kafka.give(command, broker=follower)
        if answer.said not in _SERVED:
            what = f"{given['follower']}'s fetch"
            raise Unlike(what, "NONE", answer.said)
        self._out_of_range.note(follower, leader, self.seen, refused=answer.said == _SERVED[1])

    def _evict_session(self, given: Mapping[str, str], before: ReadableState) -> None:
        """The leader's part; that the next fetch is refused comes with that fetch."""
        self._kafka.give_accepted("the eviction of a session", "evict_session", broker=broker_id(given["follower"]))

    def _lose_fetch_response(self, given: Mapping[str, str], before: ReadableState) -> None:
        follower, leader = broker_id(given["follower"]), broker_id(given["leader"])
        self._requests.forget_late(leader, before)
        if self._kafka.broker(follower).reply_waits:
            self._kafka.give("receive_fetch", broker=follower)
        answer = self._kafka.give("lose_fetch", broker=follower, wait=_LATER)
        if answer.said in _SESSION_IS_OVER:
            answer = self._kafka.give("lose_fetch", broker=follower)
        if answer.said not in _SERVED:
            what = f"{given['follower']}'s fetch"
            raise Unlike(what, "NONE", answer.said)

    def _receive(self, given: Mapping[str, str], before: ReadableState) -> None:
        follower = broker_id(given["follower"])
        self._out_of_range.receive(follower, self.seen)
        self._kafka.give("receive_fetch", broker=follower)

    def _receive_rewritten(self, given: Mapping[str, str], before: ReadableState) -> None:
        self._kafka.give("receive_fetch", broker=broker_id(given["follower"]), rewritten=True)

    def _expand(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Kafka's leader asks within a fetch alone, and then this step has been taken already (see `replay`)."""
        leader, follower = given["leader"], given["follower"]
        if not self.registered.may_join(broker_id(follower), self._kafka.broker(broker_id(leader)).applied):
            message = (
                f"by the metadata of {leader} {follower} is fenced, stopping or another incarnation, "
                "so Kafka's leader does not ask; in the model it asks, and the controller refuses"
            )
            raise NotSchedulable(message, MAY_NOT_JOIN)
        message = f"Kafka's leader asks for {follower} within a fetch of {follower} alone, and none has made it ask"
        raise NotSchedulable(message, ASKS_WITHIN_A_FETCH)

    def _shrink(self, given: Mapping[str, str], before: ReadableState) -> None:
        leader, wanted = broker_id(given["leader"]), ids_in(given.get("follower") or given["followers"])
        seen = self._kafka.broker(leader)
        if seen.leading is not None and seen.log is not None:
            end = seen.log.end
            slow = [n for n in seen.leading.isr if n != leader and seen.leading.known[n].end != end]
            if set(slow) > set(wanted):
                them = " and ".join(f"b{number}" for number in slow)
                message = f"Kafka would take {them} out of the ISR at once, as all of them are slow"
                raise NotSchedulable(message, OTHERS_ARE_SLOW)
        self._requests.forget_late(leader, before)
        self._kafka.give("shrink", broker=leader, wait=_MUCH_LATER)

    def _delete(self, given: Mapping[str, str], before: ReadableState) -> None:
        leader, below = broker_id(given["leader"]), before["broker"][given["leader"]]["log_start"] + 1
        self._deleted = below <= int(self._kafka.give("delete_records", broker=leader, below=below).said)

    # ------------------------------------------------------------------------------------------------- the controller

    def _give_replica(self, command: str, given: Mapping[str, str]) -> None:
        self._kafka.give(command, broker=broker_id(given["replica"]))

    def _elect(self, given: Mapping[str, str], before: ReadableState) -> None:
        answer = self._kafka.give("elect", broker=broker_id(given["replica"]))
        if answer.said == "REASSIGNMENT_IN_PROGRESS" and (self.seen.controller.adding or self.seen.controller.removing):
            raise NotSchedulable(ORDER_DURING_REASSIGNMENT.name, ORDER_DURING_REASSIGNMENT)
        if answer.said != "NONE":
            what = f"the answer to the election of {given['replica']}"
            raise Unlike(what, "NONE", answer.said)

    def _reassign(self, given: Mapping[str, str], before: ReadableState) -> None:
        target, was = in_order(ids_in(given["target"]), before), self.seen.controller
        self._kafka.give_accepted("the answer to the reassignment", "reassign", replicas=target)
        if not self._model.b.replica_order_changes:
            require_more_than_order(was, self.seen.controller)
        if self._model.features.leaves_unassigned:
            require_unknown_directory(was, self.seen.controller)
        self.order = [*target, *(number for number in self.order if number not in target)]

    def _reorder(self, given: Mapping[str, str], before: ReadableState) -> None:
        first = broker_id(given["replica"])
        others = [number for number in self.seen.controller.order if number != first]
        self._kafka.give_accepted("the answer to another order", "reassign", replicas=[first, *others])

    def _cancel(self, given: Mapping[str, str], before: ReadableState) -> None:
        self._kafka.give_accepted("the answer to the cancellation", "cancel_reassignment")

    def _change_minimum(self, given: Mapping[str, str], before: ReadableState) -> None:
        back = before["controller"]["minimum_is_one"]
        eligible, value = set(self.seen.controller.elr), self._model.b.min_insync_replicas if back else 1
        what = "the answer to the change of min.insync.replicas"
        self._kafka.give_accepted(what, "configure", name="min.insync.replicas", value=str(value))
        self._directories.minimum = value
        self._cleared |= eligible - set(self.seen.controller.elr)

    # -------------------------------------------------------------------------------------------------------- brokers

    def _apply(self, given: Mapping[str, str], before: ReadableState) -> None:
        number, broker = broker_id(given["replica"]), before["broker"][given["replica"]]
        knows = broker.get("isr_from_response")  # then Kafka's has that metadata already
        if waits_for_directory(broker) and not knows:
            end = self._ends[-1 - broker["image_lag"]]
            if self._kafka.broker(number).applied < end:
                self._kafka.give("apply", broker=number, to=end)
        self._give_metadata("apply", given)

    def _give_metadata(self, command: str, given: Mapping[str, str]) -> None:
        number, place = broker_id(given["replica"]), int(given["place"])
        end = self._ends[-1 - place] if place else self.seen.controller.end
        self._kafka.give(command, broker=number, to=end, wait=_LATER)
        self._requests.hear_known(number)

    def _pause(self, given: Mapping[str, str], before: ReadableState) -> None:
        """A follower that waits does not ask; here nobody asks but by a command, so there is nothing to do."""

    def _receive_alter_partition_response(self, given: Mapping[str, str], before: ReadableState) -> None:
        self._requests.receive(broker_id(given["leader"]), wait=_LATER)

    def _apply_repeated_metadata(self, given: Mapping[str, str], before: ReadableState) -> None:
        self._apply({"replica": given["leader"], "place": str(before["broker"][given["leader"]]["image_lag"])}, before)

    def _crash(self, given: Mapping[str, str], before: ReadableState) -> None:
        number = broker_id(given["replica"])
        self._kafka.give("crash", broker=number, spared=int(given["spared"]))
        self._requests.drop(number)

    def _begin_stop(self, given: Mapping[str, str], before: ReadableState) -> None:
        self._kafka.give("start_controlled_shutdown", broker=broker_id(given["replica"]))

    def _stop(self, given: Mapping[str, str], before: ReadableState) -> None:
        number = broker_id(given["replica"])
        self._kafka.give("stop", broker=number)
        self._kafka.give("fence", broker=number)
        self._requests.drop(number)

    def _register(self, given: Mapping[str, str], before: ReadableState) -> None:
        number, was = broker_id(given["replica"]), self.seen.controller
        self._kafka.give("register", broker=number, wait=_MUCH_LATER)
        if number in self._cleared:
            require_one_change(number, was, self.seen.controller)


_ACTIONS: dict[str, Callable[[Schedule, Mapping[str, str], ReadableState], None]] = {
    "fetch": Schedule._fetch,
    "receive": Schedule._receive,
    "receive_rewritten": Schedule._receive_rewritten,
    "evict_session": Schedule._evict_session,
    "lose_fetch_response": Schedule._lose_fetch_response,
    "expand_isr": Schedule._expand,
    "shrink_isr": Schedule._shrink,
    "shrink_isr_by_several": Schedule._shrink,
    "receive_alter_partition_response": Schedule._receive_alter_partition_response,
    "pause_fetching": Schedule._pause,
    "resume_fetching": Schedule._pause,
    "apply_repeated_metadata": Schedule._apply_repeated_metadata,
    "apply_known_configuration": lambda schedule, given, before: schedule._requests.hear_configuration(given),
    "accept_alter_partition": lambda schedule, given, before: schedule._requests.accept(before),
    "lose_alter_partition_response": lambda schedule, given, before: schedule._requests.accept_unheard(before),
    "repeat_alter_partition": lambda schedule, given, before: schedule._requests.get_again(before),
    "reject_alter_partition": lambda schedule, given, before: schedule._requests.refuse(before),
    "fence": lambda schedule, given, before: schedule._give_replica("fence", given),
    "unfence": lambda schedule, given, before: schedule._give_replica("unfence", given),
    "elect": Schedule._elect,
    "apply_metadata": Schedule._apply,
    "load_snapshot": lambda schedule, given, before: schedule._give_metadata("load_snapshot", given),
    "reassign": Schedule._reassign,
    "cancel_reassignment": Schedule._cancel,
    "reorder": Schedule._reorder,
    "change_minimum": Schedule._change_minimum,
    "delete_record": Schedule._delete,
    "flush": lambda schedule, given, before: schedule._give_replica("flush", given),
    "crash": Schedule._crash,
    "begin_stop": Schedule._begin_stop,
    "stop": Schedule._stop,
    "register": Schedule._register,
}
