package insync.harness;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import moved.TopicPartition;
import moved.Uuid;

/** A cluster of one partition, of which nothing moves but by a command. */
final class Cluster {
    /** replica.lag.time.max.ms of every broker. */
    static final long LAG_TIME = 30_000L;

    /** The id of the first broker that has a replica of partition 0 where another partition is looked at. */
    private static final int FIRST_ELSEWHERE = 101;

    final StillClock clock = new StillClock();
    /** The partition that is looked at. */
    final TopicPartition partition;
    /** How many directories each broker has. */
    final int directories;
    /** Whether leaders keep fetch sessions. */
    final boolean sessions;
    /** The broker in one process with the active controller, which gets the very objects that that writes; -1 for none. */
    final int combined;
    final ControllerCalls controller;
    final Map<Integer, BrokerNode> brokers = new TreeMap<>();
    /** The consumer, null where there is none. */
    Reader reader;
    /** The directory of the cluster. */
    final File base;

    /** Makes a cluster in a directory that is not there yet, as a command says. */
    Cluster(File base, JsonNode command) {
        this.base = base;
        directories = command.path("directories").asInt(1);
        sessions = command.path("sessions").asBoolean(false);
        combined = command.path("combined").asInt(-1);
        int elsewhere = command.path("partition_zero").asInt(0);
        partition = new TopicPartition(ControllerCalls.TOPIC, elsewhere == 0 ? 0 : 1);
        String wanted = command.get("elr").asText();
        boolean elr = wanted.equals("default") ? MetadataRelease.elrByDefault() : Boolean.parseBoolean(wanted);
        MetadataRelease.choose(elr);
        ControllerNode node = new ControllerNode(elr);
        controller = new ControllerCalls(node, partition.partition(), new Heartbeats(node, brokers));
        for (int id = 1; id <= command.get("brokers").asInt(); id++) {
            BrokerNode broker = new BrokerNode(this, id);
            brokers.put(id, broker);
            broker.register(0);
            broker.apply(controller.node.end());
            controller.unfence(id);
        }
        List<Integer> replicas = ids(command.get("replicas"));
        Map<String, String> configuration = new TreeMap<>();
        command.get("configuration").fields().forEachRemaining(
            entry -> configuration.put(entry.getKey(), entry.getValue().asText()));
        List<Integer> others = new ArrayList<>();
        for (int id = FIRST_ELSEWHERE; id < FIRST_ELSEWHERE + elsewhere; id++) {
            controller.register(id, List.of(new Uuid(77L, 1000 + id)), new Uuid(6L, id), -1L, 0); // the controller alone knows it
            controller.unfence(id);
            others.add(id);
        }
        controller.createTopic(replicas, others, configuration);
        brokers.values().forEach(broker -> broker.apply(controller.node.end()));
        runDue();
        if (directories > 1) assignDirectories();
        if (command.hasNonNull("consumer")) reader = new Reader(this, command.get("consumer").asText());
    }

    /** Each broker has chosen a directory for its replica; the controller is told, and all learn of it. */
    private void assignDirectories() {
        for (BrokerNode broker : brokers.values()) {
            if (broker.directories.assignments.assign().equals("NONE")) broker.directories.assignments.hear();
        }
        brokers.values().forEach(broker -> broker.apply(controller.node.end()));
        runDue();
    }

    BrokerNode broker(int id) {
        BrokerNode found = brokers.get(id);
        if (found == null) throw new IllegalArgumentException("there is no broker " + id);
        return found;
    }

    /** Does what a command says, then all that it makes due; returns the answer of Kafka, "NONE" where it has no fault. */
    String take(JsonNode command) {
        clock.advance(command.path("wait").asLong(0));
        String answer = act(command.get("command").asText(), command);
        runDue();
        return answer;
    }

    private void runDue() {
        for (BrokerNode broker : brokers.values()) {
            if (!broker.running) continue;
            broker.scheduler.runDue();
            if (directories > 1) broker.moving.truncate();
        }
    }

    private String act(String name, JsonNode command) {
        int id = command.path("broker").asInt(-1);
        switch (name) {
            case "observe" -> { }
            case "write" -> broker(id).write(
                command.get("value").asText(), command.get("acks").asInt(), numbers(command));
            case "fetch" -> {
                String answer = broker(id).fetching.send();
                return broker(id).fetching.replyWaits() ? broker(id).fetching.receive(false) : answer;
            }
            case "send_fetch" -> { return broker(id).fetching.send(); }
            case "receive_fetch" -> { return broker(id).fetching.receive(command.path("rewritten").asBoolean(false)); }
            case "lose_fetch" -> { return broker(id).fetching.lose(); }
            case "evict_session" -> { return broker(id).fetching.evictSession(); }
            case "shrink" -> broker(id).shrink();
            case "apply" -> broker(id).apply(command.get("to").asInt());
            case "load_snapshot" -> broker(id).loadSnapshot(command.get("to").asInt());
            case "flush" -> broker(id).flush();
            case "delete_records" -> { return broker(id).deleteRecords(command.get("below").asLong()); }
            case "crash" -> broker(id).crash(command.get("spared").asLong());
            case "find_older_checkpoint" -> broker(id).findOlder("replication-offset-checkpoint", command.get("offset").asLong());
            case "find_older_start" -> broker(id).findOlder("log-start-offset-checkpoint", command.get("offset").asLong());
            case "stop" -> {
                controller.askToStop(id); // once more: the controller may let it go now
                broker(id).stopCleanly();
            }
            case "register" -> broker(id).register(command.path("wait").asLong(0));
            case "deliver_request" -> { return broker(id).channel.deliverRequest(controller); }
            case "deliver_reply" -> broker(id).channel.deliverReply();
            case "lose_reply" -> broker(id).channel.loseReply();
            case "consume" -> { return reader.read(broker(id)); }
            case "validate_position" -> { return reader.validate(broker(id)); }
            case "reset_position" -> { return reader.reset(broker(id)); }
            default -> { return name.contains("directory") ? ofDirectory(name, broker(id)) : decide(name, id, command); }
        }
        return "NONE";
    }

    /** What becomes of the directories of a broker, and of a log that moves between them. */
    private String ofDirectory(String name, BrokerNode broker) {
        switch (name) {
            case "fail_directory" -> broker.failDirectory();
            case "fail_directory_of_copy" -> broker.failDirectoryOf(broker.moving.copy());
            case "take_out_directory" -> broker.directories.takeOut();
            case "repair_directory" -> broker.directories.repair();
            case "report_directory" -> broker.directories.report(broker);
            case "assign_directory" -> { return broker.directories.assignments.assign(); }
            case "hear_directory" -> broker.directories.assignments.hear();
            case "lose_answer_about_directory" -> broker.directories.assignments.lose();
            case "move_to_directory" -> { return broker.moving.begin(); }
            case "stay_in_directory" -> { return broker.moving.cancel(); }
            case "copy_to_directory" -> { return broker.moving.work() ? "NONE" : "NO_MOVE"; }
            default -> throw new IllegalArgumentException("there is no command " + name);
        }
        return "NONE";
    }

    /** What the controller is asked for by others than brokers. */
    private String decide(String name, int id, JsonNode command) {
        switch (name) {
            case "fence" -> controller.fence(id);
            case "unfence" -> { return controller.unfence(id); }
            case "start_controlled_shutdown" -> controller.askToStop(id);
            case "configure" -> {
                return controller.configure(command.get("name").asText(), command.get("value").asText());
            }
            case "elect" -> { return controller.electPreferred(id); }
            case "elect_in_order" -> { return controller.electInOrder(id); }
            case "check_leaders" -> controller.heartbeats.passChecks();
            case "reassign" -> { return controller.reassign(ids(command.get("replicas"))); }
            case "cancel_reassignment" -> { return controller.reassign(null); }
            default -> throw new IllegalArgumentException("there is no command " + name);
        }
        return "NONE";
    }

    private static Wire.Numbers numbers(JsonNode command) {
        if (!command.hasNonNull("producer")) return null;
        return new Wire.Numbers(command.get("producer").asLong(), (short) command.get("producer_epoch").asInt(),
            command.get("sequence").asInt());
    }

    private static List<Integer> ids(JsonNode array) {
        List<Integer> all = new ArrayList<>();
        array.forEach(id -> all.add(id.asInt()));
        return all;
    }

    /** Throws the cluster away, and its files. */
    void close() {
        for (BrokerNode broker : brokers.values()) {
            if (broker.running) broker.throwAway();
        }
        controller.node.close();
        Disk.delete(base);
    }
}
