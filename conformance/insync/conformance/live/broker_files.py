"""What a broker has on its disk: records with their epochs, and the epochs that it knows.

A segment is only ever appended to or cut, and a batch that is not there whole is not read, so a running broker may be
looked at. Source: LogSegment, LeaderEpochCheckpointFile.
"""

from __future__ import annotations

from pathlib import Path

from insync.conformance.live.wire.record_batches import batches

__all__ = ["copy_on_disk", "cut_log", "epochs_on_disk", "has_replica", "log_on_disk"]


def has_replica(disk: Path, topic: str, partition: int = 0) -> bool:
    """Return whether there is a log of a partition."""
    return (disk / f"{topic}-{partition}").is_dir()


def log_on_disk(disk: Path, topic: str, partition: int = 0) -> list[tuple[str, int]]:
    """Return the records of a partition, each with its epoch; none where there is no log."""
    return _records(disk / f"{topic}-{partition}")


def copy_on_disk(disk: Path, topic: str, partition: int = 0) -> list[str]:
    """Return the records of the copy that a log of another directory is moved to; none where there is no copy."""
    return [record for folder in disk.glob(f"{topic}-{partition}.*-future") for record, _ in _records(folder)]


def _records(folder: Path) -> list[tuple[str, int]]:
    found = []
    for segment in sorted(folder.glob("*.log")):
        for batch in batches(segment.read_bytes()):
            found += [((record.value or b"").decode(errors="replace"), batch.epoch) for record in batch.records]
    return found


def epochs_on_disk(disk: Path, topic: str, partition: int = 0) -> list[tuple[int, int]]:
    """Return the epochs that a broker knows, each with the offset at which it begins."""
    file = disk / f"{topic}-{partition}" / "leader-epoch-checkpoint"
    lines = file.read_text(encoding="utf-8").split("\n")[2:] if file.is_file() else []
    return [(int(epoch), int(start)) for epoch, _, start in (line.partition(" ") for line in lines if line.strip())]


def cut_log(disk: Path, topic: str, end: int, partition: int = 0) -> None:
    """Cut the log of a broker that does not run, as a machine does that fails before it has written everything.

    Args:
        disk: its folder.
        topic: the topic.
        end: the offset from which on nothing is left; a batch is there whole or not at all.
        partition: the partition.
    """
    for segment in sorted((disk / f"{topic}-{partition}").glob("*.log")):
        data = segment.read_bytes()
        gone = next((batch.place for batch in batches(data) if batch.base >= end), len(data))
        with segment.open("r+b") as file:
            file.truncate(gone)
    (disk / ".kafka_cleanshutdown").unlink(missing_ok=True)
