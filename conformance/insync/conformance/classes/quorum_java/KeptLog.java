package org.apache.kafka.raft;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.Stream;
import moved.AbstractConfig;
import moved.ConfigDef;
import moved.LogFetchInfo;
import moved.MemoryRecords;
import moved.MockTime;
import moved.RecordBatch;
import moved.Records;
import moved.TopicPartition;
import moved.Uuid;
import org.apache.kafka.server.util.Scheduler;

/**
 * Kafka's own metadata log of one server, in a folder: KafkaRaftLog, and before 4.3 KafkaMetadataLog.
 *
 * A read gives one batch, as the model does, and what was not flushed is lost when the server starts again.
 */
final class KeptLog {
    private static final TopicPartition PARTITION = new TopicPartition("__cluster_metadata", 0);
    private static final int MUCH = 8 * 1024 * 1024;

    /** The log as the client has it. */
    final /*before 4.3*/ReplicatedLog/*end*//*from 4.3*/RaftLog/*end*/ seen;
    private final File folder;
    private final int server;
    private Object log;
    private long flushed;

    KeptLog(Path folder, int server) {
        this.folder = folder.resolve(PARTITION.toString()).toFile();
        this.server = server;
        if (!this.folder.mkdirs()) throw new IllegalStateException(this.folder + " cannot be made");
        Class<?>[] types = {/*before 4.3*/ReplicatedLog/*end*//*from 4.3*/RaftLog/*end*/.class};
        Object through = Proxy.newProxyInstance(
            types[0].getClassLoader(), types, (proxy, method, given) -> called(method, given));
        seen = (/*before 4.3*/ReplicatedLog/*end*//*from 4.3*/RaftLog/*end*/) through;
        log = opened();
    }

    /** The server starts again on its disk, which lacks what was not flushed. */
    void reopen() {
        Object inner = Inside.of(log, "log");
        call(inner.getClass(), inner, "truncateTo", Math.min(flushed, seen.endOffset().offset()));
        seen.close();
        log = opened();
        flushed = seen.endOffset().offset();
    }

    /** Ends it, and removes its folder. */
    void remove() {
        seen.close();
        try (Stream<Path> all = Files.walk(folder.toPath().getParent())) {
            for (Path one : all.sorted(Comparator.reverseOrder()).toList()) Files.delete(one);
        } catch (IOException raised) {
            throw new UncheckedIOException(raised);
        }
    }

    private Object called(Method method, Object[] given) throws Throwable {
        Object found;
        try {
            found = method.invoke(log, given);
        } catch (InvocationTargetException raised) {
            throw raised.getCause();
        }
        String name = method.getName();
        if (name.equals("flush")) flushed = seen.endOffset().offset();
        if (name.startsWith("truncate")) flushed = Math.min(flushed, seen.endOffset().offset());
        return name.equals("read") ? oneBatch((LogFetchInfo) found) : found;
    }

    private static LogFetchInfo oneBatch(LogFetchInfo all) {
        Records records = all.records;
        Iterator<? extends RecordBatch> batches = records.batches().iterator();
        ByteBuffer buffer = ByteBuffer.allocate(0);
        if (batches.hasNext()) {
            RecordBatch first = batches.next();
            buffer = ByteBuffer.allocate(first.sizeInBytes());
            first.writeTo(buffer);
            buffer.flip();
        }
        return new LogFetchInfo(MemoryRecords.readableRecords(buffer), all.startOffsetMetadata);
    }

    private Object opened() {
        Object[] given = {PARTITION, Uuid.METADATA_TOPIC_ID, folder, new MockTime(0), new AtOnce(), configuration(), server};
        Class<?> type = found("org.apache.kafka.raft.internals.KafkaRaftLog", "kafka.raft.KafkaMetadataLog");
        String name = type.getSimpleName().equals("KafkaRaftLog") ? "createLog" : "apply";
        Method made = Arrays.stream(type.getMethods()).filter(method -> method.getName().equals(name)).findFirst().orElseThrow();
        try {
            return made.invoke(null, Arrays.copyOf(given, made.getParameterCount()));
        } catch (ReflectiveOperationException raised) {
            throw new IllegalStateException(raised);
        }
    }

    private static Object configuration() {
        Class<?> type = found("org.apache.kafka.raft.MetadataLogConfig", "kafka.raft.MetadataLogConfig");
        Constructor<?> made = type.getConstructors()[0];
        try {
            if (made.getParameterCount() > 1) return made.newInstance(MUCH, MUCH, 1L << 40, -1L, -1L, MUCH, MUCH, 60_000L, 1);
            ConfigDef known = (ConfigDef) type.getField("CONFIG_DEF").get(null);
            return made.newInstance(new AbstractConfig(known, Map.of(), false));
        } catch (ReflectiveOperationException raised) {
            throw new IllegalStateException(raised);
        }
    }

    private static Class<?> found(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException elsewhere) {
                continue;
            }
        }
        throw new IllegalStateException("no class " + List.of(names));
    }

    private static void call(Class<?> type, Object target, String name, long given) {
        try {
            type.getMethod(name, long.class).invoke(target, given);
        } catch (ReflectiveOperationException raised) {
            throw new IllegalStateException(raised);
        }
    }

    /** Does at once what is to be done once, and nothing that is to be done again and again. */
    private static final class AtOnce implements Scheduler {
        @Override public void startup() { }

        @Override public void shutdown() { }

        @Override public void resizeThreadPool(int size) { }

        @Override public ScheduledFuture<?> schedule(String name, Runnable work, long delay, long period) {
            if (period < 0) work.run();
            Class<?>[] types = {ScheduledFuture.class};
            return (ScheduledFuture<?>) Proxy.newProxyInstance(types[0].getClassLoader(), types,
                (proxy, method, given) -> method.getReturnType() == boolean.class ? true : null);
        }
    }
}
