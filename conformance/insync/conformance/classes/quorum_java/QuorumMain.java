package org.apache.kafka.raft;

import insync.harness.CommandLoop;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Takes commands for a quorum; in Kafka's package, as what is needed of the Raft client is visible there alone. */
public final class QuorumMain {
    private static Quorum quorum;

    private QuorumMain() { }

    public static void main(String[] arguments) throws InterruptedException {
        // The jars of Kafka's tests configure its logger in a language that takes one jar more.
        System.setProperty("log4j2.loggerContextFactory", "org.apache.logging.log4j.simple.SimpleLoggerContextFactory");
        CommandLoop.run(command -> {
            if (command.get("command").asText().equals("open")) {
                if (quorum != null) quorum.remove();
                quorum = new Quorum(Path.of(arguments[0]), command.get("servers").asInt(), command.path("founders").asInt(),
                    command.path("pre_votes").asBoolean(), command.path("ends").asBoolean());
            } else {
                quorum.take(command);
            }
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("answer", "NONE");
            answer.put("state", QuorumSeen.of(quorum));
            return answer;
        }, () -> { }, () -> { });
    }
}
