package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.List;
import moved.ApiKeys;
import moved.ApiMessage;
import moved.ApiMessageType;
import moved.ByteBufferAccessor;
import moved.EndQuorumEpochRequest;
import moved.EndQuorumEpochRequestData;
import moved.FetchRequestData;
import moved.ObjectSerializationCache;
import moved.VoteRequestData;

/** A message that is on its way, as bytes that are read again by who gets it. */
final class Letter {
    private static int numbers;

    final int number = numbers++;
    final QuorumServer sender;
    final RaftRequest.Outbound request;
    final boolean isResponse;
    final ApiMessage data;
    final int from;
    /** Who gets it, which a command may say later of a fetch to whoever there is. */
    int to;
    final short key;

    /**
     * @param sender who has sent the request, be this it or the answer to it
     * @param request the request
     * @param answer the answer, null where this is the request
     * @param other who has got the request, or is to get it
     */
    private Letter(QuorumServer sender, RaftRequest.Outbound request, ApiMessage answer, int other) {
        this.sender = sender;
        this.request = request;
        isResponse = answer != null;
        from = isResponse ? other : sender.id;
        to = isResponse ? sender.id : other;
        key = request.data().apiKey();
        data = asBytes(isResponse ? answer : request.data());
    }

    private ApiMessage asBytes(ApiMessage sent) {
        short version = ApiKeys.forId(key).latestVersion(true);
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(sent.size(cache, version));
        sent.write(new ByteBufferAccessor(buffer), cache, version);
        ApiMessageType type = ApiMessageType.fromApiKey(key);
        ApiMessage read = isResponse ? type.newResponse() : type.newRequest();
        read.read(new ByteBufferAccessor(buffer.flip()), version);
        return read;
    }

    static Letter request(QuorumServer sender, RaftRequest.Outbound request) {
        return new Letter(sender, request, null, request.destination().id());
    }

    static Letter response(Letter request, ApiMessage answer) {
        return new Letter(request.sender, request.request, answer, request.to);
    }

    /** Whether this asks, or says, whether somebody would vote (KIP-996). */
    boolean isPreVote() {
        return /*before 4.0*/false/*end*//*from 4.0*/request.data() instanceof VoteRequestData asked
            && asked.topics().get(0).partitions().get(0).preVote()/*end*/;
    }

    /**
     * Whether this is a request that was sent before to the same server: for a vote in the same epoch, for a pre-vote in
     * any, a fetch of the same epoch from the same place, the end of the same epoch, or any other that is the same.
     */
    boolean repeats(Letter former) {
        if (former.isResponse || former.from != from || former.to != to || former.key != key) return false;
        if (key == ApiKeys.VOTE.id)
            return former.isPreVote() == isPreVote() && (isPreVote() || epoch(former) == epoch(this));
        if (key == ApiKeys.FETCH.id) return place(former).equals(place(this));
        if (key == ApiKeys.END_QUORUM_EPOCH.id) return end(former).leaderEpoch() == end(this).leaderEpoch();
        return former.data.equals(data);
    }

    private static EndQuorumEpochRequestData.PartitionData end(Letter letter) {
        return ((EndQuorumEpochRequestData) letter.data).topics().get(0).partitions().get(0);
    }

    /** Whether who has resigned wants the one who gets this to stand at once: it is named first, or nobody is. */
    boolean urges() {
        var preferred = EndQuorumEpochRequest.preferredCandidates(end(this));
        return preferred.isEmpty() || preferred.get(0).candidateId() == to;
    }

    /** The epoch that has ended, and who is told so. */
    List<Integer> told() {
        return List.of(end(this).leaderEpoch(), to);
    }

    private static int epoch(Letter letter) {
        VoteRequestData.PartitionData asked = ((VoteRequestData) letter.data).topics().get(0).partitions().get(0);
        return asked./*before 4.0*/candidateEpoch()/*end*//*from 4.0*/replicaEpoch()/*end*/;
    }

    private static List<Object> place(Letter letter) {
        FetchRequestData.FetchPartition asked = ((FetchRequestData) letter.data).topics().get(0).partitions().get(0);
        return List.of(asked.currentLeaderEpoch(), asked.fetchOffset(), asked.lastFetchedEpoch());
    }
}
