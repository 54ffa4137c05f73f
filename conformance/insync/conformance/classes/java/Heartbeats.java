package insync.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import moved.ApiKeys;
import moved.BrokerHeartbeatRequestData;
import moved.BrokerRegistration;
import moved.Uuid;

/**
 * The heartbeats of brokers, of which Kafka's BrokerHeartbeatManager makes something, and the time that passes between.
 *
 * Time stands still at the controller between two commands, and at the end of each all sessions are as new but those that
 * were to end.
 */
final class Heartbeats {
    private static final long HALF = ControllerNode.SESSION / 2;
    /** In milliseconds, until a periodic task runs again that has more to do. */
    private static final long AT_ONCE = 11;

    private final ControllerNode node;
    private final Map<Integer, BrokerNode> brokers;

    Heartbeats(ControllerNode node, Map<Integer, BrokerNode> brokers) {
        this.node = node;
        this.brokers = brokers;
    }

    /** A broker tells of directories that have failed, and whether it is ready; returns whether it is fenced after it. */
    boolean beat(int id, boolean ready, List<Uuid> failed) {
        Object reply = node.answer(send(of(id).setWantFence(!ready).setOfflineLogDirs(failed), OptionalLong.empty()));
        return (boolean) Reflect.call(reply, "isFenced");
    }

    /** A broker wants to stop; whether it may depends on what the others have read, of which they have told. */
    void beatToStop(int id) {
        renewAll();
        node.answer(send(of(id).setWantShutDown(true), OptionalLong.empty()));
    }

    /**
     * The session of a broker ends, and all others last but those of brokers that are down and fenced. The controller looks
     * at one of them at a time, since 4.0 ten milliseconds after another.
     */
    void expire(int id) {
        node.pass(HALF);
        int silent = renew(id);
        node.pass(HALF + 1);
        for (int more = 1; more < silent; more++) node.pass(AT_ONCE);
        renew(id);
    }

    /**
     * Half of a session passes, in which nothing is heard of one broker; a registration that takes the controller a little
     * longer than the rest finds that its session is over, before the controller can fence it.
     */
    long passHalf(int id) {
        node.pass(HALF);
        renew(id);
        return HALF + 1;
    }

    /** The controller looks at all leaders, and at partitions without one, while all sessions last. */
    void passChecks() {
        for (long passed = 0; passed < ControllerNode.CHECKS; passed += ControllerNode.SESSION) {
            node.pass(ControllerNode.SESSION - 1);
            renewAll();
        }
    }

    void renewAll() {
        renew(-1);
    }

    /**
     * All brokers but one are heard of. A heartbeat of one that is down, and not fenced yet, was on its way; that one and
     * those of brokers that stop or are fenced come too late in the controller's queue to be acted on, but not for the
     * session. Nothing is heard of those that are down and fenced; returns of how many.
     */
    private int renew(int lost) {
        int silent = 0;
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (BrokerRegistration registered : registrations().values()) {
            int id = registered.id();
            BrokerNode broker = brokers.get(id);
            boolean runs = broker == null || broker.running && broker.epoch == registered.epoch();
            boolean calm = runs && !registered.fenced() && !registered.inControlledShutdown();
            if (id == lost || !runs && registered.fenced()) {
                silent++;
                continue;
            }
            long late = TimeUnit.MILLISECONDS.toNanos(node.clock.milliseconds() - 1);
            sent.add(calm ? send(of(id), OptionalLong.empty())
                : send(of(id), OptionalLong.of(late)).handle((reply, refused) -> null));
        }
        sent.forEach(node::answer);
        return silent;
    }

    private CompletableFuture<?> send(BrokerHeartbeatRequestData request, OptionalLong deadline) {
        return node.controller.processBrokerHeartbeat(ControllerCalls.context(ApiKeys.BROKER_HEARTBEAT, deadline), request);
    }

    private BrokerHeartbeatRequestData of(int id) {
        BrokerNode broker = brokers.get(id);
        int applied = broker == null ? node.end() : broker.applied;
        return new BrokerHeartbeatRequestData().setBrokerId(id).setBrokerEpoch(registrations().get(id).epoch())
            .setCurrentMetadataOffset(node.log.offset(applied));
    }

    @SuppressWarnings("unchecked")
    private Map<Integer, BrokerRegistration> registrations() {
        return (Map<Integer, BrokerRegistration>) Reflect.call(node.cluster, "brokerRegistrations");
    }
}
