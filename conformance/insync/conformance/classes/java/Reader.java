package insync.harness;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import moved.ApiVersions;
import moved.ClientMetadata;
import moved.Errors;
import moved.FetchIsolation;
import moved.FetchParams;
import moved.FetchPartitionData;
import moved.KafkaPrincipal;
import moved.LogContext;
import moved.Record;
import moved.RecordBatch;
import moved.SubscriptionState;
import org.apache.kafka.clients.Metadata.LeaderAndEpoch;
import org.apache.kafka.clients.consumer.internals.SubscriptionState.FetchPosition;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A consumer that is assigned the partition: Kafka's SubscriptionState, which has its position and validates it, and the
 * brokers' halves of what it asks. What is between (threads, connections, the buffer of records) is a method call.
 */
final class Reader {
    /** The replica id of a consumer, which is none. */
    private static final int CONSUMER = -1;
    /** As many as are wanted at least: a broker gives one batch, which has one record here. */
    private static final int BYTES = 1;
    private static final ClientMetadata NEAR = new ClientMetadata.DefaultClientMetadata(
        "", "", InetAddress.getLoopbackAddress(), KafkaPrincipal.ANONYMOUS, "");

    private final Cluster world;
    private final SubscriptionState subscriptions;
    private final Map<Long, String> got = new LinkedHashMap<>();

    Reader(Cluster world, String reset) {
        this.world = world;
        Class<?> now = Reflect.classOrNull("org.apache.kafka.clients.consumer.internals.AutoOffsetResetStrategy"); // since 4.0
        Class<?> strategies = now != null ? now : Reflect.classOf("org.apache.kafka.clients.consumer.OffsetResetStrategy");
        subscriptions = Construct.exactly(
            SubscriptionState.class, new LogContext(), Reflect.getStatic(strategies, reset.toUpperCase()));
        subscriptions.assignFromUser(Set.of(world.partition));
        subscriptions.seekUnvalidated(world.partition, new FetchPosition(0, Optional.empty(), LeaderAndEpoch.noLeaderOrEpoch()));
        BrokerNode leader = world.broker((int) world.controller.partition().leader);
        subscriptions.maybeValidatePositionForCurrentLeader(new ApiVersions(), world.partition, named(leader));
    }

    // ---------------------------------------------------------------------------------------------------- what it does

    /** Reads the record at its position from a broker (FetchCollector takes it from the answer); returns Kafka's error. */
    String read(BrokerNode broker) {
        if (!(boolean) Reflect.call(subscriptions, "isFetchable", world.partition)) return "NOT_FETCHABLE";
        FetchPosition position = position();
        FetchPartitionData answer = fetch(broker, position);
        if (answer.error.code() != 0) return answer.error.name();
        for (RecordBatch batch : answer.records.batches()) {
            for (Record record : batch) {
                if (record.offset() < position.offset) continue; // before the position, in the same batch
                byte[] value = new byte[record.valueSize()];
                record.value().get(value);
                got.put(record.offset(), new String(value, StandardCharsets.UTF_8));
                subscriptions.position(world.partition, new FetchPosition(
                    record.offset() + 1, Optional.of(batch.partitionLeaderEpoch()), leader(position)));
                return "NONE";
            }
        }
        return "NO_RECORD";
    }

    /** Learns of an epoch, asks its leader where the epoch of its last record ends, and receives the answer. */
    String validate(BrokerNode leader) {
        if (!subscriptions.maybeValidatePositionForCurrentLeader(new ApiVersions(), world.partition, named(leader))) {
            return "NONE"; // it has read nothing since it was put there
        }
        FetchPosition asked = position();
        EpochEndOffset answer = leader.partition().lastOffsetForLeaderEpoch(
            leader(asked).epoch, epoch(asked).get(), true);
        if (answer.errorCode() != 0) return "ERROR_" + answer.errorCode();
        boolean truncated = subscriptions.maybeCompleteValidation(world.partition, asked, answer).isPresent();
        if (truncated) return "LOG_TRUNCATION";
        String error = subscriptions.isOffsetResetNeeded(world.partition) ? putWhereReset(leader, leader(asked)) : "NONE";
        forgetFrom(position().offset);
        return error;
    }

    /** Asks for a position that the log has not got, and is reset. */
    String reset(BrokerNode leader) {
        LeaderAndEpoch current = leader(position());
        FetchPartitionData answer = fetch(leader, position());
        if (!answer.error.name().equals("OFFSET_OUT_OF_RANGE")) return answer.error.name();
        subscriptions.requestOffsetReset(world.partition);
        return putWhereReset(leader, current);
    }

    /** Asks where its log begins or ends, as auto.offset.reset says (ListOffsets), and goes there. */
    private String putWhereReset(BrokerNode leader, LeaderAndEpoch current) {
        Object strategy = Reflect.call(subscriptions, "resetStrategy", world.partition);
        long timestamp = strategy.toString().toUpperCase().contains("EARLIEST")
            ? ListOffsetsRequest.EARLIEST_TIMESTAMP : ListOffsetsRequest.LATEST_TIMESTAMP;
        Ends.Answer found = Ends.ask(leader, timestamp, IsolationLevel.READ_UNCOMMITTED, current.epoch);
        if (found.error() != Errors.NONE) return found.error().name();
        if (found.offset() < 0) return "NO_OFFSET";
        got.clear();
        Reflect.call(subscriptions, "maybeSeekUnvalidated", world.partition,
            new FetchPosition(found.offset(), Optional.empty(), current), strategy);
        return "NONE";
    }

    // ---------------------------------------------------------------------------------------------------- what it asks

    private FetchPartitionData fetch(BrokerNode broker, FetchPosition position) {
        TopicIdPartition partition = new TopicIdPartition(world.controller.topicId, world.partition);
        FetchRequest.PartitionData asked = new FetchRequest.PartitionData(world.controller.topicId, position.offset,
            -1L, BYTES, leader(position).epoch, Optional.empty());
        Optional<?> near = broker.partition().isLeader() ? Optional.empty() : Optional.of(NEAR); // a follower wants to know
        FetchParams parameters = Construct.inOrder(
            FetchParams.class, (short) 12, CONSUMER, -1L, 0L, 0, BYTES, FetchIsolation.HIGH_WATERMARK, near);
        List<FetchPartitionData> answers = new ArrayList<>();
        scala.Function1<Object, Object> found = results -> {
            for (Object result : Plain.list(results)) answers.add((FetchPartitionData) ((Tuple2<?, ?>) result)._2());
            return scala.runtime.BoxedUnit.UNIT;
        };
        List<Tuple2<?, ?>> all = List.of(new Tuple2<>(partition, asked));
        Reflect.call(broker.replicas(), "fetchMessages", parameters, CollectionConverters.asScala(all).toSeq(),
            Reflect.call(broker.parts.quotas, "leader"), found);
        return answers.get(0);
    }

    /** A broker as the consumer learns of it: it leads, in the epoch in which it is itself. */
    private static LeaderAndEpoch named(BrokerNode leader) {
        return new LeaderAndEpoch(
            Optional.of(new Node(leader.id, "b" + leader.id, 9092)), Optional.of(leader.partition().getLeaderEpoch()));
    }

    // -------------------------------------------------------------------------------------------------------- looking

    private FetchPosition position() {
        return subscriptions.position(world.partition);
    }

    private static LeaderAndEpoch leader(FetchPosition position) {
        return (LeaderAndEpoch) Reflect.get(position, "currentLeader");
    }

    @SuppressWarnings("unchecked")
    private static Optional<Integer> epoch(FetchPosition position) {
        return (Optional<Integer>) Reflect.get(position, "offsetEpoch");
    }

    private void forgetFrom(long offset) {
        got.keySet().removeIf(at -> at >= offset);
    }

    /** Where it is, what it has got since it was put there, and in which epoch it takes the leader to be. */
    Map<String, Object> seen() {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("position", position().offset);
        seen.put("last_epoch", epoch(position()).orElse(-1));
        seen.put("leader_epoch", leader(position()).epoch.orElse(-1));
        seen.put("got", new LinkedHashMap<>(got));
        return seen;
    }
}
