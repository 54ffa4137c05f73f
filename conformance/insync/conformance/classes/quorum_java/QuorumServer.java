package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import moved.AbstractConfig;
import moved.AddRaftVoterResponseData;
import moved.ApiKeys;
import moved.ApiMessage;
import moved.ApiVersionsResponseData;
import moved.BatchMemoryPool;
import moved.BatchReader;
import moved.Errors;
import moved.KRaftVersion;
import moved.LogContext;
import moved.Metrics;
import moved.MockExpirationService;
import moved.MockMessageQueue;
import moved.MockNetworkChannel;
import moved.MockTime;
import moved.RemoveRaftVoterResponseData;
import moved.SnapshotReader;
import moved.SupportedVersionRange;

/**
 * A server of the quorum, from its start to its next restart: Kafka's Raft client with a clock and a mailbox of its own.
 *
 * Of all timeouts a request's is the shortest and a leader's the longest, and a message that is handled takes a millisecond.
 */
final class QuorumServer {
    private static final int REQUEST = 500_000;
    private static final int ELECTION = 1_000_000;
    private static final int FETCH = 100_000_000;
    /** How long a leader waits for fetches of a majority: LeaderState.CHECK_QUORUM_TIMEOUT_FACTOR times the fetch timeout. */
    private static final int CHECK = FETCH / 2 * 3;
    private static final int MOST_WAITS = 4;
    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("nowhere", 9000);
    /** By which number the client knows its bootstrap server. */
    static final int ANY = -2;
    static final SupportedVersionRange VERSIONS = new SupportedVersionRange((short) 0, (short) 1);

    final int id;
    final QuorumDisk disk;
    final KafkaRaftClient<Integer> client;
    /** The clients' records that it has committed while it led. */
    final Set<Integer> acknowledged = new TreeSet<>();
    /** Those of them that it was asked to write while it leads. */
    final Set<Integer> answered = new TreeSet<>();
    /** The epochs that it has ended, with each server that it has told so. */
    final Set<List<Integer>> ended = new HashSet<>();
    private final Map<Integer, Integer> epochs = new HashMap<>();
    /** What it has answered who asked it to change its voters, and the last that it has not answered yet as PENDING. */
    final List<String> changes = new ArrayList<>();
    private final MockTime time = new MockTime(0);
    private final MockMessageQueue queue = new MockMessageQueue();
    private final MockNetworkChannel channel;
    private final RequestManager requests;

    QuorumServer(int id, QuorumDisk disk, Map<Integer, InetSocketAddress> voters, AtomicInteger correlations) {
        this.id = id;
        this.disk = disk;
        disk.kept.reopen(); // what was not flushed is lost
        channel = new MockNetworkChannel(correlations);
        client = new KafkaRaftClient<>(
            OptionalInt.of(id), disk.directory, new QuorumDisk.Whole(), channel, queue, disk.kept.seen,
            new BatchMemoryPool(5, KafkaRaftClient.MAX_BATCH_SIZE_BYTES), time, new MockExpirationService(time), 0, true,
            "insync", List.of(NOWHERE), // a server that knows no leader asks one that never answers
            endpoints(id), VERSIONS, new LogContext("[" + id + "] "), new Latest(), config(voters));
        client.register(new Told());
        client.initialize(voters, disk.store, new Metrics(time) /*from 4.0*/, version -> { }/*end*/);
        requests = (RequestManager) Inside.of(client, "requestManager");
    }

    static Endpoints endpoints(int id) {
        return Endpoints.fromInetSocketAddresses(Map.of(MockNetworkChannel.LISTENER_NAME, Quorum.address(id)));
    }

    private static QuorumConfig config(Map<Integer, InetSocketAddress> voters) {
        Map<String, Object> values = new HashMap<>();
        if (!voters.isEmpty()) values.put(QuorumConfig.QUORUM_VOTERS_CONFIG, voters.entrySet().stream()
            .map(voter -> voter.getKey() + "@" + voter.getValue().getHostString() + ":" + voter.getValue().getPort())
            .toList());
        values.put(QuorumConfig.QUORUM_REQUEST_TIMEOUT_MS_CONFIG, REQUEST);
        values.put(QuorumConfig.QUORUM_RETRY_BACKOFF_MS_CONFIG, 1);
        values.put(QuorumConfig.QUORUM_ELECTION_TIMEOUT_MS_CONFIG, ELECTION);
        values.put(QuorumConfig.QUORUM_ELECTION_BACKOFF_MAX_MS_CONFIG, ELECTION);
        values.put(QuorumConfig.QUORUM_FETCH_TIMEOUT_MS_CONFIG, FETCH);
        values.put(QuorumConfig.QUORUM_LINGER_MS_CONFIG, 0);
        return new QuorumConfig(new AbstractConfig(QuorumConfig.CONFIG_DEF, values, false));
    }

    /** Lets it handle what has arrived, and do what it does of itself then: what a new state asks for goes out later. */
    void settle() {
        do {
            client.poll();
            time.sleep(1);
        } while (!queue.isEmpty());
        client.poll();
        client.poll();
    }

    /** Lets so much time pass that it does not wait for a leader, for votes, or for fetches of a majority, any more. */
    void timeOut() {
        Object before = Inside.of(client.quorum(), "state");
        for (int wait = 0; wait < MOST_WAITS && Inside.of(client.quorum(), "state") == before; wait++) {
            time.sleep(client.quorum().isFollower() ? FETCH + 1 : client.quorum().isLeader() ? CHECK + 1 : 2 * ELECTION);
            client.poll();
        }
        settle();
    }

    void append(int value) {
        epochs.put(value, client.quorum().epoch());
        client.prepareAppend(client.quorum().epoch(), List.of(value));
        client.schedulePreparedAppend();
        settle();
    }

    /** Has it lead no longer, as an upper layer does. */
    void resign() {
        client.resign(client.quorum().epoch());
        settle();
    }

    void addVoter(VoterSet.VoterNode voter) {
        change(RaftUtil.addVoterRequest("insync", REQUEST, voter.voterKey(), voter.listeners()/*from 4.2*/, true/*end*/));
    }

    void removeVoter(VoterSet.VoterNode voter) {
        change(RaftUtil.removeVoterRequest("insync", voter.voterKey()));
    }

    private void change(ApiMessage asked) {
        int place = changes.size();
        changes.add("PENDING");
        answer(ApiKeys.forId(asked.apiKey()), 0, asked, answer -> changes.set(place, Errors.forCode(
            answer instanceof AddRaftVoterResponseData added
                ? added.errorCode() : ((RemoveRaftVoterResponseData) answer).errorCode()).name()));
    }

    /** What a server answers who asks it which features it supports. */
    static ApiMessage supported() {
        var features = new ApiVersionsResponseData.SupportedFeatureKeyCollection(1);
        features.add(new ApiVersionsResponseData.SupportedFeatureKey()
            .setName(KRaftVersion.FEATURE_NAME).setMinVersion(VERSIONS.min()).setMaxVersion(VERSIONS.max()));
        return new ApiVersionsResponseData().setSupportedFeatures(features);
    }

    /** Lets it answer a request. */
    void answer(Letter letter, Consumer<ApiMessage> answered) {
        answer(ApiKeys.forId(letter.key), letter.request.correlationId(), letter.data, answered);
    }

    private void answer(ApiKeys key, int correlation, ApiMessage asked, Consumer<ApiMessage> answered) {
        RaftRequest.Inbound request = new RaftRequest.Inbound(
            channel.listenerName(), correlation, key.latestVersion(true), asked, time.milliseconds());
        request.completion.whenComplete((answer, raised) -> {
            if (raised != null) throw new IllegalStateException(raised);
            answered.accept(answer.data());
        });
        client.handle(request);
        settle();
    }

    /** Lets it have the answer to a request of its own. */
    void receive(Letter letter) {
        channel.mockReceive(new RaftResponse.Inbound(
            letter.request.correlationId(), letter.data, letter.request.destination()));
        settle();
    }

    /** The requests that it has sent since the last time. */
    List<RaftRequest.Outbound> sent() {
        return channel.drainSendQueue();
    }

    long now() {
        return time.milliseconds();
    }

    boolean awaits(RaftRequest.Outbound request) {
        return requests.isResponseExpected(request.destination(), request.correlationId());
    }

    /** Draws the highest numbers, so that nothing happens earlier than it must. */
    private static final class Latest extends Random {
        @Override public int nextInt(int bound) {
            return bound - 1;
        }
    }

    /** Who is told what is committed. */
    private final class Told implements RaftClient.Listener<Integer> {
        @Override public void handleCommit(BatchReader<Integer> reader) {
            try (reader) {
                while (reader.hasNext()) {
                    List<Integer> records = reader.next().records();
                    if (!client.quorum().isLeader()) continue;
                    acknowledged.addAll(records);
                    for (int one : records) if (epochs.getOrDefault(one, -1) == client.quorum().epoch()) answered.add(one);
                }
            }
        }

        @Override public void handleLoadSnapshot(SnapshotReader<Integer> reader) {
            reader.close();
        }

        /*from 4.3*/
        @Override public void handleLoadBootstrap(SnapshotReader<Integer> reader) {
            reader.close();
        }
        /*end*/

        @Override public void handleLeaderChange(LeaderAndEpoch leader) { }
    }
}
