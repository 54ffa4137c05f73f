package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import moved.ControlRecordType;
import moved.ControlRecordUtils;
import moved.KRaftVersion;
import moved.LogFetchInfo;
import moved.MemoryRecords;
import moved.MockQuorumStateStore;
import moved.ObjectSerializationCache;
import moved.Readable;
import moved.Record;
import moved.RecordBatch;
import moved.RecordSerde;
import moved.RecordsSnapshotWriter;
import moved.Snapshots;
import moved.Uuid;
import moved.VotersRecord;
import moved.Writable;

/** What a server finds again when it restarts: its log, and the file with its epoch and vote. */
final class QuorumDisk {
    final KeptLog kept;
    final MockQuorumStateStore store = new MockQuorumStateStore();
    final Uuid directory = Uuid.randomUuid();

    QuorumDisk(Path folder, int server) {
        kept = new KeptLog(folder, server);
    }

    /** By what a server with a number and this disk is known. */
    ReplicaKey key(int id) {
        return ReplicaKey.of(id, directory);
    }

    /** Writes the checkpoint with which a server is formatted: the first voters, where it is to know them. */
    void bootstrap(VoterSet founders) {
        RecordsSnapshotWriter.Builder builder = new RecordsSnapshotWriter.Builder()
            .setRawSnapshotWriter(kept.seen.createNewSnapshotUnchecked(Snapshots.BOOTSTRAP_SNAPSHOT_ID).get())
            .setKraftVersion(KRaftVersion.KRAFT_VERSION_1)
            .setVoterSet(Optional.of(founders));
        try (RecordsSnapshotWriter<Integer> writer = builder.build(new Whole())) {
            writer.freeze();
        }
    }

    /** The log, batch by batch. */
    List<List<Object>> records() {
        List<List<Object>> plain = new ArrayList<>();
        long next = 0;
        while (next < kept.seen.endOffset().offset()) {
            LogFetchInfo one = kept.seen.read(next, Isolation.UNCOMMITTED/*from 4.3*/, Integer.MAX_VALUE/*end*/);
            plain.addAll(plain((MemoryRecords) one.records));
            for (RecordBatch batch : one.records.batches()) next = batch.nextOffset();
        }
        return plain;
    }

    /** How many batches there are before an offset, where all logs that have any begin with the same one. */
    static long place(long offset, Iterable<QuorumDisk> disks) {
        for (QuorumDisk disk : disks) {
            if (disk.kept.seen.endOffset().offset() == 0) continue;
            LogFetchInfo first = disk.kept.seen.read(0, Isolation.UNCOMMITTED/*from 4.3*/, 1/*end*/);
            long end = first.records.batches().iterator().next().nextOffset();
            return offset >= end ? offset - end + 1 : offset;
        }
        return offset;
    }

    /** Batches of one record, each as its value, voters or * for the other records of Kafka's own, and its epoch. */
    static List<List<Object>> plain(MemoryRecords records) {
        List<List<Object>> plain = new ArrayList<>();
        for (RecordBatch batch : records.batches()) {
            Record record = batch.iterator().next();
            plain.add(List.of(batch.isControlBatch() ? told(record) : Whole.read(record.value()), batch.partitionLeaderEpoch()));
        }
        return plain;
    }

    private static Object told(Record record) {
        if (ControlRecordType.parse(record.key()) != ControlRecordType.KRAFT_VOTERS) return "*";
        VotersRecord voters = ControlRecordUtils.deserializeVotersRecord(record.value());
        return voters.voters().stream().map(voter -> String.valueOf(voter.voterId())).sorted()
            .collect(Collectors.joining(",", "{", "}"));
    }

    /** A client's record: a number. */
    static final class Whole implements RecordSerde<Integer> {
        static Integer read(ByteBuffer value) {
            return value.duplicate().getInt();
        }

        @Override public int recordSize(Integer value, ObjectSerializationCache cache) {
            return Integer.BYTES;
        }

        @Override public void write(Integer value, ObjectSerializationCache cache, Writable out) {
            out.writeInt(value);
        }

        @Override public Integer read(Readable input, int size) {
            return input.readInt();
        }
    }
}
