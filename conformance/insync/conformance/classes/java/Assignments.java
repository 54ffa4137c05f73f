package insync.harness;

import java.util.Collections;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import moved.AbstractRequest;
import moved.ApiKeys;
import moved.AssignReplicasToDirsRequest;
import moved.AssignReplicasToDirsResponse;
import moved.AssignReplicasToDirsResponseData;
import moved.AssignmentsManager;
import moved.ControllerRequestCompletionHandler;
import moved.Errors;
import moved.KafkaEventQueue;
import moved.TopicPartition;
import moved.Uuid;

/**
 * Kafka's AssignmentsManager of one broker, and its connection to the controller: each request, and then its answer,
 * waits until a command delivers it.
 *
 * Its event queue has a thread of its own. It has a clock of its own as well, which moves on within a command alone, and
 * each command waits until the queue has nothing to do. So nothing happens in that thread between two commands.
 */
final class Assignments extends UnconnectedChannel {
    private record Sent(AssignReplicasToDirsRequest request, ControllerRequestCompletionHandler handler) { }

    /** Longer than it ever waits between two requests: ten seconds and a little, after many failures. */
    private static final long LONG = 60_000;
    /** Whether it asks metadata before it sends whether the broker has the replica (KAFKA-17190, 3.9). */
    static final boolean DROPS_INVALID = !Reflect.methods(AssignmentsManager.class, "maybeSendAssignments").isEmpty();

    private final BrokerNode broker;
    private final StillClock clock = new StillClock();
    private final List<Sent> sent = Collections.synchronizedList(new ArrayList<>());
    private final AssignmentsManager manager;
    private final KafkaEventQueue events;
    private AssignReplicasToDirsResponseData answer;

    Assignments(BrokerNode broker) {
        this.broker = broker;
        Supplier<?> image = () -> Reflect.call(broker.parts.cache, "currentImage");
        Supplier<Long> epoch = () -> broker.epoch;
        Function<Uuid, ?> described = directory -> DROPS_INVALID ? directory.toString() : Optional.of(directory.toString());
        manager = Construct.inOrder(
            AssignmentsManager.class, clock, this, broker.id, DROPS_INVALID ? image : epoch, described, described);
        events = (KafkaEventQueue) Reflect.get(manager, "eventQueue");
    }

    /** A broker ends, and what waits here with it. */
    void close() {
        Reflect.call(manager, "close");
    }

    /** What a part of the broker tells, by Kafka's own arguments. */
    void onAssignment(Object... given) {
        Reflect.call(manager, "onAssignment", given);
        settle();
    }

    /** In which directory a replica is of which it has still to tell; null for nothing. */
    Uuid ready(Uuid topic, TopicPartition partition) {
        Map<?, ?> all = (Map<?, ?>) Reflect.get(manager, DROPS_INVALID ? "ready" : "pending");
        for (Map.Entry<?, ?> one : all.entrySet()) {
            boolean same = Reflect.call(one.getKey(), "topicId").equals(topic)
                && (int) Reflect.call(one.getKey(), "partitionId") == partition.partition();
            if (same && DROPS_INVALID) return (Uuid) Reflect.call(one.getValue(), "directoryId");
            if (same) return (Uuid) Reflect.get(one.getValue(), "dirId");
        }
        return null;
    }

    boolean answerWaits() {
        return !sent.isEmpty();
    }

    /**
     * Whether it will never send anything any more: before 3.9 it takes a request for one on its way for ever after what
     * the broker does with the answer has thrown, as where the copy is gone that it asked for.
     */
    boolean isSilent() {
        return !DROPS_INVALID && !answerWaits() && Reflect.get(manager, "inflight") != null;
    }

    /** Time passes, so that it sends what it has to tell, or drops what is of no replica any more. */
    void passTime() {
        clock.advance(LONG);
        settle();
    }

    private void settle() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        events.append(() -> done.complete(null)); // what is due comes before it
        done.join();
    }

    /** The controller handles what it has to tell; returns Kafka's error, or that there is nothing. */
    String assign() {
        if (answerWaits()) throw new IllegalStateException("an answer about directories is still on its way");
        passTime();
        if (!answerWaits()) return "NOTHING_TO_ASSIGN";
        answer = broker.world.controller.assign(AsBytes.request(sent.get(0).request));
        Errors error = Errors.forCode(answer.errorCode() != 0 ? answer.errorCode()
            : answer.directories().get(0).topics().get(0).partitions().get(0).errorCode());
        if (error != Errors.NONE) hear(); // and it sends that again some time
        return error.name();
    }

    /** The broker receives the answer. */
    void hear() {
        Sent oldest = taken();
        oldest.handler.onComplete(Wire.response(
            ApiKeys.ASSIGN_REPLICAS_TO_DIRS, oldest.request.version(), new AssignReplicasToDirsResponse(answer)));
        settle();
    }

    /** No answer comes in time. */
    void lose() {
        taken().handler.onTimeout();
        settle();
    }

    private Sent taken() {
        if (!answerWaits()) throw new IllegalStateException("no answer about directories is on its way");
        return sent.remove(0);
    }

    // ------------------------------------------------------------------------------------------------- the connection

    @Override
    public void sendRequest(
        AbstractRequest.Builder<? extends AbstractRequest> request, ControllerRequestCompletionHandler handler
    ) {
        sent.add(new Sent((AssignReplicasToDirsRequest) request.build(), handler));
    }
}
