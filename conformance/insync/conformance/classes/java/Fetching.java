package insync.harness;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import moved.AbstractRequest;
import moved.ApiKeys;
import moved.BlockingSend;
import moved.BrokerEndPoint;
import moved.ClientResponse;
import moved.Errors;
import moved.FetchIsolation;
import moved.FetchParams;
import moved.FetchPartitionData;
import moved.FetchRequest;
import moved.FetchResponse;
import moved.FetchResponseData;
import moved.ListOffsetsRequest;
import moved.ListOffsetsResponse;
import moved.ListOffsetsResponseData;
import moved.Partition;
import moved.ListOffsetsRequestData;
import moved.RecordBatch;
import moved.Records;
import org.apache.kafka.common.TopicIdPartition;
import moved.Uuid;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/** The two halves of a fetch: AbstractFetcherThread.maybeFetch, cut in two where the wire would be. */
final class Fetching {
    /** The leader's half is done, and its response is on its way. */
    private record Reply(Object thread, Object asked, FetchRequest.Builder request, FetchResponse response, String error) { }

    private final BrokerNode broker;
    private Reply reply;
    /** Whether the connection breaks at the next answer. */
    private boolean broken;
    /** The leader's records that answer the fetch: a part of its file, whatever is there by then. */
    private Records unsent;

    Fetching(BrokerNode broker) {
        this.broker = broker;
    }

    boolean replyWaits() {
        return reply != null;
    }

    /** The fetcher thread (which never started) that has the partition, null if there is none. */
    Object thread() {
        for (Object entry : Plain.list(Reflect.call(broker.replicas().replicaFetcherManager(), "fetcherThreadMap"))) {
            Object thread = ((Tuple2<?, ?>) entry)._2();
            if (Plain.orNull(Reflect.call(thread, "fetchState", broker.world.partition)) != null) return thread;
        }
        return null;
    }

    /** The thread whose session a follower goes on with: also that to a leader which has refused it in a later epoch. */
    private Object threadOfSession() {
        Object manager = broker.replicas().replicaFetcherManager();
        Object failed = Reflect.call(manager, "failedPartitions");
        Partition partition = broker.partition();
        if (partition == null || !(boolean) Reflect.call(failed, "contains", broker.world.partition)) return thread();
        Object followed = Plain.orNull(Reflect.call(partition, "leaderReplicaIdOpt"));
        for (Object entry : Plain.list(Reflect.call(manager, "fetcherThreadMap"))) {
            Object thread = ((Tuple2<?, ?>) entry)._2();
            if (followed != null && leaderOf(thread).id == (int) followed) return thread;
        }
        return null;
    }

    /** Asks the leader as the fetcher would, and keeps its answer; returns Kafka's error, or why nothing was asked. */
    String send() {
        Object thread = thread();
        if (thread == null) return "NO_FETCHER";
        Reflect.call(thread, "maybeTruncate");
        Object leader = Reflect.call(thread, "leader");
        Object states = Reflect.call(Reflect.get(thread, "partitionStates"), "partitionStateMap");
        boolean ofJava = Reflect.takes(leader, "buildFetch", states);
        Object built = Reflect.call(
            leader, "buildFetch", ofJava ? states : CollectionConverters.asScala((Map<?, ?>) states));
        Object fetch = Plain.orNull(Reflect.has(built, "result", 0)
            ? Reflect.call(built, "result") : Reflect.call(built, "_1"));
        if (fetch == null) return "NOTHING_TO_FETCH";
        FetchRequest.Builder request = (FetchRequest.Builder) Reflect.call(fetch, "fetchRequest");
        BrokerNode source = leaderOf(thread);
        if (!source.running) return "LEADER_IS_DOWN";
        FetchResponse response = serve(source, AsBytes.request(request.build(request.latestAllowedVersion())));
        String error = (response.error() != Errors.NONE ? response.error() : errorIn(response)).name();
        reply = new Reply(thread, Reflect.call(fetch, "partitionData"), request, response, error);
        return error;
    }

    /** What a response says of the partition; one that leaves it out has no error. */
    private static Errors errorIn(FetchResponse response) {
        if (response.data().responses().isEmpty()) return Errors.NONE;
        return Errors.forCode(response.data().responses().get(0).partitions().get(0).errorCode());
    }

    /** Asks the leader, and the connection breaks before the answer comes; returns Kafka's error in that answer. */
    String lose() {
        String error = send();
        if (reply == null) return error;
        broken = true;
        try {
            return receive(false);
        } finally {
            broken = false;
        }
    }

    /** The leader gives the place of the session to another one; returns whether there was a session. */
    String evictSession() {
        Object thread = thread();
        return thread != null && leaderOf(thread).sessions.evict(session(thread)) ? "NONE" : "NO_SESSION";
    }

    /** The session that the next fetch goes on with, and what it has told; null where there is none. */
    Map<String, Object> told() {
        Object thread = threadOfSession();
        if (thread == null || session(thread) == 0) return null;
        BrokerNode leader = leaderOf(thread);
        return leader.running ? leader.sessions.told(session(thread), broker.world.partition).orElse(null) : null;
    }

    /** The number of the session, 0 for none: the one that an answer on its way names, or that the next fetch will. */
    private int session(Object thread) {
        if (reply != null && reply.thread == thread) return reply.response.sessionId();
        Object next = Reflect.get(Reflect.get(Reflect.call(thread, "leader"), "fetchSessionHandler"), "nextMetadata");
        return (boolean) Reflect.call(next, "isFull") ? 0 : (int) Reflect.call(next, "sessionId");
    }

    private BrokerNode leaderOf(Object thread) {
        return broker.world.broker(((BrokerEndPoint) Reflect.call(Reflect.call(thread, "leader"), "brokerEndPoint")).id());
    }

    /**
     * The fetcher receives the answer that was kept; returns Kafka's error in it.
     *
     * @param rewritten whether the leader sends its bytes now only, with what its file has there by now
     */
    String receive(boolean rewritten) {
        if (reply == null) return "NO_REPLY";
        Reply arrived = reply;
        if (rewritten && !arrived.response.data().responses().isEmpty()) {
            arrived.response.data().responses().get(0).partitions().get(0).setRecords(Wire.copy(unsent));
        }
        try {
            Reflect.call(arrived.thread, "processFetchRequest", arrived.asked, arrived.request);
        } finally {
            reply = null;
        }
        return arrived.error;
    }

    /** What KafkaApis.handleFetchRequest does: the leader's half. */
    private FetchResponse serve(BrokerNode leader, FetchRequest request) {
        Map<Uuid, String> names = new HashMap<>();
        names.put(leader.world.controller.topicId, ControllerCalls.TOPIC);
        Sessions.Context context = leader.sessions == null ? null : leader.sessions.contextOf(request, names);
        List<Tuple2<?, ?>> asked = context == null ? new ArrayList<>() : context.asked();
        if (context == null) {
            request.fetchData(names).forEach((partition, data) -> asked.add(new Tuple2<>(partition, data)));
        } else if (asked.isEmpty()) {
            return context.response(new LinkedHashMap<>()); // the session is refused
        }
        FetchParams parameters = Construct.inOrder(FetchParams.class, request.version(), request.replicaId(),
            request.replicaEpoch(), 0L, request.minBytes(), request.maxBytes(), FetchIsolation.LOG_END, Optional.empty());
        LinkedHashMap<TopicIdPartition, FetchResponseData.PartitionData> answers = new LinkedHashMap<>();
        scala.Function1<Object, Object> found = results -> {
            for (Object result : Plain.list(results)) {
                Tuple2<?, ?> pair = (Tuple2<?, ?>) result;
                TopicIdPartition partition = (TopicIdPartition) pair._1();
                answers.put(partition, answer(partition, (FetchPartitionData) pair._2()));
            }
            return scala.runtime.BoxedUnit.UNIT;
        };
        Reflect.call(leader.replicas(), "fetchMessages", parameters, CollectionConverters.asScala(asked).toSeq(),
            Reflect.call(leader.parts.quotas, "leader"), found);
        leader.replicas().tryCompleteActions();
        return context == null ? Wire.fetchResponse(answers) : context.response(answers);
    }

    private FetchResponseData.PartitionData answer(TopicIdPartition partition, FetchPartitionData found) {
        unsent = found.records;
        FetchResponseData.PartitionData answer = new FetchResponseData.PartitionData()
            .setPartitionIndex(partition.partition()).setErrorCode(found.error.code())
            .setHighWatermark(found.highWatermark).setLogStartOffset(found.logStartOffset)
            .setRecords(Wire.copy(found.records));
        if (found.lastStableOffset.isPresent()) answer.setLastStableOffset(found.lastStableOffset.getAsLong());
        found.divergingEpoch.ifPresent(answer::setDivergingEpoch);
        return answer;
    }

    /** The fetcher's connection to a leader: it gives out the response that is kept. */
    final class Connection implements BlockingSend {
        private final BrokerEndPoint leader;

        Connection(BrokerEndPoint leader) {
            this.leader = leader;
        }

        @Override public BrokerEndPoint brokerEndPoint() {
            return leader;
        }

        @Override public ClientResponse sendRequest(AbstractRequest.Builder<? extends AbstractRequest> request) {
            if (broken) throw Reflect.unchecked(new IOException("the connection breaks"));
            short version = request.latestAllowedVersion();
            if (request.apiKey() == ApiKeys.FETCH) return Wire.response(ApiKeys.FETCH, version, reply.response);
            if (request.apiKey() == ApiKeys.LIST_OFFSETS) {
                ListOffsetsRequest asked = AsBytes.request((ListOffsetsRequest) request.build(version));
                return Wire.response(ApiKeys.LIST_OFFSETS, version, end(asked));
            }
            throw new UnsupportedOperationException(request.apiKey() + " is not served by the harness");
        }

        /** Where the leader's log begins or ends, for a follower whose log is beyond that. */
        private ListOffsetsResponse end(ListOffsetsRequest request) {
            ListOffsetsRequestData.ListOffsetsPartition asked = request.data().topics().get(0).partitions().get(0);
            int epoch = asked.currentLeaderEpoch();
            Ends.Answer found = Ends.ask(broker.world.broker(leader.id()), asked.timestamp(), null,
                epoch == RecordBatch.NO_PARTITION_LEADER_EPOCH ? Optional.empty() : Optional.of(epoch));
            ListOffsetsResponseData.ListOffsetsPartitionResponse answer =
                new ListOffsetsResponseData.ListOffsetsPartitionResponse().setPartitionIndex(asked.partitionIndex())
                    .setErrorCode(found.error().code()).setOffset(found.offset()).setLeaderEpoch(found.leaderEpoch());
            return new ListOffsetsResponse(new ListOffsetsResponseData().setTopics(List.of(
                new ListOffsetsResponseData.ListOffsetsTopicResponse()
                    .setName(ControllerCalls.TOPIC).setPartitions(List.of(answer)))));
        }

        @Override public void initiateClose() { }

        @Override public void close() { }
    }
}
