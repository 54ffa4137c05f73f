package insync.harness;

import java.io.File;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import moved.BrokerTopicStats;
import moved.CleanerConfig;
import moved.KRaftMetadataCache;
import moved.KafkaConfig;
import moved.LogConfig;
import moved.LogDirFailureChannel;
import moved.Metrics;
import moved.NodeToControllerChannelManager;
import moved.ProducerStateManagerConfig;
import moved.ReplicaManager;
import scala.Function0;
import scala.jdk.javaapi.CollectionConverters;

/** Kafka's own objects that make a broker, put together as BrokerServer does. */
final class BrokerParts {
    private static final long NEVER = 1L << 40;
    /** producer.id.expiration.ms, which is a day by default. */
    private static final int PRODUCER_EXPIRES = 86_400_000;
    /** What brokers on some directories are configured with; to parse it takes a while. */
    private static final Map<List<File>, KafkaConfig> CONFIGURATIONS = new ConcurrentHashMap<>();
    /** The defaults of logs under each of these configurations. */
    private static final Map<List<File>, LogConfig> DEFAULTS = new ConcurrentHashMap<>();
    private static final Map<Integer, Object> QUOTAS = new ConcurrentHashMap<>();
    private static final List<String> PURGATORIES = List.of("Produce", "Fetch", "DeleteRecords");
    /** Purgatories in which nothing ever waits here; to make one takes a while, so all brokers have the same. */
    private static final List<String> EMPTY_PURGATORIES = List.of(
        "ElectLeader", "RemoteFetch", "RemoteListOffsets", "ShareFetch");
    private static final Map<String, Object> SHARED = new ConcurrentHashMap<>();

    final KafkaConfig configuration;
    final Metrics metrics;
    final Object cache;
    final Object logManager;
    final Object quotas;
    final BrokerTopicStats topicStatistics;
    final ReplicaManager replicaManager;

    BrokerParts(
        int id, File base, Directories directories, StillClock clock, QueuedScheduler scheduler,
        NodeToControllerChannelManager channel, Supplier<Long> brokerEpoch
    ) {
        List<File> places = directories.configured(base);
        Function0<Object> epoch = brokerEpoch::get;
        Function0<Object> version = MetadataRelease::latest;
        configuration = CONFIGURATIONS.computeIfAbsent(places, configured ->
            (KafkaConfig) Reflect.callStatic(KafkaConfig.class, "fromProps", properties(id, base, configured), false));
        metrics = new Metrics(clock);
        cache = Construct.named(KRaftMetadataCache.class, Map.of(), id, (Supplier<?>) BrokerParts::raftVersion);
        Map<String, Object> shared = new HashMap<>();
        shared.put("time", clock);
        shared.put("scheduler", scheduler);
        shared.put("logDirFailureChannel", new LogDirFailureChannel(places.size()));
        topicStatistics = topicStatistics();
        shared.put("brokerTopicStats", topicStatistics);
        logManager = logManager(places, directories.unreadable(base), shared);
        quotas = QUOTAS.computeIfAbsent(id, broker -> unlimited(broker, configuration));
        Object alterPartitionManager = Construct.named(
            Reflect.classOf(
                "kafka.server.DefaultAlterPartitionManager",
                "org.apache.kafka.server.partition.DefaultAlterPartitionManager"),
            Map.of("brokerEpochSupplier", epoch, "metadataVersionSupplier", version),
            channel, scheduler, clock, id, brokerEpoch);
        Map<String, Object> parts = new HashMap<>(shared);
        parts.put("config", configuration);
        parts.put("metrics", metrics);
        parts.put("logManager", logManager);
        parts.put("quotaManagers", quotas);
        parts.put("metadataCache", cache);
        parts.put("alterPartitionManager", alterPartitionManager);
        parts.put("brokerEpochSupplier", epoch);
        if (directories.several()) parts.put("directoryEventHandler", directories.handler());
        for (String name : PURGATORIES) parts.put("delayed" + name + "PurgatoryParam", purgatory(name, id));
        for (String name : EMPTY_PURGATORIES) {
            parts.put("delayed" + name + "PurgatoryParam", SHARED.computeIfAbsent(name, one -> purgatory(one, id)));
        }
        replicaManager = Construct.named(ReplicaManager.class, parts);
    }

    /** Ends what tells of all measurements outside the process: nobody asks, and brokers come and go. */
    static void tellNoMeasurements() {
        Class<?> measurements = Reflect.classOf("org.apache.kafka.server.metrics.KafkaYammerMetrics");
        Reflect.call(Reflect.get(Reflect.getStatic(measurements, "INSTANCE"), "jmxReporter"), "shutdown");
    }

    /** The version of Raft, null before 3.9, which knows none. */
    private static Object raftVersion() {
        Class<?> versions = Reflect.classOrNull("org.apache.kafka.server.common.KRaftVersion");
        return versions == null ? null : Reflect.getStatic(versions, "KRAFT_VERSION_1");
    }

    /** What limits nobody, and counts for nobody; to start and end its threads takes as long as the rest of a broker. */
    private static Object unlimited(int id, KafkaConfig configuration) {
        StillClock clock = new StillClock();
        return Reflect.callStaticWithFirst(
            Reflect.classOf("kafka.server.QuotaFactory", "org.apache.kafka.server.quota.QuotaFactory"),
            "instantiate", configuration, new Metrics(clock), clock, "b" + id, "broker");
    }

    private static Properties properties(int id, File base, List<File> places) {
        Properties all = new Properties();
        all.put("process.roles", "broker");
        all.put("node.id", "" + id);
        all.put("controller.quorum.voters", ControllerNode.NODE_ID + "@localhost:1");
        all.put("controller.listener.names", "CONTROLLER");
        all.put("listeners", "PLAINTEXT://localhost:0");
        all.put("inter.broker.listener.name", "PLAINTEXT");
        all.put("log.dirs", String.join(",", places.stream().map(File::getAbsolutePath).toList()));
        if (places.size() > 1) all.put("metadata.log.dir", new File(base, "metadata").getAbsolutePath()); // it may not fail
        all.put("log.index.size.max.bytes", "4096"); // index files are mapped in full
        all.put("log.cleaner.enable", "false");
        all.put("num.recovery.threads.per.data.dir", "1");
        all.put("num.replica.fetchers", "1");
        all.put("replica.fetch.max.bytes", "1"); // one batch a fetch
        all.put("replica.fetch.wait.max.ms", "0");
        all.put("replica.fetch.backoff.ms", "0"); // it waits by the clock of the machine
        all.put("replica.lag.time.max.ms", "" + Cluster.LAG_TIME);
        return all;
    }

    private static BrokerTopicStats topicStatistics() {
        return Construct.named(BrokerTopicStats.class, Map.of(), false, java.util.Optional.empty());
    }

    private Object logManager(List<File> places, List<File> unreadable, Map<String, Object> shared) {
        LogConfig defaults = DEFAULTS.computeIfAbsent(places, configured ->
            new LogConfig((Map<?, ?>) Reflect.call(configuration, "extractLogConfigMap")));
        CleanerConfig cleaner = new CleanerConfig(false);
        ProducerStateManagerConfig producers = new ProducerStateManagerConfig(PRODUCER_EXPIRES, false);
        Class<?> java = Reflect.classOrNull("org.apache.kafka.storage.internals.log.LogManager");
        if (java != null && Construct.parameters(java) >= 20) { // since 4.4; before, it has a few static methods
            return Construct.exactly(java, places, unreadable, cache, defaults, cleaner, 1,
                NEVER, NEVER, NEVER, NEVER, 60_000, producers, 60_000,
                shared.get("scheduler"), shared.get("brokerTopicStats"), shared.get("logDirFailureChannel"),
                shared.get("time"), false, 0L, null);
        }
        Map<String, Object> parts = new HashMap<>(shared);
        parts.put("logDirs", CollectionConverters.asScala(places).toSeq());
        parts.put("initialOfflineDirs", CollectionConverters.asScala(unreadable).toSeq());
        parts.put("configRepository", cache);
        parts.put("initialDefaultConfig", defaults);
        parts.put("cleanerConfig", cleaner);
        parts.put("recoveryThreadsPerDataDir", 1);
        for (String interval : List.of("flushCheckMs", "flushRecoveryOffsetCheckpointMs",
                "flushStartOffsetCheckpointMs", "retentionCheckMs")) {
            parts.put(interval, NEVER);
        }
        parts.put("maxTransactionTimeoutMs", 60_000);
        parts.put("producerStateManagerConfig", producers);
        parts.put("producerIdExpirationCheckIntervalMs", 60_000);
        parts.put("interBrokerProtocolVersion", MetadataRelease.latest());
        parts.put("keepPartitionMetadataFile", true);
        parts.put("remoteStorageSystemEnable", false);
        parts.put("initialTaskDelayMs", 0L);
        return Construct.named(Reflect.classOf("kafka.log.LogManager"), parts);
    }

    private static Object purgatory(String name, int id) {
        Class<?> type = Reflect.classOf(
            "org.apache.kafka.server.purgatory.DelayedOperationPurgatory", "kafka.server.DelayedOperationPurgatory");
        return scala.Option.apply(
            Construct.exactly(type, name, new QueuedScheduler.SilentTimer(), id, 1000, false, true));
    }

    /** Lets go of all that is open; what is not on disk by then is not written. */
    void close(boolean checkpoint, long cleanAsEpoch) {
        if (checkpoint) {
            Reflect.callWithDefaults(replicaManager, "shutdown");
        } else {
            Reflect.callWithDefaults(replicaManager, "shutdown", false);
        }
        try {
            Reflect.callWithDefaults(logManager, "shutdown", cleanAsEpoch);
        } catch (RuntimeException raised) { // it lets go twice of the lock of a directory that has failed, at its end
            if (!(raised.getCause() instanceof ClosedChannelException)) throw raised;
            unlock();
        }
        metrics.close();
    }

    /** Lets go of the locks of all directories, as the end of a process does. */
    private void unlock() {
        for (Object lock : Plain.list(Reflect.get(logManager, "dirLocks"))) {
            try {
                Reflect.call(lock, "destroy");
            } catch (RuntimeException raised) {
                if (!(raised.getCause() instanceof ClosedChannelException)) throw raised;
            }
        }
    }
}
