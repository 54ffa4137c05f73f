package insync.harness;

import java.util.Map;
import moved.Errors;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/** A log that moves to another directory of its broker, a round of the thread that copies it at a time. */
final class Moving {
    private final BrokerNode broker;

    Moving(BrokerNode broker) {
        this.broker = broker;
    }

    /** An operator moves the log to the other directory; returns Kafka's error. */
    String begin() {
        return alter(broker.directories.other(broker.log(), broker.base()));
    }

    /** An operator takes that back: the log is to be where it is; returns Kafka's error. */
    String cancel() {
        return alter((String) Reflect.call(broker.log(), "parentDir"));
    }

    private String alter(String path) {
        scala.collection.Map<?, ?> wanted = CollectionConverters.asScala(Map.of(broker.world.partition, path));
        Object answers = Reflect.call(broker.replicas(), "alterReplicaLogDirs", wanted);
        Object first = Plain.list(answers).get(0);
        return ((Errors) ((Tuple2<?, ?>) first)._2()).name();
    }

    /** One round of ReplicaAlterLogDirsThread.doWork; returns whether there is a thread that copies. */
    boolean work() {
        Object thread = thread();
        if (thread == null) return false;
        Reflect.call(thread, "doWork");
        return true;
    }

    /** Cuts the copy back where the log was cut, which the thread does before anything else. */
    void truncate() {
        Object thread = thread();
        if (thread != null) Reflect.call(thread, "maybeTruncate");
    }

    /** The thread that copies the log, null where none does. */
    private Object thread() {
        for (Object entry : Plain.list(Reflect.call(manager(), "fetcherThreadMap"))) {
            Object thread = ((Tuple2<?, ?>) entry)._2();
            if (Plain.orNull(Reflect.call(thread, "fetchState", broker.world.partition)) != null) return thread;
        }
        return null;
    }

    private Object manager() {
        return Reflect.call(broker.replicas(), "replicaAlterLogDirsManager");
    }

    /** How far the move is with the controller: None, Queued or Accepted; null where no thread copies. */
    String promotion() {
        Object thread = thread();
        if (thread == null) return null;
        if (!Reflect.has(thread, "promotionStates")) return requested(thread);
        Object state = ((Map<?, ?>) Reflect.call(thread, "promotionStates")).get(broker.world.partition);
        return state == null ? null : Reflect.call(state, "reassignmentState").toString();
    }

    /** What 3.7.0 notes alone, and under other names: whether the controller has been asked, and has answered. */
    private String requested(Object thread) {
        Object state = ((Map<?, ?>) Reflect.get(thread, "assignmentRequestStates")).get(broker.world.partition);
        if (state == null) return "None";
        return state.toString().equals("COMPLETED") ? "Accepted" : "Queued";
    }

    /** The copy, null where there is none. */
    Object copy() {
        return Plain.orNull(Reflect.call(broker.parts.logManager, "getLog", broker.world.partition, true));
    }
}
