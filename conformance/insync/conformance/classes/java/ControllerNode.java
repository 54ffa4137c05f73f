package insync.harness;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import moved.ApiMessage;
import moved.ApiMessageAndVersion;
import moved.ClusterControlManager;
import moved.ConfigurationControlManager;
import moved.FeatureControlManager;
import moved.FeatureLevelRecord;
import moved.KafkaRaftServer;
import moved.LogContext;
import moved.MetadataVersion;
import moved.QuorumFeatures;
import moved.ReplicationControlManager;
import moved.SnapshotRegistry;
import moved.StripedReplicaPlacer;
import moved.VersionRange;

/**
 * Kafka's controller without its event queue and without Raft: what its managers decide is committed at once.
 *
 * The metadata log has a batch for each decision; brokers are handed as much of it as a command says.
 */
final class ControllerNode {
    static final String CLUSTER = "cluster-of-insync00000";
    static final int NODE_ID = 100;

    final List<List<ApiMessageAndVersion>> log = new ArrayList<>();
    final Object features;
    final Object cluster;
    final Object configurations;
    final Object replication;
    /** Whether eligible leader replicas are kept (KIP-966). */
    final boolean elr;

    ControllerNode(StillClock clock, boolean elr) {
        this.elr = elr;
        SnapshotRegistry snapshots = new SnapshotRegistry(new LogContext());
        features = featureManager(snapshots);
        configurations = configurationManager(snapshots);
        cluster = clusterManager(snapshots, clock);
        replication = replicationManager(snapshots);
        Reflect.call(cluster, "activate");
        List<ApiMessageAndVersion> first = new ArrayList<>();
        first.add(feature(MetadataVersion.FEATURE_NAME, MetadataRelease.latest().featureLevel()));
        if (Reflect.has(features, "isElrFeatureEnabled", 0)) first.add(feature(MetadataRelease.ELR, (short) (elr ? 1 : 0)));
        commit(first);
    }

    private static ApiMessageAndVersion feature(String name, short level) {
        return new ApiMessageAndVersion(new FeatureLevelRecord().setName(name).setFeatureLevel(level), (short) 0);
    }

    private static Object featureManager(SnapshotRegistry snapshots) {
        Map<String, VersionRange> supported = new HashMap<>();
        MetadataVersion latest = MetadataRelease.latest();
        supported.put(MetadataVersion.FEATURE_NAME, VersionRange.of((short) 1, latest.featureLevel()));
        supported.put(MetadataRelease.ELR, VersionRange.of((short) 0, (short) 1));
        Object builder = Construct.builder(FeatureControlManager.class);
        Construct.give(builder, "setSnapshotRegistry", snapshots);
        Construct.give(builder, "setMetadataVersion", latest);
        Construct.give(builder, "setQuorumFeatures", new QuorumFeatures(NODE_ID, supported, List.of(NODE_ID)));
        return Reflect.call(builder, "build");
    }

    private Object configurationManager(SnapshotRegistry snapshots) {
        Object builder = Construct.builder(ConfigurationControlManager.class);
        Construct.give(builder, "setSnapshotRegistry", snapshots);
        Construct.give(builder, "setFeatureControl", features);
        Construct.give(builder, "setKafkaConfigSchema", KafkaRaftServer.configSchema());
        return Reflect.call(builder, "build");
    }

    private Object clusterManager(SnapshotRegistry snapshots, StillClock clock) {
        Object builder = Construct.builder(ClusterControlManager.class);
        Construct.give(builder, "setLogContext", new LogContext());
        Construct.give(builder, "setTime", clock);
        Construct.give(builder, "setSnapshotRegistry", snapshots);
        Construct.give(builder, "setClusterId", CLUSTER);
        Construct.give(builder, "setFeatureControlManager", features);
        Construct.give(builder, "setReplicaPlacer", new StripedReplicaPlacer(new Random(1)));
        for (String handler : List.of("BrokerShutdownHandler", "BrokerUncleanShutdownHandler")) {
            Class<?> type = Reflect.classOrNull(ClusterControlManager.class.getName() + "$" + handler);
            if (type == null) continue;
            Class<?>[] types = {type};
            Object passed = Proxy.newProxyInstance(type.getClassLoader(), types, (proxy, method, given) -> handle(given));
            Construct.give(builder, "set" + handler, passed);
        }
        return Reflect.call(builder, "build");
    }

    /** Passes on that a broker has registered again, as QuorumController does. */
    private Object handle(Object[] given) {
        String handler = given.length == 3 ? "handleBrokerShutdown" : "handleBrokerUncleanShutdown";
        Reflect.call(replication, handler, given);
        return null;
    }

    private Object replicationManager(SnapshotRegistry snapshots) {
        Object builder = Construct.builder(ReplicationControlManager.class);
        Construct.give(builder, "setSnapshotRegistry", snapshots);
        Construct.give(builder, "setLogContext", new LogContext());
        Construct.give(builder, "setConfigurationControl", configurations);
        Construct.give(builder, "setClusterControl", cluster);
        Construct.give(builder, "setFeatureControl", features);
        Construct.give(builder, "setEligibleLeaderReplicasEnabled", elr);
        return Reflect.call(builder, "build");
    }

    /** The place of the newest batch in the metadata log. */
    int end() {
        return log.size() - 1;
    }

    /** Appends what a manager has decided to the metadata log, and lets all managers know. */
    void commit(List<ApiMessageAndVersion> records) {
        if (records.isEmpty()) return;
        records.forEach(record -> replay(record.message()));
        log.add(List.copyOf(records));
    }

    /** Commits a ControllerResult, and returns the answer in it. */
    Object commitResult(Object result) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        Plain.list(Reflect.call(result, "records")).forEach(record -> records.add((ApiMessageAndVersion) record));
        commit(records);
        return Reflect.call(result, "response");
    }

    private void replay(ApiMessage record) {
        boolean known = false;
        for (Object manager : List.of(features, cluster, configurations, replication)) {
            known |= Reflect.callForClass(manager, "replay", record, (long) log.size());
        }
        if (!known) throw new IllegalStateException("no manager of the controller replays " + record);
    }
}
