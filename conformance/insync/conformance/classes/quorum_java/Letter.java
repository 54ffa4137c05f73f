package org.apache.kafka.raft;

import moved.ApiMessage;
/*from 4.0*/
import moved.VoteRequestData;
/*end*/

/** A message that is on its way. */
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
        data = isResponse ? answer : request.data();
        from = isResponse ? other : sender.id;
        to = isResponse ? sender.id : other;
        key = request.data().apiKey();
    }

    static Letter request(QuorumServer sender, RaftRequest.Outbound request) {
        return new Letter(sender, request, null, request.destination().id());
    }

    static Letter response(Letter request, ApiMessage answer) {
        return new Letter(request.sender, request.request, answer, request.to);
    }

    /** Whether this asks whether somebody would vote (KIP-996). */
    boolean isPreVote() {
        return /*before 4.0*/false/*end*//*from 4.0*/data instanceof VoteRequestData asked
            && asked.topics().get(0).partitions().get(0).preVote()/*end*/;
    }

    /** Whether this is the same request as another one, to the same server. */
    boolean repeats(Letter other) {
        return !other.isResponse && other.from == from && other.to == to && other.data.equals(data);
    }
}
