package insync.harness;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import moved.ApiMessageAndVersion;
import moved.Batch;
import moved.LeaderAndEpoch;
import moved.MemoryBatchReader;
import moved.RaftClient;

/**
 * The metadata log in place of Kafka's Raft: its only member leads for ever, and commits what is appended at once.
 *
 * A batch of the log is what one event of the controller has decided. The controller appends in the thread of its queue,
 * and handles the commit as another event there.
 */
final class ControllerLog {
    static final int EPOCH = 1;

    private final StillClock clock;
    private final List<Batch<ApiMessageAndVersion>> batches = new ArrayList<>();
    private Batch<ApiMessageAndVersion> prepared;
    private RaftClient.Listener<ApiMessageAndVersion> listener;
    private volatile int pending;

    ControllerLog(StillClock clock) {
        this.clock = clock;
    }

    /** The place of the newest batch. */
    int end() {
        return batches.size() - 1;
    }

    /** The batch at a place. */
    Batch<ApiMessageAndVersion> at(int place) {
        return batches.get(place);
    }

    /** The offset of the last record of the batch at a place, -1 before the first. */
    long offset(int place) {
        return place < 0 ? -1L : batches.get(place).lastOffset();
    }

    /** The batches from one place to another, the last one with them. */
    List<Batch<ApiMessageAndVersion>> between(int first, int last) {
        return batches.subList(first, last + 1);
    }

    /** Whether the controller has handled the commit of all that it has appended. */
    boolean isSettled() {
        return pending == 0;
    }

    /** Makes the only member the leader. */
    void lead() {
        Reflect.call(listener, "handleLeaderChange", leader());
    }

    private static LeaderAndEpoch leader() {
        return new LeaderAndEpoch(OptionalInt.of(ControllerNode.NODE_ID), EPOCH);
    }

    /** What the controller takes for its Raft client; a proxy, as releases append by different methods. */
    @SuppressWarnings("unchecked")
    RaftClient<ApiMessageAndVersion> client() {
        Class<?>[] types = {RaftClient.class};
        return (RaftClient<ApiMessageAndVersion>) Proxy.newProxyInstance(
            RaftClient.class.getClassLoader(), types, (proxy, method, given) -> answer(method, given));
    }

    @SuppressWarnings("unchecked")
    private Object answer(Method method, Object[] given) {
        switch (method.getName()) {
            case "register" -> listener = (RaftClient.Listener<ApiMessageAndVersion>) given[0];
            case "leaderAndEpoch" -> { return leader(); }
            case "logEndOffset" -> { return offset(end()) + 1; }
            case "kraftVersion" -> { return Reflect.getStatic(method.getReturnType(), "KRAFT_VERSION_1"); }
            case "prepareAppend" -> { return prepare((List<ApiMessageAndVersion>) given[1]); }
            case "schedulePreparedAppend" -> commit();
            case "scheduleAppend", "scheduleAtomicAppend" -> { // before 3.9
                long last = prepare((List<ApiMessageAndVersion>) given[given.length - 1]);
                commit();
                return last;
            }
            default -> throw new Reflect.NoSuchElement("a Raft client that does " + method.getName());
        }
        return null;
    }

    private long prepare(List<ApiMessageAndVersion> records) {
        long first = offset(end()) + 1;
        prepared = Batch.data(first, EPOCH, clock.milliseconds(), 100, List.copyOf(records));
        return prepared.lastOffset();
    }

    @SuppressWarnings("NonAtomicOperationOnVolatileField") // the controller's thread alone writes it
    private void commit() {
        batches.add(prepared);
        pending++;
        listener.handleCommit(MemoryBatchReader.of(List.of(prepared), reader -> pending--));
    }
}
