package insync.harness;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import moved.ApiMessageAndVersion;
import moved.BootstrapMetadata;
import moved.FaultHandler;
import moved.FeatureControlManager;
import moved.FeatureLevelRecord;
import moved.KafkaRaftServer;
import moved.MetadataVersion;
import moved.QuorumController;
import moved.QuorumFeatures;
import moved.StripedReplicaPlacer;
import moved.VersionRange;

/**
 * Kafka's active controller: QuorumController with its event queue and its periodic tasks, above a log of ours.
 *
 * Its queue has a thread, which is waited for. It has a clock of its own, which moves on within a command alone, so that
 * sessions expire and periodic tasks run when a command says so.
 */
final class ControllerNode implements FaultHandler {
    static final String CLUSTER = "cluster-of-insync00000";
    static final int NODE_ID = 100;
    /** How long the session of a broker lasts without a heartbeat: broker.session.timeout.ms, by default. */
    static final long SESSION = 9_000;
    /** The period of the tasks that elect preferred leaders, and unclean ones; the default of both. */
    static final long CHECKS = 300_000;

    private static final long PATIENCE = 120;

    final StillClock clock = new StillClock();
    final ControllerLog log = new ControllerLog(clock);
    final QuorumController controller;
    final Object cluster;
    final Object replication;
    private final List<RuntimeException> faults = Collections.synchronizedList(new ArrayList<>());

    /** Starts the controller; `elr` is whether eligible leader replicas are kept (KIP-966). */
    ControllerNode(boolean elr) {
        QuorumController.Builder builder = new QuorumController.Builder(NODE_ID, CLUSTER)
            .setTime(clock).setRaftClient(log.client())
            .setFatalFaultHandler(this).setNonFatalFaultHandler(this)
            .setConfigSchema(KafkaRaftServer.configSchema())
            .setQuorumFeatures(new QuorumFeatures(NODE_ID, supported(), List.of(NODE_ID)))
            .setBootstrapMetadata(BootstrapMetadata.fromRecords(features(elr), "insync"))
            .setReplicaPlacer(new StripedReplicaPlacer(new Random(1)))
            .setSessionTimeoutNs(TimeUnit.MILLISECONDS.toNanos(SESSION))
            .setLeaderImbalanceCheckIntervalNs(OptionalLong.of(TimeUnit.MILLISECONDS.toNanos(CHECKS)));
        Construct.give(builder, "setUncleanLeaderElectionCheckIntervalMs", CHECKS); // since 3.9
        Construct.give(builder, "setEligibleLeaderReplicasEnabled", elr); // before 4.0
        controller = (QuorumController) Reflect.call(builder, "build");
        cluster = Reflect.get(controller, "clusterControl");
        replication = Reflect.get(controller, "replicationControl");
        log.lead();
        settle();
    }

    private static Map<String, VersionRange> supported() {
        Map<String, VersionRange> supported = new HashMap<>();
        supported.put(MetadataVersion.FEATURE_NAME, VersionRange.of((short) 1, MetadataRelease.latest().featureLevel()));
        supported.put(MetadataRelease.ELR, VersionRange.of((short) 0, (short) 1));
        return supported;
    }

    /** What `kafka-storage format` writes for the first controller. */
    private static List<ApiMessageAndVersion> features(boolean elr) {
        List<ApiMessageAndVersion> first = new ArrayList<>();
        first.add(feature(MetadataVersion.FEATURE_NAME, MetadataRelease.latest().featureLevel()));
        boolean isFeature = !Reflect.methods(FeatureControlManager.class, "isElrFeatureEnabled", 0).isEmpty(); // since 4.0
        if (elr && isFeature) first.add(feature(MetadataRelease.ELR, (short) 1));
        return first;
    }

    private static ApiMessageAndVersion feature(String name, short level) {
        return new ApiMessageAndVersion(new FeatureLevelRecord().setName(name).setFeatureLevel(level), (short) 0);
    }

    /** The place of the newest batch in the metadata log. */
    int end() {
        return log.end();
    }

    /** Returns the answer to a request, once what was decided is committed; throws what the controller throws. */
    <T> T answer(CompletableFuture<T> coming) {
        try {
            return coming.get(PATIENCE, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw Reflect.unchecked(failed.getCause());
        } catch (InterruptedException | TimeoutException never) {
            throw new IllegalStateException("the controller does not answer", never);
        } finally {
            raise();
        }
    }

    /** Moves the controller's clock on, and waits until all that is due has run. */
    void pass(long milliseconds) {
        clock.advance(milliseconds);
        settle();
    }

    /** Waits until the queue is empty: what is due runs before what is appended, and commits come behind it. */
    void settle() {
        do {
            CompletableFuture<Void> done = new CompletableFuture<>();
            Runnable event = () -> done.complete(null);
            Reflect.call(controller, "appendControlEvent", "settle", event);
            answer(done);
        } while (!log.isSettled());
    }

    @Override public RuntimeException handleFault(String message, Throwable cause) {
        RuntimeException fault = new IllegalStateException(message, cause);
        faults.add(fault);
        return fault;
    }

    private void raise() {
        if (faults.isEmpty()) return;
        RuntimeException first = faults.get(0);
        faults.clear();
        throw first;
    }

    void close() {
        Reflect.call(controller, "close");
    }
}
