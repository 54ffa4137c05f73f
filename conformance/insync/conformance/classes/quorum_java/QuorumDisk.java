package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import moved.LogContext;
import moved.LogFetchInfo;
import moved.MemoryRecords;
import moved.MockLog;
import moved.MockQuorumStateStore;
import moved.MutableRecordBatch;
import moved.ObjectSerializationCache;
import moved.Readable;
import moved.Record;
import moved.RecordBatch;
import moved.RecordSerde;
import moved.TopicPartition;
import moved.Uuid;
import moved.Writable;

/** What a server finds again when it restarts: its log, and the file with its epoch and vote. */
final class QuorumDisk {
    final OneAtATime log = new OneAtATime();
    final MockQuorumStateStore store = new MockQuorumStateStore();
    final Uuid directory = Uuid.randomUuid();

    /** Kafka's log for tests, which gives two batches to a read: here it gives one, as the model does. */
    static final class OneAtATime extends MockLog {
        OneAtATime() {
            super(new TopicPartition("__cluster_metadata", 0), Uuid.METADATA_TOPIC_ID, new LogContext(""));
        }

        @Override public LogFetchInfo read(long start, Isolation isolation/*from 4.3*/, int bytes/*end*/) {
            LogFetchInfo all = super.read(start, isolation/*from 4.3*/, bytes/*end*/);
            Iterator<? extends MutableRecordBatch> batches = ((MemoryRecords) all.records).batches().iterator();
            if (!batches.hasNext()) return all;
            MutableRecordBatch first = batches.next();
            ByteBuffer buffer = ByteBuffer.allocate(first.sizeInBytes());
            first.writeTo(buffer);
            return new LogFetchInfo(MemoryRecords.readableRecords(buffer.flip()), all.startOffsetMetadata);
        }
    }

    /** All records of the log. */
    List<List<Object>> records() {
        List<List<Object>> records = new ArrayList<>();
        while (records.size() < log.endOffset().offset()) {
            LogFetchInfo one = log.read(
                records.size(), Isolation.UNCOMMITTED/*from 4.3*/, Integer.MAX_VALUE/*end*/);
            records.addAll(plain((MemoryRecords) one.records));
        }
        return records;
    }

    /** Records, each as its value, or * where it is not a client's, and its epoch. */
    static List<List<Object>> plain(MemoryRecords records) {
        List<List<Object>> plain = new ArrayList<>();
        for (RecordBatch batch : records.batches()) {
            for (Record record : batch) {
                plain.add(List.of(batch.isControlBatch() ? "*" : Whole.read(record.value()), batch.partitionLeaderEpoch()));
            }
        }
        return plain;
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
