package insync.harness;

import java.util.Optional;
import moved.ApiException;
import moved.Errors;

/** Where a leader's log begins or ends: Kafka's ReplicaManager.fetchOffsetForTimestamp, which answers ListOffsets. */
final class Ends {
    /** An offset, or Kafka's error. */
    record Answer(Errors error, long offset, int leaderEpoch) { }

    private static final int UNKNOWN = -1;

    private Ends() { }

    /**
     * Asks a broker, which refuses if it does not lead, or not in that epoch.
     *
     * @param isolation what a consumer may read; null for a follower, which sees all
     */
    static Answer ask(BrokerNode leader, long timestamp, Object isolation, Optional<Integer> epoch) {
        Object found;
        try {
            Object result = Reflect.call(leader.replicas(), "fetchOffsetForTimestamp", leader.world.partition, timestamp,
                scala.Option.apply(isolation), epoch, true);
            found = Plain.orNull(Reflect.has(result, "timestampAndOffsetOpt", 0) // since 3.9
                ? Reflect.call(result, "timestampAndOffsetOpt") : result);
        } catch (ApiException refused) { // ReplicaManager.fetchOffset answers so, and before 4.0 KafkaApis
            return new Answer(Errors.forException(refused), UNKNOWN, UNKNOWN);
        }
        if (found == null) return new Answer(Errors.NONE, UNKNOWN, UNKNOWN);
        Object of = Plain.orNull(Reflect.get(found, "leaderEpoch"));
        return new Answer(Errors.NONE, (long) Reflect.get(found, "offset"), of == null ? UNKNOWN : (int) of);
    }
}
