package insync.harness;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.util.RawValue;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is new in a cluster's state since it was told last.
 *
 * The whole state is read each time. The controller, a broker or the consumer of which the same is to be told as before is
 * left out; the first state of a cluster is whole, and says so.
 */
final class News {
    private final ObjectMapper json;
    private final Map<String, String> told = new LinkedHashMap<>();
    private Cluster of;

    News(ObjectMapper json) {
        this.json = json;
    }

    Map<String, Object> of(Cluster world) throws JsonProcessingException {
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

    private void tell(Map<String, Object> news, String name, String kind, Object seen) throws JsonProcessingException {
        String now = json.writeValueAsString(seen);
        if (!now.equals(told.put(kind + name, now))) news.put(name, new RawValue(now));
    }
}
