package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import moved.ApiKeys;
import moved.BeginQuorumEpochRequestData;
import moved.Errors;
import moved.FetchRequestData;
import moved.FetchResponseData;
import moved.MemoryRecords;
import moved.VoteRequestData;
import moved.VoteResponseData;

/** The state of a quorum as it is told: the servers and the messages between them. */
final class QuorumSeen {
    private QuorumSeen() { }

    static Map<String, Object> of(Quorum quorum) {
        Map<String, Object> servers = new LinkedHashMap<>();
        quorum.servers.forEach((id, server) -> servers.put(String.valueOf(id), server(server)));
        List<Object> letters = new ArrayList<>();
        for (Letter letter : quorum.wire) letters.add(letter(quorum, letter));
        return Map.of("servers", servers, "letters", letters);
    }

    private static Map<String, Object> server(QuorumServer server) {
        QuorumState quorum = server.client.quorum();
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("state", Inside.of(quorum, "state").getClass().getSimpleName().replace("State", ""));
        seen.put("epoch", quorum.epoch());
        seen.put("leader", quorum.leaderIdOrSentinel());
        seen.put("voted", voted(quorum));
        seen.put("votes", quorum.isCandidate()
            ? new TreeSet<>(quorum.candidateStateOrThrow()/*from 4.0*/.epochElection()/*end*/.grantingVoters())
            : Set.of());
        seen.put("high_watermark", quorum.highWatermark().map(place -> place.offset()).orElse(-1L));
        seen.put("log", server.disk.records());
        seen.put("fetched", quorum.isLeader() ? fetched(server.id, quorum) : Map.of());
        seen.put("acknowledged", server.acknowledged);
        seen.put("has_fetched", /*before 4.0*/true/*end*//*from 4.0*/!quorum.isFollower()
            || (boolean) Inside.of(quorum.followerStateOrThrow(), "hasFetchedFromLeader")/*end*/);
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

    /** Up to where a leader knows the others to have its log, -1 for unknown. */
    private static Map<Integer, Object> fetched(int leader, QuorumState quorum) {
        Map<Integer, Object> fetched = new TreeMap<>();
        ((Map<?, ?>) Inside.of(quorum.leaderStateOrThrow(), "voterStates")).forEach((voter, state) -> {
            Optional<?> end = (Optional<?>) Inside.of(state, "endOffset");
            if ((int) voter != leader) fetched.put((int) voter, end.isPresent() ? ((LogOffsetMetadata) end.get()).offset() : -1L);
        });
        return fetched;
    }

    private static Map<String, Object> letter(Quorum quorum, Letter letter) {
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
        return seen;
    }

    private static void request(Map<String, Object> seen, VoteRequestData data) {
        VoteRequestData.PartitionData asked = data.topics().get(0).partitions().get(0);
        seen.put("epoch", asked./*before 4.0*/candidateEpoch()/*end*//*from 4.0*/replicaEpoch()/*end*/);
        seen.put("offset", asked.lastOffset());
        seen.put("last_epoch", asked.lastOffsetEpoch());
    }

    private static void response(Map<String, Object> seen, VoteResponseData data) {
        VoteResponseData.PartitionData answer = data.topics().get(0).partitions().get(0);
        seen.put("error", Errors.forCode(answer.errorCode()).name());
        seen.put("epoch", answer.leaderEpoch());
        seen.put("leader", answer.leaderId());
        seen.put("granted", answer.voteGranted());
    }

    private static void request(Map<String, Object> seen, FetchRequestData data) {
        FetchRequestData.FetchPartition asked = data.topics().get(0).partitions().get(0);
        seen.put("epoch", asked.currentLeaderEpoch());
        seen.put("offset", asked.fetchOffset());
        seen.put("last_epoch", asked.lastFetchedEpoch());
    }

    private static void response(Map<String, Object> seen, FetchResponseData data) {
        FetchResponseData.PartitionData answer = data.responses().get(0).partitions().get(0);
        seen.put("error", Errors.forCode(answer.errorCode()).name());
        seen.put("epoch", answer.currentLeader().leaderEpoch());
        seen.put("leader", answer.currentLeader().leaderId());
        seen.put("high_watermark", answer.highWatermark());
        seen.put("parting", List.of(answer.divergingEpoch().endOffset(), answer.divergingEpoch().epoch()));
        boolean isFull = answer.records() instanceof MemoryRecords;
        seen.put("records", isFull ? QuorumDisk.plain((MemoryRecords) answer.records()) : List.of());
    }
}
