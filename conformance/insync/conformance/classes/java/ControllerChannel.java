package insync.harness;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import moved.AbstractRequest;
import moved.AlterPartitionRequest;
import moved.AlterPartitionRequestData;
import moved.AlterPartitionResponse;
import moved.AlterPartitionResponseData;
import moved.ApiKeys;
import moved.ClientResponse;
import moved.ControllerRequestCompletionHandler;
import moved.Errors;

/** What a broker sends to the controller: each request, and then its response, waits until a command delivers it. */
final class ControllerChannel extends UnconnectedChannel {
    private static final class Sent {
        private final AlterPartitionRequest request;
        private final ControllerRequestCompletionHandler handler;
        private AlterPartitionResponseData reply;

        private Sent(AlterPartitionRequest request, ControllerRequestCompletionHandler handler) {
            this.request = request;
            this.handler = handler;
        }

        private AlterPartitionRequestData.PartitionData partition() {
            return request.data().topics().get(0).partitions().get(0);
        }
    }

    /** What a request has in place of a broker epoch that its sender does not know. */
    private static final long UNKNOWN = -1L;

    /** Who waits for the response to a request of an earlier incarnation. */
    private static final ControllerRequestCompletionHandler NOBODY = new ControllerRequestCompletionHandler() {
        @Override public void onTimeout() { }

        @Override public void onComplete(ClientResponse response) { }
    };

    /** A request on its way. */
    record Waiting(List<Integer> isr, int leaderEpoch, int partitionEpoch, boolean replied,
        List<Integer> unnamed, List<Integer> outdated) { }

    private final Deque<Sent> sent = new ArrayDeque<>();

    /** The channel of a broker's next incarnation: requests on the wire outlive who sent them. */
    ControllerChannel afterRestart() {
        ControllerChannel next = new ControllerChannel();
        for (Sent one : sent) {
            if (one.reply == null) next.sent.add(new Sent(one.request, NOBODY));
        }
        return next;
    }

    @Override
    public void sendRequest(
        AbstractRequest.Builder<? extends AbstractRequest> request, ControllerRequestCompletionHandler handler
    ) {
        sent.add(new Sent((AlterPartitionRequest) request.build(), handler));
    }

    /** The controller handles the oldest request that it has not handled; returns Kafka's error. */
    String deliverRequest(ControllerCalls controller) {
        for (Sent one : sent) {
            if (one.reply != null) continue;
            one.reply = controller.alterPartition(AsBytes.request(one.request));
            short whole = one.reply.errorCode();
            short error = whole != 0 ? whole : one.reply.topics().get(0).partitions().get(0).errorCode();
            return Errors.forCode(error).name();
        }
        throw new IllegalStateException("no AlterPartition is on its way");
    }

    /** The broker receives the oldest response, if there is one. */
    void deliverReply() {
        Sent oldest = sent.peek();
        if (oldest == null || oldest.reply == null) throw new IllegalStateException("no reply is on its way");
        sent.poll();
        AlterPartitionResponse reply = new AlterPartitionResponse(oldest.reply);
        oldest.handler.onComplete(Wire.response(ApiKeys.ALTER_PARTITION, oldest.request.version(), reply));
    }

    /** The connection breaks before the oldest response arrives: the same request is sent again. */
    void loseReply() {
        if (sent.isEmpty()) throw new IllegalStateException("no AlterPartition is on its way");
        sent.peek().reply = null;
    }

    /** What is on its way, the oldest first. */
    List<Waiting> waiting(ControllerCalls controller) {
        List<Waiting> all = new ArrayList<>();
        for (Sent one : sent) {
            AlterPartitionRequestData.PartitionData asked = one.partition();
            List<Integer> isr = new ArrayList<>();
            List<Integer> unnamed = new ArrayList<>();
            List<Integer> outdated = new ArrayList<>();
            asked.newIsrWithEpochs().forEach(member -> {
                isr.add(member.brokerId());
                long present = controller.registration(member.brokerId()).epoch();
                if (member.brokerEpoch() == UNKNOWN) unnamed.add(member.brokerId());
                else if (member.brokerEpoch() != present) outdated.add(member.brokerId());
            });
            if (isr.isEmpty()) isr.addAll(asked.newIsr());
            all.add(new Waiting(Plain.sortedIds(isr), asked.leaderEpoch(), asked.partitionEpoch(), one.reply != null,
                Plain.sortedIds(unnamed), Plain.sortedIds(outdated)));
        }
        return all;
    }
}
