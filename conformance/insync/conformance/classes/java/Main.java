package insync.harness;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;

/** Takes commands for clusters of brokers, whose files are in the folder that is given. */
public final class Main {
    private Main() { }

    public static void main(String[] arguments) throws InterruptedException {
        File root = new File(arguments[0]);
        BrokerParts.tellNoMeasurements();
        Clusters clusters = new Clusters(root);
        News news = new News();
        CommandLoop.run(command -> {
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("answer", clusters.take(command));
            answer.put("state", news.of(clusters.now()));
            return answer;
        }, clusters::end, () -> Disk.delete(root));
    }
}
