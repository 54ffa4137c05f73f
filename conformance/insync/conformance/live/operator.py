"""What operators and clients ask a cluster: topics, elections, reassignments, records."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from insync.conformance.live.broker_files import has_replica, log_on_disk
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.metadata_log import BrokerAt, Decision, PartitionAt, decisions, records_on_disk
from insync.conformance.live.nodes.node_files import CONTROLLER, folder_id
from insync.conformance.live.wire.connection import Connection
from insync.conformance.live.wire.message_schemas import Message
from insync.conformance.live.wire.record_batches import batches, made_batch
from insync.runtime.errors import UserError

__all__ = ["Called", "Operator", "Sending"]

_PRODUCE, _FETCH, _METADATA = 9, 11, 8
_EXISTS = 36
_PREFERRED, _UNCLEAN = 0, 1
_TOPIC, _BROKER, _SET = 2, 4, 0
_THROTTLE = "replica.alter.log.dirs.io.max.bytes.per.second"
_LONG = 60_000


@dataclass(frozen=True, slots=True)
class Called:
    """What an operator or a client has done, and when.

    Attributes:
        moment: the time, in seconds since 1970.
        what: `send`, `acknowledged`, `refused`, `kill`, `stop`, `start`, `pause`, `resume`,
            `lose` (its directory with the log), `move` (that to another directory), `fail` (a directory, as it runs).
        broker: the broker that it was done to.
        record: of what clients do, the record.
        error: the number of the error with which a record was refused.
    """

    moment: float
    what: str
    broker: int
    record: str = ""
    error: int = 0


class Sending:
    """A record on its way to a leader, which may take long to answer.

    Attributes:
        record: the record.
        error: what was answered, 0 if the record is acknowledged; None until somebody has waited for it.
    """

    def __init__(self, connection: Connection, broker: int, record: str, note: Callable[..., None]) -> None:
        self._connection, self._broker, self.record, self._note = connection, broker, record, note
        self.error: int | None = None

    def is_answered(self) -> bool:
        """Whether there is an answer, for which nobody has to wait."""
        return self._connection.is_answered()

    def wait(self) -> int:
        """Wait for the answer, and return its error: 0 if the record is acknowledged."""
        with self._connection:
            told = self._connection.receive()["Responses"][0]["PartitionResponses"][0]
        error: int = told["ErrorCode"]
        self._note("refused" if error else "acknowledged", self._broker, self.record, error)
        self.error = error
        return error

    def give_up(self) -> None:
        """Wait for no answer any more."""
        self._connection.close()


class Operator:
    """Does things to one partition of a topic, and notes them.

    Args:
        cluster: the cluster.
        topic: the name of the topic.
        partition: the number of the partition; those below it are made with the same replicas, and are left alone.
    """

    def __init__(self, cluster: LiveCluster, topic: str = "t", partition: int = 0) -> None:
        self.cluster, self.topic, self.partition = cluster, topic, partition
        self.called: list[Called] = []
        self._paused: set[int] = set()

    def _note(self, what: str, broker: int, record: str = "", error: int = 0) -> None:
        self.called.append(Called(time.time(), what, broker, record, error))

    # ------------------------------------------------------------------------------------------------------ the topic

    def create(self, replicas: Sequence[int], min_insync: int, **configs: str) -> None:
        """Make the topic, and wait until its first replica leads and all have a log."""
        settings = {"min.insync.replicas": str(min_insync), **{k.replace("_", "."): v for k, v in configs.items()}}
        numbers = range(self.partition + 1)
        assignment = [{"PartitionIndex": number, "BrokerIds": list(replicas)} for number in numbers]
        asked = {
            "Name": self.topic,
            "NumPartitions": -1,
            "ReplicationFactor": -1,
            "Assignments": assignment,
            "Configs": [{"Name": name, "Value": value} for name, value in settings.items()],
        }

        def made() -> bool:
            told = self._ask("CreateTopics", {"Topics": [asked], "timeoutMs": _LONG})
            return told["Topics"][0]["ErrorCode"] in (0, _EXISTS)

        self.cluster.until(made, f"the topic {self.topic}")
        self.cluster.until(lambda: self.now.leader == replicas[0], f"that broker {replicas[0]} leads")
        self.cluster.until(lambda: all(self.has_log(broker) for broker in replicas), "the logs of the topic")
        self.cluster.until(lambda: self.high_watermark(replicas[0]) == 0, f"that broker {replicas[0]} serves")

    def create_beside(self, topic: str, broker: int, partitions: int) -> None:
        """Make another topic, of many partitions on one broker, and do not wait for their logs."""
        assignment = [{"PartitionIndex": number, "BrokerIds": [broker]} for number in range(partitions)]
        asked = {"Name": topic, "NumPartitions": -1, "ReplicationFactor": -1, "Assignments": assignment, "Configs": []}
        told = self._ask("CreateTopics", {"Topics": [asked], "timeoutMs": _LONG})["Topics"][0]
        if told["ErrorCode"]:
            message = f"the topic {topic} is refused with error {told['ErrorCode']}. Run the scenario again."
            raise UserError(message)

    def reassign(self, replicas: Sequence[int]) -> None:
        """Have other replicas, or the same ones in another order: ask until that is accepted."""
        self.cluster.until(lambda: self.ask_reassignment(replicas) == 0, f"a reassignment to {list(replicas)}")

    def ask_reassignment(self, replicas: Sequence[int]) -> int:
        """Ask for other replicas once, and return the error: 0 if it is accepted."""
        partition = {"PartitionIndex": self.partition, "Replicas": list(replicas)}
        body = {"TimeoutMs": _LONG, "Topics": [{"Name": self.topic, "Partitions": [partition]}]}
        told = self._ask("AlterPartitionReassignments", body, 0)
        errors = [part["ErrorCode"] for topic in told["Responses"] for part in topic["Partitions"]]
        return next((error for error in [told["ErrorCode"], *errors] if error), 0)

    def prefer(self, broker: int) -> None:
        """Make a broker the preferred leader, have the preferred leader elected, and put the order back."""
        replicas = list(self.now.replicas)
        self.reassign([broker, *(one for one in replicas if one != broker)])
        self._elect(_PREFERRED)
        self.cluster.until(lambda: self.now.leader == broker, f"the election of broker {broker}")
        self.reassign(replicas)

    def elect_uncleanly(self) -> None:
        """Request one unclean election."""
        self._elect(_UNCLEAN)

    def _elect(self, kind: int) -> None:
        asked = {"Topic": self.topic, "Partitions": [self.partition]}
        self._ask("ElectLeaders", {"ElectionType": kind, "TopicPartitions": [asked], "TimeoutMs": 1000})

    def configure(self, name: str, value: str) -> None:
        """Set a property of the topic."""
        self._configure(_TOPIC, self.topic, name, value)

    def throttle(self, broker: int, rate: int) -> None:
        """Let a broker copy logs from directory to directory at this rate at most, in bytes a second."""
        self._configure(_BROKER, str(broker), _THROTTLE, str(rate), broker)

    def _configure(self, kind: int, of: str, name: str, value: str, broker: int | None = None) -> None:
        change = {"Name": name, "ConfigOperation": _SET, "Value": value}
        resource = {"ResourceType": kind, "ResourceName": of, "Configs": [change]}

        def accepted() -> bool:
            told = self._ask("IncrementalAlterConfigs", {"Resources": [resource], "ValidateOnly": False}, broker=broker)
            return all(one["ErrorCode"] == 0 for one in told["Responses"])

        self.cluster.until(accepted, f"that {name} is {value}")

    def move(self, broker: int, directory: Path) -> None:
        """Have a broker move its log to another one of its directories."""
        topic = {"Name": self.topic, "Partitions": [self.partition]}
        body = {"Dirs": [{"Path": str(directory), "Topics": [topic]}]}

        def accepted() -> bool:
            told = self._ask("AlterReplicaLogDirs", body, broker=broker)
            return all(part["ErrorCode"] == 0 for one in told["Results"] for part in one["Partitions"])

        self.cluster.until(accepted, f"a move to {directory}")
        self._note("move", broker)

    def _ask(self, name: str, body: Message, version: int | None = None, broker: int | None = None) -> Message:
        """Ask a broker, any one if none is given, which passes on to the controller what it has to."""
        asked = broker or next(one for one in reversed(self.cluster.running) if one not in self._paused)
        with self.cluster.connect(asked, 30.0) as connection:
            return connection.call(name, body, version)

    # ---------------------------------------------------------------------------------------------------------- nodes

    def kill(self, broker: int) -> None:
        """Kill a broker; what it has written stays."""
        self._note("kill", broker)
        self.cluster.kill(broker)

    def stop(self, broker: int) -> None:
        """Have a broker stop in order."""
        self.cluster.stop(broker)
        self._note("stop", broker)

    def start(self, broker: int) -> None:
        """Start a broker again."""
        self._note("start", broker)
        self.cluster.start(broker)

    def take_out(self, broker: int, directory: Path) -> None:
        """Take the directory with the log out of log.dirs of a broker that does not run."""
        self._note("lose", broker)
        self.cluster.take_out_disk(broker, directory)

    def fail(self, broker: int, directory: Path) -> str:
        """Have a directory of a broker that runs fail: nothing can be opened in it, as if its disk were unmounted.

        Returns:
            The id of the directory.
        """
        failed = folder_id(directory)
        self._note("fail", broker)
        directory.rename(directory.with_name(f"{directory.name}-failed"))
        return failed

    def pause(self, broker: int) -> None:
        """Let a broker do nothing until it is told to go on."""
        self._note("pause", broker)
        self._paused.add(broker)
        self.cluster.pause(broker)

    def resume(self, broker: int) -> None:
        """Let a broker go on."""
        self._note("resume", broker)
        self._paused.discard(broker)
        self.cluster.resume(broker)

    # -------------------------------------------------------------------------------------------------------- clients

    def send(self, broker: int, record: str, acks: int = -1) -> Sending:
        """Send a record to a leader, and do not wait for the answer."""
        connection = self.cluster.connect(broker, 2 * _LONG / 1000)
        batch = made_batch([record.encode()], int(time.time() * 1000))
        partition = {"Index": self.partition, "Records": batch}
        self._note("send", broker, record)
        connection.send(
            "Produce",
            {
                "TransactionalId": None,
                "Acks": acks,
                "TimeoutMs": _LONG,
                "TopicData": [{"Name": self.topic, "PartitionData": [partition]}],
            },
            _PRODUCE,
        )
        return Sending(connection, broker, record, self._note)

    def produce(self, broker: int, record: str, acks: int = -1) -> int:
        """Send a record and wait for the answer; return its error."""
        return self.send(broker, record, acks).wait()

    def read(self, broker: int) -> Mapping[str, Any]:
        """Return what a broker answers to a consumer at the beginning of the log."""
        partition = {
            "Partition": self.partition,
            "CurrentLeaderEpoch": -1,
            "FetchOffset": 0,
            "LogStartOffset": -1,
            "PartitionMaxBytes": 1 << 20,
        }
        body = {
            "ReplicaId": -1,
            "MaxWaitMs": 0,
            "MinBytes": 0,
            "MaxBytes": 1 << 20,
            "IsolationLevel": 0,
            "SessionId": 0,
            "SessionEpoch": -1,
            "Topics": [{"Topic": self.topic, "Partitions": [partition]}],
            "ForgottenTopicsData": [],
            "RackId": "",
        }
        with self.cluster.connect(broker) as connection:
            told: Message = connection.call("Fetch", body, _FETCH)["Responses"][0]["Partitions"][0]
        return told

    def leader_known_to(self, broker: int) -> int:
        """Return who leads by the metadata of a broker, as it tells clients; -1 for nobody."""
        body = {"Topics": [{"Name": self.topic}], "AllowAutoTopicCreation": False}
        told = self._ask("Metadata", body, _METADATA, broker)["Topics"][0]
        leader: int = told["Partitions"][0]["LeaderId"]
        return leader

    def high_watermark(self, broker: int) -> int | None:
        """Return the high watermark that a leader tells consumers; None if it does not serve."""
        told = self.read(broker)
        return None if told["ErrorCode"] else int(told["HighWatermark"])

    def readable(self, broker: int) -> list[str]:
        """Return the records that a consumer gets from a broker."""
        found = batches(self.read(broker)["Records"] or b"")
        return [(record.value or b"").decode() for batch in found for record in batch.records]

    # ----------------------------------------------------------------------------------------------------- looking on

    @property
    def history(self) -> list[Decision]:
        """What the controller has decided so far."""
        records = records_on_disk(self.cluster.schemas, self.cluster.disk(CONTROLLER))
        return decisions(records, self.topic, self.partition)

    @property
    def now(self) -> PartitionAt:
        """The partition as the controller has decided it last."""
        last = self.history[-1].partition if self.history else None
        if last is None:
            message = f"the metadata log does not know {self.topic}-{self.partition} yet"
            raise OSError(message)
        return last

    @property
    def topic_id(self) -> str:
        """The id of the topic."""
        records = records_on_disk(self.cluster.schemas, self.cluster.disk(CONTROLLER))
        found = [one.body["TopicId"] for one in records if one.body.get("Name") == self.topic]
        return str(found[0])

    @property
    def configurations(self) -> list[tuple[int, int]]:
        """Where in the metadata log the batches begin and end that set a property of the topic."""
        records = list(records_on_disk(self.cluster.schemas, self.cluster.disk(CONTROLLER)))
        of_topic = [one for one in records if one.body.get("ResourceName") == self.topic]
        return [(one.batch, 1 + max(other.offset for other in records if other.batch == one.batch)) for one in of_topic]

    @property
    def brokers(self) -> Mapping[int, BrokerAt]:
        """The brokers as the controller knows them."""
        return self.history[-1].brokers

    def has_log(self, broker: int) -> bool:
        """Return whether a broker has a log of the topic in a directory that it is configured with."""
        return self.place(broker) is not None

    def place(self, broker: int) -> Path | None:
        """Return the directory of those in log.dirs that has the log of the topic; None if none has it."""
        return next((disk for disk in self.cluster.log_disks(broker) if self._is_in(disk)), None)

    def _is_in(self, disk: Path) -> bool:
        return has_replica(disk, self.topic, self.partition)

    def assigned(self, broker: int) -> Path | None:
        """Return the directory in which the controller takes a broker's log to be; None if it knows of none."""
        now = self.now
        told = dict(zip(now.replicas, now.directories, strict=False)).get(broker)
        return next((disk for disk in self.cluster.log_disks(broker) if folder_id(disk) == told), None)

    def online(self, broker: int) -> list[str]:
        """Return the ids of the directories of a broker that the controller takes to be online."""
        records = records_on_disk(self.cluster.schemas, self.cluster.disk(CONTROLLER))
        told: list[list[str]] = [
            one.body["LogDirs"] for one in records if one.body.get("BrokerId") == broker and one.body.get("LogDirs")
        ]
        if not told:
            message = f"the metadata log has no directories of broker {broker} yet"
            raise OSError(message)
        return told[-1]

    def log(self, broker: int) -> list[str]:
        """Return the records on a broker's disk."""
        place = self.place(broker)
        return [record for record, _ in log_on_disk(place, self.topic, self.partition)] if place else []

    def logs(self) -> dict[str, list[str]]:
        """Return the records on the disks of all brokers that have a log."""
        return {f"b{broker}": self.log(broker) for broker in self.cluster.plan.numbers if self.has_log(broker)}
