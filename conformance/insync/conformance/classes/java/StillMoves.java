package insync.harness;

import moved.BrokerEndPoint;
import moved.FailedPartitions;
import moved.LeaderEndPoint;
import moved.LocalLeaderEndPoint;
import moved.ReplicaAlterLogDirsManager;
import moved.ReplicaAlterLogDirsThread;
import moved.ReplicationQuotaManager;

/** Kafka's manager of logs that move to another directory, and its threads, which never start. */
final class StillMoves extends ReplicaAlterLogDirsManager {
    private final BrokerNode broker;

    StillMoves(BrokerNode broker) {
        super(broker.parts.configuration, broker.replicas(), quota(broker), broker.parts.topicStatistics,
            broker.directories.handler());
        this.broker = broker;
    }

    private static ReplicationQuotaManager quota(BrokerNode broker) {
        return (ReplicationQuotaManager) Reflect.call(broker.parts.quotas, "alterLogDirs");
    }

    @Override public ReplicaAlterLogDirsThread createFetcherThread(int number, BrokerEndPoint itself) {
        LeaderEndPoint log = new LocalLeaderEndPoint(itself, broker.parts.configuration, broker.replicas(), quota(broker));
        return new StillMover("mover-" + broker.id, log, broker, failedPartitions());
    }

    /** A thread that works when a command makes it. */
    private static final class StillMover extends ReplicaAlterLogDirsThread {
        StillMover(String name, LeaderEndPoint log, BrokerNode broker, FailedPartitions failed) {
            super(name, log, failed, broker.replicas(), quota(broker), broker.parts.topicStatistics, 0,
                broker.directories.handler());
        }

        @Override public synchronized void start() { }
    }
}
