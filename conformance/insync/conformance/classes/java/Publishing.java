package insync.harness;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import moved.BrokerMetadataPublisher;
import moved.DynamicConfigPublisher;
import moved.FaultHandler;
import moved.MetadataDelta;
import moved.MetadataImage;
import moved.MetadataPublisher;
import moved.TopicConfigHandler;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's own BrokerMetadataPublisher: it hands metadata to the parts of a broker, in the order that its release has.
 *
 * What a broker has besides replicas (groups, transactions, tokens, quotas, access rights) is there in name only.
 */
final class Publishing {
    /** By class: what has ended, and does nothing that it is told. */
    private static final Map<Class<?>, Object> ENDED = new ConcurrentHashMap<>();

    private final int broker;
    private final Object publisher;

    Publishing(int broker, BrokerParts parts, FaultHandler faults) {
        this.broker = broker;
        Object handler = Construct.named(
            TopicConfigHandler.class, Map.of(), parts.replicaManager, parts.configuration, parts.quotas, scala.Option.empty());
        Object handlers = scala.Predef$.MODULE$.Map().empty().updated(topicConfigurations(), handler);
        Object configurations = Construct.named(DynamicConfigPublisher.class,
            Map.of("dynamicConfigHandlers", handlers, "nodeType", "broker"), parts.configuration, faults);
        publisher = made(BrokerMetadataPublisher.class, parts.configuration, parts.cache, parts.logManager,
            parts.replicaManager, parts.quotas, configurations, faults);
        Reflect.set(publisher, "_firstPublish", false); // what a broker starts then is started by the harness, or never
    }

    void publish(MetadataDelta delta, MetadataImage newest, Object manifest) {
        Reflect.callWithFirst(publisher, "onMetadataUpdate", delta, newest, manifest);
    }

    private static Object topicConfigurations() {
        Class<?> types = Reflect.classOrNull("org.apache.kafka.server.config.ConfigType"); // since 3.8
        return types == null ? "topics" : Reflect.getStatic(types, "TOPIC");
    }

    private Object made(Class<?> type, Object... given) {
        return Construct.filled(type, parameter -> argument(parameter, given));
    }

    private Object argument(Class<?> type, Object[] given) {
        for (Object one : given) {
            if (Reflect.fits(type, one)) return one;
        }
        if (type == int.class) return broker;
        if (type == String.class) return "";
        if (type == Optional.class) return Optional.empty();
        if (type == scala.Option.class) return scala.Option.empty();
        if (type.isInterface()) return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, Publishing::nothing);
        if (type.getSimpleName().equals("BrokerLifecycleManager")) return ended(type, given);
        return isAsked(type) ? made(type, given) : null;
    }

    /** What 3.7.0 tells to register again as soon as metadata knows directories: the harness registers, so it has ended. */
    private static Object ended(Class<?> type, Object[] given) {
        return ENDED.computeIfAbsent(type, absent -> {
            Map<String, ?> names = Map.of(
                "threadNamePrefix", "", "isZkBroker", false, "logDirs", scala.Predef$.MODULE$.Set().empty());
            Object[] known = Stream.concat(Arrays.stream(given), Stream.of(Time.SYSTEM)).toArray();
            Object manager = Construct.named(type, names, known);
            Reflect.call(manager, "close");
            return manager;
        });
    }

    /** Whether the publisher gives all metadata to an object of this class, also what has nothing for it. */
    private static boolean isAsked(Class<?> type) {
        boolean publishes = Arrays.asList(type.getInterfaces()).contains(MetadataPublisher.class);
        return publishes || type.getSimpleName().equals("ClientQuotaMetadataManager");
    }

    private static Object nothing(Object proxy, java.lang.reflect.Method method, Object[] arguments) {
        return null;
    }
}
