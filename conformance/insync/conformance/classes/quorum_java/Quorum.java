package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
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
    /** Whether voters come and go (KIP-853). */
    final boolean isDynamic;
    private final boolean preVotes;
    private final boolean ends;

    /**
     * @param folder in which they keep their logs
     * @param count how many servers there are
     * @param founders how many of them are the first voters, by a checkpoint (KIP-853); 0 for all, by their configuration
     * @param preVotes whether pre-votes are steps of their own: then those that nobody waits for arrive late, and of
     *     fetches that were given up and are sent again, which can be any number, the last one alone is on its way
     * @param ends whether EndQuorumEpoch is delivered by steps of its own; else it never arrives
     */
    Quorum(Path folder, int count, int founders, boolean preVotes, boolean ends) {
        isDynamic = founders > 0;
        this.preVotes = preVotes;
        this.ends = ends;
        for (int id = 1; id <= count; id++) {
            disks.put(id, new QuorumDisk(folder.resolve("server-" + id), id));
            if (!isDynamic) voters.put(id, address(id));
        }
        Map<Integer, VoterSet.VoterNode> first = new TreeMap<>();
        for (int id = 1; id <= founders; id++) first.put(id, node(id));
        for (int id : first.keySet()) disks.get(id).bootstrap(VoterSet.fromMap(first));
        for (int id : isDynamic ? first.keySet() : disks.keySet()) start(id);
    }

    /** Ends it, and removes what its servers have on disk. */
    void remove() {
        disks.values().forEach(disk -> disk.kept.remove());
    }

    static InetSocketAddress address(int id) {
        return InetSocketAddress.createUnresolved("server-" + id, 9000 + id);
    }

    VoterSet.VoterNode node(int id) {
        return VoterSet.VoterNode.of(disks.get(id).key(id), QuorumServer.endpoints(id), QuorumServer.VERSIONS);
    }

    void take(JsonNode command) {
        String name = command.get("command").asText();
        if (name.equals("deliver")) {
            deliver(letter(command.get("letter").asInt()));
            return;
        }
        int id = command.get("server").asInt();
        QuorumServer server = servers.get(id);
        switch (name) {
            case "time_out" -> server.timeOut();
            case "append" -> server.append(command.get("value").asInt());
            case "restart", "start" -> server = start(id);
            case "resign" -> server.resign();
            case "add_voter" -> server.addVoter(node(command.get("voter").asInt()));
            case "remove_voter" -> server.removeVoter(node(command.get("voter").asInt()));
            case "address" -> address(id, command.get("to").asInt());
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

    /** Has the fetch of a server that knows nobody to ask go to another server. */
    private void address(int server, int to) {
        for (Letter letter : List.copyOf(wire)) {
            if (letter.from != server || letter.to != QuorumServer.ANY) continue;
            letter.to = to;
            wire.removeIf(other -> other != letter && letter.repeats(other));
            return;
        }
        throw new IllegalArgumentException("server " + server + " asks nobody");
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
        } else if (letter.key == ApiKeys.API_VERSIONS.id) {
            wire.add(Letter.response(letter, QuorumServer.supported())); // what is above the Raft client answers this
        } else {
            QuorumServer server = servers.get(letter.to);
            server.answer(letter, answer -> wire.add(Letter.response(letter, answer)));
            collect(server);
        }
    }

    /**
     * Takes what a server has sent to others that are there; drops what nobody waits for any more.
     *
     * Who restarts or gave up may ask again, or say again that it has resigned; what it asked or said before is dropped.
     * What a server says again as time passes, that it has resigned, is dropped as well.
     * Voters that come and go have the answers to BeginQuorumEpoch and the fetches for which a server knows nobody,
     * which another command addresses.
     */
    private void collect(QuorumServer server) {
        for (RaftRequest.Outbound request : server.sent()) {
            boolean isToAny = isDynamic && request.destination().id() == QuorumServer.ANY;
            if (!disks.containsKey(request.destination().id()) && !isToAny) continue;
            Letter letter = Letter.request(server, request);
            if (letter.key == ApiKeys.END_QUORUM_EPOCH.id && !server.ended.add(letter.told())) continue;
            wire.removeIf(letter::repeats);
            wire.add(letter);
        }
        wire.removeIf(letter -> letter.key == ApiKeys.END_QUORUM_EPOCH.id && (letter.isResponse || !ends)
            || letter.isResponse && letter.key == ApiKeys.BEGIN_QUORUM_EPOCH.id && !isDynamic
            || (letter.isResponse || letter.isPreVote() && !preVotes || letter.to == QuorumServer.ANY)
                && !isAwaited(letter));
    }

    /** How many batches there are before an offset, as the first leader writes the first voters with its own record. */
    long place(long offset) {
        return isDynamic ? QuorumDisk.place(offset, disks.values()) : offset;
    }

    /** Whether who has sent a request still waits for the answer to it. */
    boolean isAwaited(Letter letter) {
        return servers.get(letter.sender.id) == letter.sender && letter.sender.awaits(letter.request);
    }
}
