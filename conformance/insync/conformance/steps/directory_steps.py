"""Directories of brokers: how those that fail, and logs that move between two, are taken on Kafka's classes.

Each broker has two, and the controller knows in which one a log is (KIP-858). In the model a request for that and its
answer are one step. Here they wait for what may come between: the metadata that the request brings about may reach a
broker before the answer does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from insync.conformance.classes.observation import ControllerSeen, DirectorySeen
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.directory_gaps import (
    require_change_of_directory_alone,
    require_same_elr,
    waits_for_directory,
    would_be_late,
)
from insync.conformance.steps.known_reasons import (
    ASKS_ONCE_MORE,
    CONFIGURATION_FIRST,
    COPY_BEFORE_LOG,
    COPY_OUTLIVES,
    DROPPED_COPY_NAMES,
    LAST_DIRECTORY,
    LOG_BEFORE_COPY,
    MAKES_LATE,
    NEWEST_ALONE,
    NO_OTHER_DIRECTORY,
    NOT_OPENED,
    NOTHING_TO_TELL,
    REPLICA_NO_MORE,
    SILENT,
    STOP_COUNTS,
    TELLS_AFTER_FAILURE,
    TELLS_OF_FAILURE,
)
from insync.conformance.steps.likeness import broker_id
from insync.conformance.steps.unassigned_gaps import (
    named_late,
    require_late_name_applied,
    require_named_before,
    require_nobody_named_by_it,
    require_same_list,
)
from insync.kafka.cluster.broker_state import is_astray, is_elsewhere, is_offline, unassigned_in
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["OF_DIRECTORIES", "DirectorySteps"]

_ONE_DIRECTORY = "the brokers of the harness have one directory here, as nothing of the model is about directories"
_ROUNDS = 6
"""The most rounds of a copying thread within a step: to ask the controller, and to take the copy's place."""


class DirectorySteps:
    """Takes the steps about directories.

    Args:
        kafka: what takes the commands.
        model: the model.
        ends: the places in the metadata log of the model's changes, the newest last, as they are at any time.

    Attributes:
        count: how many directories each broker has.
        minimum: min.insync.replicas as it is now.
    """

    def __init__(self, kafka: Commands, model: Cluster, ends: Sequence[int]) -> None:
        self._kafka, self._model, self._ends = kafka, model, ends
        self.count = 2 if model.b.log_dir_failures or model.b.log_dir_moves else 1
        self.minimum: int = model.b.min_insync_replicas
        self._alone: set[str] = set()  # brokers with one directory: the other was taken out, or failed before a start
        self._moving: set[int] = set()  # those who have had a copy since their start that has not replaced the log
        self._accepted: dict[int, int] = {}  # up to where the controller has written that it accepts a copy
        self._late: set[int] = set()  # who has still to name a directory that the model's controller knows
        self._named_late = -1  # where the metadata log ended when one of them had named it
        self._unnoted: set[str] = set()  # those stopped cleanly, whose directory with the log does not say so

    def fail(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the directory with the log fail; the broker will tell of it, or not, as the model's."""
        number = self._broker(given)
        self._require_another(given["replica"], "it ends with it")
        broker = before["broker"][given["replica"]]
        if self._seen(number).to_assign == "log" and waits_for_directory(broker) and is_elsewhere(broker):
            message = (
                f"{given['replica']} has learned with a later change where its log is to be, and tells where it is, "
                "though that directory fails; in the model it has not learned yet, and then does not tell"
            )
            raise NotSchedulable(message, TELLS_AFTER_FAILURE)
        self._hear_answer(number)
        self._kafka.give("fail_directory", broker=number)
        told, tells = self._model.rules.failed_directory_is_told, self._seen(number).tells
        if told and not tells:
            what = f"whether {given['replica']} tells that its directory has failed"
            raise Unlike(what, "it does", "it does not")
        if tells and not told:
            message = (
                f"{given['replica']} tells the controller that its directory has failed, and in the model it is the "
                "other way round; until the controller learns nothing differs"
            )
            raise NotSchedulable(message, TELLS_OF_FAILURE)

    def fail_copy(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the directory of a copy fail; the log stays, and the broker may tell where it is."""
        number = self._broker(given)
        self._hear_answer(number)
        self._kafka.give("fail_directory_of_copy", broker=number)

    def report(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the controller have a heartbeat that tells of the failed directory."""
        number, broker = self._broker(given), before["broker"][given["replica"]]
        if self._seen(number).to_assign == "log" and not is_astray(broker) and would_be_late(before):
            message = (
                f"{given['replica']} tells the controller first in which directory its log was, which makes the "
                "AlterPartition late that is on its way, or comes next; in the model that is no change of the partition"
            )
            raise NotSchedulable(message, MAKES_LATE)
        self._kafka.give("report_directory", broker=number)

    def repair(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the failed directory be there at the next start, without the note of a clean stop before that."""
        self._kafka.give("repair_directory", broker=self._broker(given))
        if before["broker"][given["replica"]].get("clean_shutdown"):
            self._unnoted.add(given["replica"])

    def lose(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let an operator take the directory with the log out of log.dirs, while the broker is down."""
        self._require_another(given["replica"], "it cannot start without it")
        if given["replica"] in self._unnoted:
            message = (
                f"{given['replica']} was stopped cleanly, which is noted in all directories but the one that is taken "
                "out, so that it counts; in the model it does not any more once that works again"
            )
            raise NotSchedulable(message, STOP_COUNTS)
        self._kafka.give("take_out_directory", broker=self._broker(given))
        self._alone.add(given["replica"])

    def _require_another(self, replica: str, so: str) -> None:
        """Refuse to take a broker its last directory; `so` is what would follow."""
        if replica in self._alone:
            message = f"{replica} has one directory left, as the other was taken out or failed: {so}"
            raise NotSchedulable(message, LAST_DIRECTORY)

    def name(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the controller learn where a log is that began anew, or whose copy was dropped; then comes the answer."""
        number = self._broker(given)
        self._hear_answer(number)
        known, tells = self._kafka.seen.controller, self._seen(number).to_assign
        what = f"what {given['replica']} has to tell of its directory"
        if tells is None and number in (*known.elsewhere, *known.without_directory):
            raise Unlike(what, "where its log is", "nothing")
        if tells == "copy" and before["broker"][given["replica"]].get("future_leo") is None:
            raise Unlike(what, "where its log is", "where a copy of it is")
        if tells != "log":
            message = f"{given['replica']} has told the controller of its log, or of something newer"
            raise NotSchedulable(message, NOTHING_TO_TELL)
        self._require_that_it_tells(number)
        self._kafka.give_accepted("the controller's answer about a directory", "assign_directory", broker=number)
        self._kafka.give("hear_directory", broker=number)

    def start_move(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let an operator move a log to the other directory."""
        if given["replica"] in self._alone:
            message = f"{given['replica']} has one directory left, as the other was taken out or failed"
            raise NotSchedulable(message, NO_OTHER_DIRECTORY)
        what = f"the answer to the move of {given['replica']}"
        self._kafka.give_accepted(what, "move_to_directory", broker=self._broker(given))
        self._moving.add(self._broker(given))

    def cancel_move(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let an operator take a move back."""
        number = self._broker(given)
        self._hear_answer(number)
        what = f"the answer to the end of the move of {given['replica']}"
        self._kafka.give_accepted(what, "stay_in_directory", broker=number)

    def copy_record(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the copy get a record; if it may and has them all, it takes the place of the log at once."""
        number = self._broker(given)
        if self._seen(number).to_assign == "log":
            message = (
                f"{given['replica']} has to tell the controller where its log is before its copy has caught up, as "
                "only the newest of both is told"
            )
            raise NotSchedulable(message, COPY_BEFORE_LOG)
        self._kafka.give_accepted("the copying thread", "copy_to_directory", broker=number)
        self._note_swap(number)

    def accept_copy(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the controller learn of a copy that has caught up; the broker learns later that it agrees."""
        number = self._broker(given)
        self._ask(number)
        self._assign(number, clears=self._model.features.naming_clears_elr)
        self._accepted[number] = self._kafka.seen.controller.end

    def hear(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let a broker learn by its metadata in which directory its log is to be, then of the answer, and answer.

        A leader that knows the newest change by a response learns of it by metadata later. Of a log that is taken to
        be where a copy was whose directory has failed, the controller learns later (`name`).
        """
        number, broker = self._broker(given), before["broker"][given["replica"]]
        if broker.get("configs_behind"):
            message = f"{given['replica']} has configuration to learn of first"
            raise NotSchedulable(message, CONFIGURATION_FIRST)
        end = self._ends[-2] if broker.get("isr_from_response") else self._kafka.seen.controller.end
        applied = self._kafka.broker(number).applied >= end
        if self._seen(number).to_assign == "elsewhere" or (
            self._seen(number).to_assign == "copy" and is_elsewhere(broker) and applied
        ):
            message = f"{given['replica']} has something newer to tell of its directories than what it learned first"
            raise NotSchedulable(message, NEWEST_ALONE)
        if not applied:
            self._kafka.give("apply", broker=number, to=end)
        self._hear_answer(number)
        if self._seen(number).to_assign == "log" and self._is_replica(number) and not is_astray(broker):
            self._tell(number, clears=self._model.features.naming_clears_elr and is_elsewhere(broker))

    def swap(self, given: Mapping[str, str], before: ReadableState) -> None:
        """Let the copy take the place of the log, once the broker has learned that the controller has accepted it.

        Where the model's controller knows of no directories, Kafka's is told of the copy within this step.
        """
        number = self._broker(given)
        if not self._model.features.directories_are_assigned and would_be_late(before):
            message = "a directory that is named makes the AlterPartition late that is on its way, or comes next"
            raise NotSchedulable(message, MAKES_LATE)
        if not self._is_replica(number):
            message = f"the controller takes no directory of {given['replica']}, which is a replica no more"
            raise NotSchedulable(message, REPLICA_NO_MORE)
        for _ in range(_ROUNDS):
            self._hear_answer(number)
            seen = self._seen(number)
            if seen.copied is None:
                return
            if seen.to_assign != "copy":
                self._kafka.give("copy_to_directory", broker=number)
                self._note_swap(number)
            elif not self._model.features.directories_are_assigned:
                self._assign(number, clears=self._model.features.naming_clears_elr)
            elif number in self._kafka.seen.controller.elsewhere:
                self._assign(number)
            else:
                break
        seen, heard = self._seen(number), self._kafka.broker(number).applied
        if seen.to_assign != "copy" or heard <= self._accepted.get(number, heard):
            what = f"what becomes of the copy of {given['replica']}"
            raise Unlike(what, "it takes the place of the log", "it does not")
        message = (
            f"what {given['replica']} has learned of the partition makes it ask the controller once more before its "
            "copy takes the place of the log"
        )
        raise NotSchedulable(message, ASKS_ONCE_MORE)

    # ------------------------------------------------------------------------------------------- after each step

    def changes_partition(self, action: str, before: ReadableState, after: ReadableState) -> bool:
        """Return whether what a step tells the controller of a directory is a change of the model's partition."""
        one_with_it = action == "swap_log" and not self._model.features.directories_are_assigned
        return not one_with_it or before["controller"].get("elr") != after["controller"].get("elr")

    def require_told(self, action: str, given: Mapping[str, str], before: ReadableState) -> None:
        """Refuse that a broker goes down which has still to name a directory that the model's has named."""
        if self._model.features.leaves_unassigned and action in ("crash", "stop"):
            require_named_before(given["replica"], before, self._kafka.seen)

    def require_same_list(
        self, action: str, given: Mapping[str, str], before: ReadableState, after: ReadableState, was: ControllerSeen
    ) -> None:
        """Refuse a change by which a directory is listed anew in Kafka's order of replicas alone, or in the model's."""
        now = self._kafka.seen.controller
        if (
            self._model.features.leaves_unassigned
            and not self._model.features.can_reorder
            and now.partition_epoch != was.partition_epoch
        ):
            require_same_list(action, given, before, after, (was, now))

    def note_start(self, replica: str, before: ReadableState, after: ReadableState) -> None:
        """Forget what the directories of a broker say of the stop before its start; a failed one may be left behind."""
        if is_offline(before["broker"][replica]) and not is_offline(after["broker"][replica]):
            self._alone.add(replica)
        self._unnoted.discard(replica)
        self._moving.discard(broker_id(replica))
        self._late.discard(broker_id(replica))

    def end_former_copy(self, replica: str, after: ReadableState) -> None:
        """Take back a move that goes on after a start, which the model's does not.

        Raises:
            NotSchedulable: the directory of the log is gone, so that nobody copies, and the copy is still there.
        """
        number, seen = broker_id(replica), self._kafka.broker(broker_id(replica)).directory
        if seen is None or after["broker"][replica].get("future_leo") is not None:
            return
        if seen.promotion is not None:
            self._kafka.give("stay_in_directory", broker=number)
            self._moving.add(number)
        if self._seen(number).copied is not None and replica in self._alone:
            message = (
                f"the directory of {replica}'s log is gone, and a copy of it is left in the other, which nobody wants"
            )
            raise NotSchedulable(message, COPY_OUTLIVES)

    def require_log_that_is_opened(self, replica: str, before: ReadableState, after: ReadableState) -> None:
        """Refuse a start while the controller takes the log to be in the other directory, which has failed.

        Raises:
            NotSchedulable: it is so.
        """
        starts = not before["broker"][replica]["running"]
        if starts and is_astray(after["broker"][replica]) and self._is_replica(broker_id(replica)):
            message = (
                f"{replica} does not open its log at the start, as metadata has it in the other directory, which has "
                "failed; in the model it does"
            )
            raise NotSchedulable(message, NOT_OPENED)

    def tell_where_log_is(self, after: ReadableState) -> bool:
        """Let the controller learn where a log is after a start or a copy that was dropped, if that makes nothing late.

        In the model that is one with the step that brings it about, and no change of the partition.

        Returns:
            whether it has learned anything.

        Raises:
            NotSchedulable: it makes something late, and the model's controller has acted on it; or it is of a copy that
                was dropped, and the model's controller goes on without it.
        """
        self._require_no_name_with_copy(after)
        if would_be_late(after):
            require_same_elr(after, self._kafka.seen)
            require_nobody_named_by_it(after, self._kafka.seen)
            self._late |= named_late(after, self._kafka.seen)
            return False
        require_late_name_applied(after, self._kafka.seen, self._named_late)
        told = False
        for name, broker in after["broker"].items():
            seen = self._kafka.broker(broker_id(name)).directory
            answers = is_elsewhere(broker) and waits_for_directory(broker)
            answers = answers or broker.get("to_assign", False)
            if seen is not None and seen.to_assign == "log" and not answers and self._is_replica(broker_id(name)):
                late = broker_id(name) in self._kafka.seen.controller.unassigned and after["controller"].get("elr")
                self._tell(broker_id(name), late=bool(late))
                if broker_id(name) in self._late:
                    self._late.remove(broker_id(name))
                    self._named_late = self._kafka.seen.controller.end
                told = True
        return told

    def _require_no_name_with_copy(self, after: ReadableState) -> None:
        for name in unassigned_in(after):
            if self._is_told_once_more(broker_id(name)):
                message = f"{name} tells where its log is as it drops a copy of which it has told; the model's does not"
                raise NotSchedulable(message, DROPPED_COPY_NAMES)

    def _tell(self, number: int, *, clears: bool = False, late: bool = False) -> None:
        """Let the controller learn what a broker has to tell, and the broker the answer; late is after a later step."""
        self._assign(number, clears=clears, late=late)
        self._kafka.give("hear_directory", broker=number)

    def _assign(self, number: int, *, clears: bool = False, late: bool = False) -> None:
        """Let the controller learn where a broker has its replica; in the model it may forget the ELR by that."""
        self._require_that_it_tells(number)
        was, unnamed = self._kafka.seen.controller, not clears and (late or self._names_again(number))
        self._kafka.give_accepted("the controller's answer about a directory", "assign_directory", broker=number)
        now, rules = self._kafka.seen.controller, self._model.rules
        minimum = min(self.minimum, self._model.b.partition_zero_replicas or len(was.replicas))
        require_change_of_directory_alone(
            number, was, now, rules, elr=self._model.features.elr, minimum=minimum, unnamed=unnamed
        )

    def _require_that_it_tells(self, number: int) -> None:
        if self._seen(number).silent:
            message = (
                f"b{number} tells nothing of its directories any more, as it has thrown at an answer about a copy that "
                "was gone; it does so again when it has started anew"
            )
            raise NotSchedulable(message, SILENT)

    def _names_again(self, number: int) -> bool:
        """Whether a broker is to name what the controller knows: it has dropped a copy, or asks for one once more."""
        asks_again = self._seen(number).to_assign == "copy" and number in self._kafka.seen.controller.elsewhere
        return self._is_told_once_more(number) or asks_again

    def _is_told_once_more(self, number: int) -> bool:
        """Whether a broker is to tell where its log is as it has dropped a copy that was not accepted."""
        seen, is_elsewhere = self._kafka.broker(number).directory, number in self._kafka.seen.controller.elsewhere
        if seen is None or seen.to_assign != "log" or is_elsewhere or number not in self._moving:
            return False
        return seen.copied is None or seen.offline

    def _note_swap(self, number: int) -> None:
        """Note whether a copy has taken the place of the log in the last round of the copying thread."""
        if self._seen(number).copied is None:
            self._moving.discard(number)

    def _ask(self, number: int) -> None:
        """Make a broker ask the controller for the directory of its copy, which has caught up."""
        self._hear_answer(number)
        if self._seen(number).to_assign == "log":
            message = f"b{number} has to tell the controller first where its log is"
            raise NotSchedulable(message, LOG_BEFORE_COPY)
        if self._seen(number).to_assign is None:
            self._kafka.give("copy_to_directory", broker=number)
            self._note_swap(number)

    def _hear_answer(self, number: int) -> None:
        if self._seen(number).assigned:
            self._kafka.give("hear_directory", broker=number)

    def _is_replica(self, number: int) -> bool:
        """Whether the controller has a broker as a replica; it refuses what others tell, until they learn of that."""
        return number in self._kafka.seen.controller.replicas

    def _broker(self, given: Mapping[str, str]) -> int:
        return broker_id(given["replica"])

    def _seen(self, number: int) -> DirectorySeen:
        seen = self._kafka.broker(number).directory
        if seen is None:
            raise NotSchedulable(_ONE_DIRECTORY)
        return seen


OF_DIRECTORIES: Mapping[str, Callable[[DirectorySteps, Mapping[str, str], ReadableState], None]] = {
    "fail_directory": DirectorySteps.fail,
    "fail_copy_directory": DirectorySteps.fail_copy,
    "report_directory": DirectorySteps.report,
    "repair_directory": DirectorySteps.repair,
    "lose_directory": DirectorySteps.lose,
    "start_move": DirectorySteps.start_move,
    "cancel_move": DirectorySteps.cancel_move,
    "name_directory": DirectorySteps.name,
    "copy_record": DirectorySteps.copy_record,
    "accept_copy": DirectorySteps.accept_copy,
    "hear_directory": DirectorySteps.hear,
    "swap_log": DirectorySteps.swap,
}
"""How each action is taken."""
