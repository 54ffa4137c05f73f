package org.apache.kafka.raft;

import insync.harness.CommandLoop;
import java.util.LinkedHashMap;
import java.util.Map;

/** Takes commands for a quorum; in Kafka's package, as what is needed of the Raft client is visible there alone. */
public final class QuorumMain {
    private static Quorum quorum;

    private QuorumMain() { }

    public static void main(String[] arguments) throws InterruptedException {
        CommandLoop.run(command -> {
            if (command.get("command").asText().equals("open"))
                quorum = new Quorum(command.get("servers").asInt(), command.path("founders").asInt(),
                    command.path("pre_votes").asBoolean(), command.path("ends").asBoolean());
            else quorum.take(command);
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("answer", "NONE");
            answer.put("state", QuorumSeen.of(quorum));
            return answer;
        }, () -> { }, () -> { });
    }
}
