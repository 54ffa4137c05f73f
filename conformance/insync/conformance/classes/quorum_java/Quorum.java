package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import moved.ApiKeys;

/** Servers of one quorum, and the messages between them, each of which waits until a command delivers it. */
final class Quorum {
    final Map<Integer, QuorumDisk> disks = new TreeMap<>();
    final Map<Integer, QuorumServer> servers = new TreeMap<>();
    final List<Letter> wire = new ArrayList<>();
    private final Map<Integer, InetSocketAddress> voters = new TreeMap<>();
    private final AtomicInteger correlations = new AtomicInteger();

    Quorum(int count) {
        for (int id = 1; id <= count; id++) {
            disks.put(id, new QuorumDisk());
            voters.put(id, InetSocketAddress.createUnresolved("server-" + id, 9000 + id));
        }
        for (int id : disks.keySet()) start(id);
    }

    void take(JsonNode command) {
        String name = command.get("command").asText();
        if (name.equals("deliver")) {
            deliver(letter(command.get("letter").asInt()));
            return;
        }
        QuorumServer server = servers.get(command.get("server").asInt());
        switch (name) {
            case "time_out" -> server.timeOut();
            case "append" -> server.append(command.get("value").asInt());
            case "restart" -> server = start(server.id);
            default -> throw new IllegalArgumentException("no command: " + name);
        }
        collect(server);
    }

    /** Starts a server, which ends the one that has run on its disk, without a word. */
    private QuorumServer start(int id) {
        QuorumServer server = new QuorumServer(id, disks.get(id), voters, correlations);
        servers.put(id, server);
        server.settle();
        collect(server);
        return server;
    }

    private Letter letter(int number) {
        for (Letter letter : wire) if (letter.number == number) return letter;
        throw new IllegalArgumentException("no letter with the number " + number);
    }

    private void deliver(Letter letter) {
        wire.remove(letter);
        if (letter.isResponse) {
            letter.sender.receive(letter);
            collect(letter.sender);
        } else {
            QuorumServer server = servers.get(letter.to);
            server.answer(letter, answer -> wire.add(Letter.response(letter, answer)));
            collect(server);
        }
    }

    /**
     * Takes what a server has sent to others that are there; drops what nobody waits for any more.
     *
     * A candidate that restarts asks again; what it asked before is dropped, as it is the same.
     */
    private void collect(QuorumServer server) {
        for (RaftRequest.Outbound request : server.sent()) {
            if (!disks.containsKey(request.destination().id())) continue;
            Letter letter = Letter.request(server, request);
            if (letter.key == ApiKeys.VOTE.id) wire.removeIf(letter::repeats);
            wire.add(letter);
        }
        wire.removeIf(letter -> letter.key == ApiKeys.END_QUORUM_EPOCH.id
            || letter.isResponse && letter.key == ApiKeys.BEGIN_QUORUM_EPOCH.id
            || (letter.isResponse || letter.isPreVote()) && !isAwaited(letter));
    }

    /** Whether who has sent a request still waits for the answer to it. */
    boolean isAwaited(Letter letter) {
        return servers.get(letter.sender.id) == letter.sender && letter.sender.awaits(letter.request);
    }
}
