package insync.harness;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import moved.AbstractResponse;
import moved.ApiKeys;
import moved.ClientResponse;
import moved.Errors;
import moved.FetchResponse;
import moved.MemoryRecords;
import moved.RecordBatch;
import moved.Records;
import moved.RequestHeader;
import moved.SimpleRecord;

/** Requests and responses as they would arrive over a connection, and records as bytes. */
final class Wire {
    private Wire() { }

    static ClientResponse response(ApiKeys key, short version, AbstractResponse body) {
        return new ClientResponse(new RequestHeader(key, version, "c", 1), null, "d", 0, 0, false, null, null,
            AsBytes.response(key, version, body));
    }

    /** The answer to a fetch outside a session. */
    static FetchResponse fetchResponse(LinkedHashMap<?, ?> partitions) {
        return (FetchResponse) Reflect.callStaticWithFirst(
            FetchResponse.class, "of", Errors.NONE, 0, 0, partitions, List.of());
    }

    /** What a batch has of an idempotent producer. */
    record Numbers(long producer, short epoch, int sequence) { }

    /** One batch with one record; numbers are null where its producer is not idempotent. */
    static MemoryRecords batch(long timestamp, String value, Numbers numbers) {
        SimpleRecord[] records = {new SimpleRecord(timestamp, value.getBytes())};
        return numbers == null ? made("withRecords", (Object) records)
            : made("withIdempotentRecords", numbers.producer, numbers.epoch, numbers.sequence, records);
    }

    /** Calls the method that takes these after the compression, which has another type before 3.8. */
    private static MemoryRecords made(String name, Object... given) {
        for (var method : Reflect.methods(MemoryRecords.class, name, given.length + 1)) {
            Class<?> first = method.getParameterTypes()[0];
            if (!first.getSimpleName().startsWith("Compression")) continue;
            Object[] arguments = new Object[given.length + 1];
            arguments[0] = Reflect.getStatic(first, "NONE");
            System.arraycopy(given, 0, arguments, 1, given.length);
            return (MemoryRecords) Reflect.invoke(method, null, arguments);
        }
        throw new Reflect.NoSuchElement("MemoryRecords." + name + " with a compression");
    }

    /** Records of a file as bytes: a socket would read them while the file is as it is now. */
    static MemoryRecords copy(Records records) {
        if (records instanceof MemoryRecords already) return already;
        ByteBuffer all = ByteBuffer.allocate(records.sizeInBytes());
        for (RecordBatch batch : records.batches()) {
            ByteBuffer one = ByteBuffer.allocate(batch.sizeInBytes());
            batch.writeTo(one);
            all.put(one.flip());
        }
        return MemoryRecords.readableRecords(all.flip());
    }
}
