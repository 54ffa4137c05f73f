package insync.harness;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is new in a cluster's state since it was told last.
 *
 * The whole state is read each time. The controller, a broker or the consumer of which the same is to be told as before is
 * left out; the first state of a cluster is whole, and says so.
 */
final class News {
    private final Map<String, Object> told = new HashMap<>();
    private Cluster of;

    Map<String, Object> of(Cluster world) {
        boolean whole = world != of;
        if (whole) told.clear();
        of = null; // where reading fails, the next is whole
        Map<String, Object> news = new LinkedHashMap<>();
        if (whole) news.put("whole", true);
        tell(news, "controller", "", Observer.controller(world));
        Map<String, Object> brokers = new LinkedHashMap<>();
        for (Map.Entry<Integer, BrokerNode> broker : world.brokers.entrySet()) {
            tell(brokers, "" + broker.getKey(), "broker ", Observer.broker(world, broker.getValue()));
        }
        news.put("brokers", brokers);
        if (world.reader != null) tell(news, "consumer", "", world.reader.seen());
        of = world;
        return news;
    }

    private void tell(Map<String, Object> news, String name, String kind, Object seen) {
        if (!seen.equals(told.put(kind + name, seen))) news.put(name, seen);
    }
}
