package insync.harness;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import moved.FetchManager;
import moved.FetchRequest;
import moved.FetchResponse;
import moved.TopicPartition;
import moved.Uuid;
import scala.Tuple2;

/** Kafka's fetch sessions of a leader: what it remembers of the fetches before, in memory only. */
final class Sessions {
    private static final int SLOTS = 1_000;
    private static final long EVICTED_AFTER = 120_000L;

    private final Object manager;
    private final Object cache;

    Sessions(StillClock clock) {
        Class<?> shard = Reflect.classOrNull("kafka.server.FetchSessionCacheShard"); // since 3.9
        if (shard == null) shard = Reflect.classOrNull("org.apache.kafka.server.FetchSessionCacheShard"); // since 4.2
        cache = shard == null
            ? Construct.exactly(Reflect.classOf("kafka.server.FetchSessionCache"), SLOTS, EVICTED_AFTER)
            : Construct.exactly(shard, SLOTS, EVICTED_AFTER, Integer.MAX_VALUE, 0);
        manager = Construct.exactly(FetchManager.class, clock, cache);
    }

    /** What a request is, beside those before it: KafkaApis asks the same. */
    Context contextOf(FetchRequest request, Map<Uuid, String> names) {
        return new Context(Reflect.call(manager, "newContext", request.version(), request.metadata(),
            request.isFromFollower(), request.fetchData(names), request.forgottenTopics(names), names));
    }

    /** Gives the place of a session to another one; returns whether it was there. */
    boolean evict(int session) {
        return Plain.orNull(Reflect.call(cache, "remove", session)) != null;
    }

    /** The high watermark that a session has told, null for none; empty where there is no such session. */
    Optional<Map<String, Object>> told(int session, TopicPartition partition) {
        Object found = Plain.orNull(Reflect.call(cache, "get", session));
        if (found == null) return Optional.empty();
        Map<String, Object> told = new HashMap<>();
        told.put("high_watermark", null);
        for (Object one : Plain.list(Reflect.call(found, "partitionMap"))) {
            if ((int) Reflect.get(one, "partition") != partition.partition()) continue;
            long watermark = (long) Reflect.get(one, "highWatermark");
            told.put("high_watermark", watermark < 0 ? null : watermark);
        }
        return Optional.of(told);
    }

    /** One request of a session. */
    static final class Context {
        private final Object context;

        private Context(Object context) {
            this.context = context;
        }

        /** The partitions that are asked for, also those that the request leaves out, with what is asked. */
        List<Tuple2<?, ?>> asked() {
            List<Tuple2<?, ?>> all = new ArrayList<>();
            Object each = Reflect.methods(context.getClass(), "foreachPartition", 1).get(0)
                    .getParameterTypes()[0] == BiConsumer.class
                ? (BiConsumer<Object, Object>) (partition, data) -> all.add(new Tuple2<>(partition, data))
                : (scala.Function2<Object, Object, Object>) (partition, data) -> {
                    all.add(new Tuple2<>(partition, data));
                    return scala.runtime.BoxedUnit.UNIT;
                };
            Reflect.call(context, "foreachPartition", each);
            return all;
        }

        /** The answer, without the partitions of which the session has nothing new to tell. */
        FetchResponse response(LinkedHashMap<?, ?> answers) {
            return (FetchResponse) Reflect.callWithFirst(context, "updateAndGenerateResponseData", answers, List.of());
        }
    }
}
