package insync.harness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import moved.BrokerRegistration;
import moved.DirectoryId;
import moved.Partition;
import moved.PartitionRegistration;

/** What the model speaks of, read from Kafka's objects: the controller, and each broker. */
final class Observer {
    private Observer() { }

    static Map<String, Object> controller(Cluster world) {
        PartitionRegistration partition = world.controller.partition();
        List<Integer> fenced = new ArrayList<>();
        List<Integer> stopping = new ArrayList<>();
        for (Integer id : world.brokers.keySet()) {
            BrokerRegistration registered = world.controller.registration(id);
            if (registered.fenced()) fenced.add(id);
            if (registered.inControlledShutdown()) stopping.add(id);
        }
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("leader", partition.leader);
        seen.put("leader_epoch", partition.leaderEpoch);
        seen.put("partition_epoch", partition.partitionEpoch);
        seen.put("isr", Plain.sortedIds(partition.isr));
        seen.put("replicas", Plain.sortedIds(partition.replicas));
        seen.put("order", Plain.list(partition.replicas));
        seen.put("adding", Plain.sortedIds(partition.addingReplicas));
        seen.put("removing", Plain.sortedIds(partition.removingReplicas));
        seen.put("elr", Plain.sortedIds(Reflect.get(partition, "elr")));
        seen.put("last_known_elr", Plain.sortedIds(Reflect.get(partition, "lastKnownElr")));
        seen.put("fenced", fenced);
        seen.put("stopping", stopping);
        seen.put("end", world.controller.node.end());
        if (world.directories > 1) directories(world, partition, seen);
        return seen;
    }

    /** Which replicas are in a directory that the controller knows not to be there, in none that it knows, or elsewhere. */
    private static void directories(Cluster world, PartitionRegistration partition, Map<String, Object> seen) {
        List<Integer> without = new ArrayList<>();
        List<Integer> elsewhere = new ArrayList<>();
        List<Integer> unassigned = new ArrayList<>();
        for (int id : Plain.sortedIds(partition.replicas)) {
            BrokerNode broker = world.brokers.get(id);
            if (!world.controller.registration(id).hasOnlineDir(partition.directory(id))) without.add(id);
            Object log = broker.running ? broker.log() : null;
            if (DirectoryId.UNASSIGNED.equals(partition.directory(id))) unassigned.add(id);
            else if (!partition.directory(id).equals(broker.directories.of(log, broker.base()))) elsewhere.add(id);
        }
        seen.put("without_directory", without);
        seen.put("elsewhere", elsewhere);
        seen.put("unassigned", unassigned);
    }

    static Map<String, Object> broker(Cluster world, BrokerNode broker) {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("running", broker.running);
        seen.put("requests", broker.channel.waiting(world.controller));
        if (!broker.running) return seen;
        seen.put("applied", broker.applied);
        seen.put("acknowledgements", new LinkedHashMap<>(broker.acknowledgements));
        seen.put("reply_waits", broker.fetching.replyWaits());
        if (world.directories > 1) seen.put("directory", directory(broker));
        if (world.sessions) seen.put("session", broker.fetching.told());
        Partition partition = broker.partition();
        seen.put("has_replica", partition != null);
        if (partition == null) return seen;
        seen.put("leader", Plain.orNull(Reflect.call(partition, "leaderReplicaIdOpt")));
        seen.put("leader_epoch", partition.getLeaderEpoch());
        seen.put("partition_epoch", partition.getPartitionEpoch());
        seen.put("leads", partition.isLeader());
        if (partition.isLeader()) seen.put("leading", leading(world, partition));
        Object log = broker.log();
        if (log != null) seen.put("log", log(broker.records, log));
        return seen;
    }

    /** What a broker knows of its directories. */
    private static Map<String, Object> directory(BrokerNode broker) {
        Object copy = broker.moving.copy();
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("offline", broker.log() == null && (boolean) Reflect.call(broker.parts.logManager, "hasOfflineLogDirs"));
        seen.put("copied", copy == null ? null : Reflect.call(copy, "logEndOffset"));
        seen.put("promotion", broker.moving.promotion());
        seen.put("to_assign", broker.directories.waiting(broker, broker.log(), copy));
        seen.put("assigned", broker.directories.assignments.answerWaits());
        seen.put("tells", broker.directories.tells());
        if (broker.directories.assignments.isSilent()) seen.put("silent", true);
        return seen;
    }

    /** What a leader alone knows. */
    private static Map<String, Object> leading(Cluster world, Partition partition) {
        Object state = Reflect.call(partition, "partitionState");
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("isr", Plain.sortedIds(Reflect.call(state, "isr")));
        seen.put("maximal_isr", Plain.sortedIds(Reflect.call(state, "maximalIsr")));
        boolean asked = (boolean) Reflect.call(state, "isInflight");
        Object sent = asked ? Reflect.call(Reflect.call(state, "sentLeaderAndIsr"), "isr") : List.of();
        seen.put("proposed", Plain.sortedIds(sent));
        seen.put("epoch_start", Plain.orNull(Reflect.call(partition, "leaderEpochStartOffsetOpt")));
        Map<String, Object> known = new TreeMap<>();
        for (Object replica : Plain.list(partition.remoteReplicas())) {
            Object last = Reflect.call(replica, "stateSnapshot");
            int id = (int) Reflect.call(replica, "brokerId");
            Object epoch = Plain.orNull(Reflect.call(last, "brokerEpoch"));
            Map<String, Object> of = new LinkedHashMap<>();
            of.put("end", Reflect.call(last, "logEndOffset"));
            of.put("may_join", Reflect.call(partition, "isReplicaIsrEligible", id));
            of.put("current", epoch != null && (long) epoch == world.controller.registration(id).epoch());
            known.put("" + id, of);
        }
        seen.put("known", known);
        return seen;
    }

    private static Map<String, Object> log(LogRecords records, Object log) {
        long start = (long) Reflect.call(log, "logStartOffset");
        List<Object> epochs = new ArrayList<>();
        Object cache = Plain.orNull(Reflect.call(log, "leaderEpochCache"));
        if (cache != null) {
            for (Object entry : Plain.list(Reflect.call(cache, "epochEntries"))) epochs.add(Reflect.get(entry, "epoch"));
        }
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("records", records.of(log, start));
        seen.put("start", start);
        seen.put("end", Reflect.call(log, "logEndOffset"));
        seen.put("high_watermark", Reflect.call(log, "highWatermark"));
        seen.put("epochs", epochs);
        return seen;
    }
}
