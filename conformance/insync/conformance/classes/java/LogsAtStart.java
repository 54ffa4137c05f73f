package insync.harness;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import moved.MetadataImage;
import moved.PartitionRegistration;
import moved.TopicPartition;
import moved.Uuid;

/**
 * What BrokerMetadataPublisher.initializeManagers does with the logs of a broker that has its first metadata.
 *
 * Those of which the broker is no replica are strays, set aside before anything else sees them.
 */
final class LogsAtStart {
    private final int broker;
    private final Object manager;
    private final MetadataImage image;

    LogsAtStart(int broker, Object manager, MetadataImage image) {
        this.broker = broker;
        this.manager = manager;
        this.image = image;
    }

    /** Whether the release is 3.7.1 or later, in which LogManager asks of each log that it loads whether it is a stray. */
    static boolean asksForStrays(Object manager) {
        return Reflect.has(manager, "startup", 2);
    }

    /** Loads the logs, those of some topics with configurations of their own. */
    void load(List<String> topics) {
        boolean asks = asksForStrays(manager);
        Class<?>[] types = Reflect.methods(manager.getClass(), "startup", asks ? 2 : 1).get(0).getParameterTypes();
        Object names = Plain.setFor(types[0], topics);
        if (!asks) {
            Reflect.call(manager, "startup", names);
            Reflect.call(manager, "deleteStrayKRaftReplicas", broker, image.topics());
            return;
        }
        Function<Object, Object> inJava = this::isStray;
        scala.Function1<Object, Object> inScala = this::isStray;
        Reflect.call(manager, "startup", names, types[1].isInstance(inJava) ? inJava : inScala);
        recoverAbandonedCopies();
    }

    /** Kafka's own test. */
    private boolean isStray(Object log) {
        Class<?> tests = Reflect.classOf(
            "org.apache.kafka.storage.internals.log.LogManager", "kafka.log.LogManager");
        if (Reflect.methods(tests, "isStrayReplica").isEmpty()) { // before 4.3
            Class<?> owner = Reflect.methods(tests, "isStrayKraftReplica").isEmpty() ? manager.getClass() : tests;
            return (boolean) Reflect.callStatic(owner, "isStrayKraftReplica", broker, image.topics(), log);
        }
        Object topic = Plain.orNull(Reflect.call(log, "topicId"));
        if (topic == null) return true;
        int partition = ((TopicPartition) Reflect.call(log, "topicPartition")).partition();
        Object replicas = Reflect.call(image.topics(), "partitionReplicas", topic, partition);
        return (boolean) Reflect.callStatic(tests, "isStrayReplica", replicas, broker, log);
    }

    /** Takes copies for logs that the controller has accepted as such; also where there is one directory, and no copy. */
    private void recoverAbandonedCopies() {
        Class<?> last = Reflect.methods(manager.getClass(), "recoverAbandonedFutureLogs", 2).get(0).getParameterTypes()[1];
        Object named = image.topics();
        if (last.isInterface()) { // since 4.4: who asks for a directory by topic, partition and broker
            named = Proxy.newProxyInstance(last.getClassLoader(), new Class<?>[] {last}, (proxy, method, given) -> {
                PartitionRegistration partition = image.topics().getPartition((Uuid) given[0], (int) given[1]);
                return partition == null ? null : partition.directory((int) given[2]);
            });
        }
        Reflect.call(manager, "recoverAbandonedFutureLogs", broker, named);
    }
}
