package insync.harness;

import moved.BrokerEndPoint;
import moved.FailedPartitions;
import moved.FetchSessionHandler;
import moved.LeaderEndPoint;
import moved.LogContext;
import moved.RemoteLeaderEndPoint;
import moved.ReplicaFetcherManager;
import moved.ReplicaFetcherThread;
import moved.ReplicationQuotaManager;
import scala.Function0;

/** Kafka's manager of fetchers and its fetcher threads, which never start; the wire is a method call. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class StillFetchers extends ReplicaFetcherManager {
    private final BrokerNode broker;

    StillFetchers(BrokerNode broker) {
        super(broker.parts.configuration, broker.replicas(), broker.parts.metrics, broker.world.clock,
            /*before 4.2*/ scala.Option.empty(), /*end*/
            quota(broker), (Function0) MetadataRelease::latest, (Function0) () -> broker.epoch);
        this.broker = broker;
    }

    private static ReplicationQuotaManager quota(BrokerNode broker) {
        return (ReplicationQuotaManager) Reflect.call(broker.parts.quotas, "follower");
    }

    @Override public ReplicaFetcherThread createFetcherThread(int number, BrokerEndPoint leader) {
        LogContext context = new LogContext("[" + broker.id + "<-" + leader.id() + "] ");
        LeaderEndPoint end = new RemoteLeaderEndPoint(
            context.logPrefix(), broker.fetching.new Connection(leader), new FetchSessionHandler(context, leader.id()),
            broker.parts.configuration, broker.replicas(), quota(broker),
            (Function0) MetadataRelease::latest, (Function0) () -> broker.epoch);
        return new StillFetcher("fetcher-" + broker.id + "-" + leader.id(), end, broker, failedPartitions());
    }

    /** A fetcher that works when a command makes it. */
    private static final class StillFetcher extends ReplicaFetcherThread {
        StillFetcher(String name, LeaderEndPoint leader, BrokerNode broker, FailedPartitions failed) {
            super(name, leader, broker.parts.configuration, failed, broker.replicas(), quota(broker), name
                /*before 4.1*/ , (Function0) MetadataRelease::latest /*end*/);
        }

        @Override public synchronized void start() { }
    }
}
