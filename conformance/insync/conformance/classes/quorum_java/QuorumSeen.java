package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import moved.ApiKeys;
import moved.BeginQuorumEpochRequestData;
import moved.BeginQuorumEpochResponseData;
import moved.EndQuorumEpochRequestData;
import moved.Errors;
import moved.FetchRequestData;
import moved.FetchResponseData;
import moved.KRaftControlRecordStateMachine;
import moved.MemoryRecords;
import moved.VoteRequestData;
import moved.VoteResponseData;

/** The state of a quorum as it is told: the servers and the messages between them. */
final class QuorumSeen {
    private final Quorum quorum;

    private QuorumSeen(Quorum quorum) {
        this.quorum = quorum;
    }

    static Map<String, Object> of(Quorum quorum) {
        return new QuorumSeen(quorum).all();
    }

    private Map<String, Object> all() {
        Map<String, Object> servers = new LinkedHashMap<>();
        quorum.servers.forEach((id, server) -> servers.put(String.valueOf(id), server(server)));
        List<Object> letters = new ArrayList<>();
        for (Letter letter : quorum.wire) letters.add(letter(letter));
        return Map.of("servers", servers, "letters", letters);
    }

    /** An offset as the number of batches before it, -1 for unknown. */
    private long place(long offset) {
        return quorum.place(offset);
    }

    private Map<String, Object> server(QuorumServer server) {
        QuorumState quorum = server.client.quorum();
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("state", Inside.of(quorum, "state").getClass().getSimpleName().replace("State", ""));
        seen.put("epoch", quorum.epoch());
        seen.put("leader", quorum.leaderIdOrSentinel());
        seen.put("voted", voted(quorum));
        /*before 4.0*/
        seen.put("votes", quorum.isCandidate() ? new TreeSet<>(quorum.candidateStateOrThrow().grantingVoters()) : Set.of());
        /*end*/
        /*from 4.0*/
        boolean asks = quorum.isProspective();
        seen.put("votes", asks || quorum.isCandidate()
            ? new TreeSet<>(quorum.nomineeStateOrThrow().epochElection().grantingVoters()) : Set.of());
        seen.put("refused", asks
            ? new TreeSet<>(quorum.nomineeStateOrThrow().epochElection().rejectingVoters()) : Set.of());
        /*end*/
        seen.put("high_watermark", place(quorum.highWatermark().map(end -> end.offset()).orElse(-1L)));
        seen.put("log", server.disk.records());
        seen.put("fetched", quorum.isLeader() ? fetched(server.id, quorum) : Map.of());
        seen.put("acknowledged", server.acknowledged);
        seen.put("has_fetched", /*before 4.0*/true/*end*//*from 4.0*/!quorum.isFollower()
            || (boolean) Inside.of(quorum.followerStateOrThrow(), "hasFetchedFromLeader")/*end*/);
        if (this.quorum.isDynamic) seen.putAll(membership(server));
        return seen;
    }

    /** What a server knows of its voters, which come and go. */
    private static Map<String, Object> membership(QuorumServer server) {
        Map<String, Object> seen = new LinkedHashMap<>();
        KRaftControlRecordStateMachine known = (KRaftControlRecordStateMachine) Inside.of(server.client, "partitionState");
        seen.put("voters", new TreeSet<>(known.lastVoterSet().voterIds()));
        seen.put("changes", server.changes);
        Set<Integer> near = new TreeSet<>();
        server.client.quorum().maybeLeaderState().ifPresent(leader -> {
            for (Object key : ((Map<?, ?>) Inside.of(leader, "observerStates")).keySet()) {
                if (leader.isReplicaCaughtUp((ReplicaKey) key, server.now())) near.add(((ReplicaKey) key).id());
            }
        });
        seen.put("caught_up", near);
        seen.put("answered", server.answered);
        return seen;
    }

    private static int voted(QuorumState quorum) {
        /*before 4.0*/
        if (quorum.isCandidate()) return quorum.localIdOrSentinel();
        return quorum.maybeUnattachedState().flatMap(UnattachedState::votedKey).map(ReplicaKey::id).orElse(-1);
        /*end*/
        /*from 4.0*/
        return quorum.votedKey().map(ReplicaKey::id).orElse(-1);
        /*end*/
    }

    /** Up to where a leader knows the others to have its log, -1 for unknown; where voters come and go, also observers. */
    private Map<Integer, Object> fetched(int leader, QuorumState quorum) {
        Map<Integer, Object> fetched = new TreeMap<>();
        Map<Object, Object> known = new HashMap<>((Map<?, ?>) Inside.of(quorum.leaderStateOrThrow(), "voterStates"));
        if (this.quorum.isDynamic) known.putAll((Map<?, ?>) Inside.of(quorum.leaderStateOrThrow(), "observerStates"));
        known.forEach((server, state) -> {
            int id = server instanceof ReplicaKey observer ? observer.id() : (int) server;
            Optional<?> end = (Optional<?>) Inside.of(state, "endOffset");
            if (id != leader) fetched.put(id, place(end.isPresent() ? ((LogOffsetMetadata) end.get()).offset() : -1L));
        });
        return fetched;
    }

    private Map<String, Object> letter(Letter letter) {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("letter", letter.number);
        seen.put("from", letter.from);
        seen.put("to", letter.to);
        seen.put("kind", ApiKeys.forId(letter.key).name());
        seen.put("answer", letter.isResponse);
        seen.put("awaited", quorum.isAwaited(letter));
        seen.put("pre_vote", letter.isPreVote());
        if (letter.data instanceof VoteRequestData data) request(seen, data);
        else if (letter.data instanceof VoteResponseData data) response(seen, data);
        else if (letter.data instanceof FetchRequestData data) request(seen, data);
        else if (letter.data instanceof FetchResponseData data) response(seen, data);
        else if (letter.data instanceof BeginQuorumEpochRequestData data)
            seen.put("epoch", data.topics().get(0).partitions().get(0).leaderEpoch());
        else if (letter.data instanceof BeginQuorumEpochResponseData data) response(seen, data);
        else if (letter.data instanceof EndQuorumEpochRequestData data) {
            seen.put("epoch", data.topics().get(0).partitions().get(0).leaderEpoch());
            seen.put("urges", letter.urges());
        }
        return seen;
    }

    private void request(Map<String, Object> seen, VoteRequestData data) {
        VoteRequestData.PartitionData asked = data.topics().get(0).partitions().get(0);
        seen.put("epoch", asked./*before 4.0*/candidateEpoch()/*end*//*from 4.0*/replicaEpoch()/*end*/);
        seen.put("offset", place(asked.lastOffset()));
        seen.put("last_epoch", asked.lastOffsetEpoch());
    }

    private void response(Map<String, Object> seen, VoteResponseData data) {
        VoteResponseData.PartitionData answer = data.topics().get(0).partitions().get(0);
        seen.put("error", Errors.forCode(answer.errorCode()).name());
        seen.put("epoch", answer.leaderEpoch());
        seen.put("leader", answer.leaderId());
        seen.put("granted", answer.voteGranted());
    }

    private void response(Map<String, Object> seen, BeginQuorumEpochResponseData data) {
        BeginQuorumEpochResponseData.PartitionData answer = data.topics().get(0).partitions().get(0);
        seen.put("error", Errors.forCode(answer.errorCode()).name());
        seen.put("epoch", answer.leaderEpoch());
        seen.put("leader", answer.leaderId());
    }

    private void request(Map<String, Object> seen, FetchRequestData data) {
        FetchRequestData.FetchPartition asked = data.topics().get(0).partitions().get(0);
        seen.put("epoch", asked.currentLeaderEpoch());
        seen.put("offset", place(asked.fetchOffset()));
        seen.put("last_epoch", asked.lastFetchedEpoch());
    }

    private void response(Map<String, Object> seen, FetchResponseData data) {
        FetchResponseData.PartitionData answer = data.responses().get(0).partitions().get(0);
        seen.put("error", Errors.forCode(answer.errorCode()).name());
        seen.put("epoch", answer.currentLeader().leaderEpoch());
        seen.put("leader", answer.currentLeader().leaderId());
        seen.put("high_watermark", place(answer.highWatermark()));
        seen.put("parting", List.of(place(answer.divergingEpoch().endOffset()), answer.divergingEpoch().epoch()));
        boolean isFull = answer.records() instanceof MemoryRecords;
        seen.put("records", isFull ? QuorumDisk.plain((MemoryRecords) answer.records()) : List.of());
    }
}
