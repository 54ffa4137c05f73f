package insync.harness;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import moved.ApiMessageAndVersion;
import moved.Batch;
import moved.MemoryRecords;
import moved.MetadataDelta;
import moved.MetadataImage;
import moved.ProduceResponse;
import moved.AppendOrigin;
import moved.Partition;
import moved.PartitionRegistration;
import moved.ReplicaManager;
import org.apache.kafka.common.TopicIdPartition;
import moved.TopicPartition;
import moved.Uuid;
import scala.jdk.javaapi.CollectionConverters;

/** One broker: Kafka's ReplicaManager, LogManager, Partition, UnifiedLog and fetchers, with nothing that runs by itself. */
final class BrokerNode {
    private static final Uuid INCARNATIONS = new Uuid(5L, 0L);
    /** Whether records are appended to a topic by its name alone, as this release has it. */
    private static final boolean WRITES_BY_NAME = Reflect.methods(ReplicaManager.class, "appendRecords").stream()
        .anyMatch(method -> method.toGenericString().contains(
            "Map<" + TopicPartition.class.getName() + ", " + MemoryRecords.class.getName()));

    final Cluster world;
    final int id;
    final Directories directories;
    final Map<String, String> acknowledgements = new LinkedHashMap<>();
    final LogRecords records = new LogRecords();
    boolean running;
    /** Its broker epoch, -1 until it has registered. */
    long epoch = -1;
    /** The place of the newest batch of metadata that the broker has applied. */
    int applied;
    BrokerParts parts;
    QueuedScheduler scheduler;
    ControllerChannel channel;
    Fetching fetching;
    Moving moving;
    /** What it remembers of the fetches of others, null where fetches are no sessions. */
    Sessions sessions;
    private Publishing publishing;
    private File base;
    private int incarnation;
    private long cleanAsEpoch = -1;
    private Loading loading;
    private boolean logsLoaded;

    BrokerNode(Cluster world, int id) {
        this.world = world;
        this.id = id;
        directories = new Directories(id, world.directories);
        base = new File(world.base, "b" + id + "-0");
        directories.prepare(base, id);
    }

    // -------------------------------------------------------------------------------------------------------- running

    void start() {
        scheduler = new QueuedScheduler(world.clock);
        channel = channel == null ? new ControllerChannel() : channel.afterRestart();
        parts = new BrokerParts(id, base, directories, world.clock, scheduler, channel, () -> epoch);
        fetching = new Fetching(this);
        moving = new Moving(this);
        sessions = world.sessions ? new Sessions(world.clock) : null;
        directories.start(this);
        loading = new Loading(id, world.clock, this::publish);
        publishing = new Publishing(id, parts, loading);
        Reflect.set(replicas(), "replicaFetcherManager", new StillFetchers(this));
        if (directories.several()) Reflect.set(replicas(), "replicaAlterLogDirsManager", new StillMoves(this));
        applied = -1;
        epoch = -1;
        logsLoaded = false;
        acknowledgements.clear();
        running = true;
    }

    /** Starts if need be, and registers as a new incarnation; as the controller handles that some time passes. */
    void register(long milliseconds) {
        if (!running) start();
        Uuid self = new Uuid(INCARNATIONS.getMostSignificantBits(), id * 1000L + incarnation++);
        epoch = world.controller.register(id, directories.live(), self, previousEpoch(), milliseconds);
        cleanAsEpoch = -1;
    }

    /** The broker epoch with which the broker was stopped cleanly, as its directories say, -1 for none. */
    private long previousEpoch() {
        if (!directories.several()) return cleanAsEpoch;
        Object noted = Plain.orNull(Reflect.call(parts.logManager, "readBrokerEpochFromCleanShutdownFiles"));
        return noted == null ? -1L : (long) noted;
    }

    /** Dies: of the log the records below an offset survive, and all checkpoints as they are now. */
    void crash(long spared) {
        directories.of(log(), base);
        checkpoint();
        File survived = new File(world.base, "b" + id + "-" + (++incarnation));
        Disk.copyWithoutCleanMark(base, survived);
        directories.places(survived).forEach(directory -> Disk.cut(directory, world.partition, spared));
        throwAway();
        Disk.delete(base);
        base = survived;
    }

    /** A broker that has died is to find a checkpoint as it was written earlier, in the directory with its log. */
    void findOlder(String file, long offset) {
        if (running) throw new IllegalStateException("a broker that runs reads no checkpoints");
        for (File directory : directories.configured(base)) Disk.rewrite(new File(directory, file), world.partition, offset);
    }

    private void checkpoint() {
        replicas().checkpointHighWatermarks();
        Reflect.call(parts.logManager, "checkpointLogStartOffsets");
    }

    /** Ends as BrokerServer does at a controlled shutdown. */
    void stopCleanly() {
        directories.of(log(), base);
        running = false;
        directories.end();
        loading.close();
        parts.close(true, epoch);
        cleanAsEpoch = epoch;
    }

    void throwAway() {
        running = false;
        directories.end();
        loading.close();
        parts.close(false, -1L);
    }

    // ------------------------------------------------------------------------------------------------------- metadata

    /** Applies what the controller has decided up to a place of its log, as one commit, whatever its batches. */
    void apply(int to) {
        List<Batch<ApiMessageAndVersion>> batches = new ArrayList<>();
        for (int place = applied + 1; place <= to; place++) {
            Batch<ApiMessageAndVersion> written = world.controller.node.log.at(place);
            batches.add(id == world.combined ? written : AsBytes.batch(written));
        }
        applied = to;
        loading.commit(batches);
    }

    /** Loads a snapshot of all that the controller has decided up to a place of its log, over what it has. */
    void loadSnapshot(int to) {
        applied = to;
        loading.load(new Snapshot(world.controller.node.log.between(0, to)));
    }

    private void publish(MetadataDelta delta, MetadataImage newest, Object manifest) {
        if (!logsLoaded) {
            logsLoaded = true;
            loadLogs(newest);
        }
        publishing.publish(delta, newest, manifest);
        if (isReplica()) return;
        if (Assignments.DROPS_INVALID && directories.several()) directories.assignments.passTime();
        // As with the next change of any other partition of the broker (ReplicaManager.applyDelta).
        Reflect.call(replicas().replicaFetcherManager(), "shutdownIdleFetcherThreads");
    }

    /** Whether it has a replica of the partition, by its own metadata. */
    boolean isReplica() {
        MetadataImage known = (MetadataImage) Reflect.call(parts.cache, "currentImage");
        PartitionRegistration registered = known.topics().getPartition(world.controller.topicId, world.partition.partition());
        return registered != null && Plain.sortedIds(registered.replicas).contains(id);
    }

    /** What BrokerMetadataPublisher.initializeManagers does first, and what the harness needs of it. */
    private void loadLogs(MetadataImage newest) {
        Reflect.call(parts.cache, "setImage", newest);
        List<String> topics = new ArrayList<>();
        Plain.list(Reflect.call(parts.cache, "getAllTopics")).forEach(topic -> topics.add((String) topic));
        new LogsAtStart(id, parts.logManager, newest).load(topics);
    }

    // -------------------------------------------------------------------------------------------------------- leading

    /** A producer's request; what it is told is noted, now or later. */
    void write(String value, int acks, Wire.Numbers numbers) {
        MemoryRecords batch = Wire.batch(world.clock.milliseconds(), value, numbers);
        Object key = WRITES_BY_NAME ? world.partition : new TopicIdPartition(world.controller.topicId, world.partition);
        acknowledgements.put(value, "waiting");
        scala.Function1<Object, Object> told = answers -> {
            Map<?, ?> all = answers instanceof Map<?, ?> java
                ? java : CollectionConverters.asJava((scala.collection.Map<?, ?>) answers);
            all.values().forEach(one -> acknowledgements.put(value, ((ProduceResponse.PartitionResponse) one).error.name()));
            return scala.runtime.BoxedUnit.UNIT;
        };
        Reflect.callWithDefaults(replicas(), "appendRecords", 30_000L, (short) acks, false, AppendOrigin.CLIENT,
            CollectionConverters.asScala(Map.of(key, batch)), told);
        replicas().tryCompleteActions();
    }

    /**
     * Deletes the records below an offset, for an operator; returns the low watermark after it, which must have reached
     * the offset for the operator to be answered.
     */
    String deleteRecords(long offset) {
        Object deleted = partition().deleteRecordsOnLeader(offset);
        replicas().tryCompleteActions();
        return String.valueOf(Reflect.call(deleted, "lowWatermark"));
    }

    void flush() {
        Reflect.call(log(), "flush", true);
    }

    /** The time comes to look for followers that are slow. */
    void shrink() {
        Reflect.call(partition(), "maybeShrinkIsr");
        replicas().tryCompleteActions();
    }

    /**
     * The directory with the log fails, with all checkpoints as they are now; the broker runs on. 3.7.0 makes the log anew
     * in another directory then, as soon as it learns of the partition.
     */
    void failDirectory() {
        if (!LogsAtStart.asksForStrays(parts.logManager)) {
            throw new Reflect.NoSuchElement("logs that stay away with their directory (KAFKA-16234)");
        }
        failDirectoryOf(log());
    }

    /** The directory with a log, or a copy of one, fails; what was in it stays away with it. */
    void failDirectoryOf(Object failing) {
        directories.of(log(), base);
        checkpoint();
        Reflect.callWithDefaults(replicas(), "handleLogDirFailure", (String) Reflect.call(failing, "parentDir"));
    }

    // -------------------------------------------------------------------------------------------------------- looking

    /** The folder in which the directories are. */
    File base() {
        return base;
    }


    ReplicaManager replicas() {
        return parts.replicaManager;
    }

    /** The partition as the broker has it, null where it has no replica. */
    Partition partition() {
        return (Partition) Plain.orNull(replicas().onlinePartition(world.partition));
    }

    /** The log, null where there is none. */
    Object log() {
        return Plain.orNull(Reflect.call(parts.logManager, "getLog", world.partition, false));
    }
}
