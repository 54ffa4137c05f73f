import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads partition 0 of a topic from its beginning with Kafka's own consumer, and says what it gets and what it is told. */
public final class ReadingConsumer {
    private ReadingConsumer() { }

    public static void main(String[] arguments) throws InterruptedException {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("auto.offset.reset", arguments[2]);
        settings.put("enable.auto.commit", "false");
        settings.put("metadata.max.age.ms", "500");
        settings.put("reconnect.backoff.ms", "50");
        settings.put("key.deserializer", StringDeserializer.class.getName());
        settings.put("value.deserializer", StringDeserializer.class.getName());
        TopicPartition partition = new TopicPartition(arguments[1], 0);
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings);
        consumer.assign(List.of(partition));
        consumer.seek(partition, 0);
        System.out.println("reads");
        try {
            while (true) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    System.out.println("got " + record.offset() + " " + record.value());
                }
            }
        } catch (KafkaException said) {
            System.out.println("told " + said.getClass().getSimpleName());
        }
        Thread.sleep(Long.MAX_VALUE); // it ends with its cluster
    }
}
