package insync.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import moved.ApiKeys;
import moved.BrokerHeartbeatRequestData;
import moved.BrokerRegistration;
import moved.Uuid;

/**
 * The heartbeats of brokers, which Kafka's BrokerHeartbeatManager decides about, and the time that passes between them.
 *
 * The controller's clock stands still between two commands. At the end of each all sessions have just been renewed, but
 * those that were to end.
 */
final class Heartbeats {
    private static final long HALF = ControllerNode.SESSION / 2;
    /** In milliseconds, until a periodic task runs again that has more to do. */
    private static final long AT_ONCE = 11;
    private static final int NOBODY = -1;

    private final ControllerNode node;
    private final Map<Integer, BrokerNode> brokers;

    Heartbeats(ControllerNode node, Map<Integer, BrokerNode> brokers) {
        this.node = node;
        this.brokers = brokers;
    }

    /** Sends a heartbeat of a broker that is ready or not, with directories that have failed; returns whether it is fenced. */
    boolean beat(int id, boolean ready, List<Uuid> failed) {
        Object reply = node.answer(send(of(id).setWantFence(!ready).setOfflineLogDirs(failed), OptionalLong.empty()));
        return (boolean) Reflect.call(reply, "isFenced");
    }

    /** Sends a heartbeat that asks for a shutdown, after others that say which metadata all brokers have read. */
    void beatToStop(int id) {
        renewAll();
        node.answer(send(of(id).setWantShutDown(true), OptionalLong.empty()));
    }

    /**
     * Lets the session of a broker end, and those of brokers that are down and fenced; all others last. The controller
     * handles one of them at a time, since 4.0 ten milliseconds after another.
     */
    void expire(int id) {
        int silent = pass(HALF, id);
        node.pass(HALF + 1);
        for (int more = 1; more < silent; more++) node.pass(AT_ONCE);
        renew(id);
    }

    /**
     * Lets half of a session pass without a heartbeat of one broker. Returns how long a registration must take from then on
     * that finds the session over, before the controller can fence the broker.
     */
    long passHalf(int id) {
        pass(HALF, id);
        return HALF + 1;
    }

    /** Moves the clock on until the tasks that elect leaders have run, while all sessions last. */
    void passChecks() {
        for (long passed = 0; passed < ControllerNode.CHECKS; passed += ControllerNode.SESSION) {
            pass(ControllerNode.SESSION - 1, NOBODY);
        }
        node.settle();
    }

    void renewAll() {
        renew(NOBODY);
    }

    /**
     * Moves the clock on and renews the sessions of all brokers but one; returns how many were not renewed. The
     * controller's tasks that are due run before it handles the heartbeats, so to wait for these is enough.
     */
    private int pass(long milliseconds, int lost) {
        node.clock.advance(milliseconds);
        return renew(lost);
    }

    /**
     * Renews the sessions of all brokers but one, and returns how many were not renewed. A heartbeat of a broker that is
     * down and not fenced yet was on its way. That one, and those of brokers that stop or are fenced, wait too long in the
     * controller's queue: Kafka renews the session, and decides nothing (processExpiredBrokerHeartbeat). Of a broker that is
     * down and fenced there is none.
     */
    private int renew(int lost) {
        int silent = 0;
        List<Supplier<CompletableFuture<?>>> beats = new ArrayList<>(); // all are read before the controller works
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
            BrokerHeartbeatRequestData beat = of(id);
            beats.add(calm ? () -> send(beat, OptionalLong.empty())
                : () -> send(beat, OptionalLong.of(late)).handle((reply, refused) -> null));
        }
        if (beats.isEmpty()) node.settle(); // there is no answer to wait for
        List<CompletableFuture<?>> sent = new ArrayList<>();
        beats.forEach(beat -> sent.add(beat.get()));
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
