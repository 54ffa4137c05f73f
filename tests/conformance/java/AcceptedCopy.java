import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import kafka.log.LogManager;
import kafka.log.LogManager$;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.image.TopicsImage;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A broker's LogManager over two directories, a log in one and a copy of it in the other, stopped cleanly and opened
 * anew with metadata that names one of the two. Prints the ends of log and copy: before the stop, at the start, and
 * when LogManager has looked for copies that were abandoned; and of which epoch it takes the stop to be.
 */
public final class AcceptedCopy {
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);
    private static final Uuid TOPIC = Uuid.randomUuid();

    public static void main(String[] arguments) throws Exception {
        Path here = Path.of(arguments[0], "log");
        Path there = Path.of(arguments[0], "copy");
        Uuid ofLog = formatted(here);
        Uuid ofCopy = formatted(there);
        LogManager manager = opened(here, there);
        manager.startup(CollectionConverters.asScala(Set.<String>of()).toSet(), log -> (Object) false);
        UnifiedLog log = manager.getOrCreateLog(PARTITION, true, false, Optional.of(TOPIC), scala.Option.apply(ofLog));
        manager.maybeUpdatePreferredLogDir(PARTITION, there.toString());
        UnifiedLog copy = manager.getOrCreateLog(PARTITION, false, true, Optional.of(TOPIC), scala.Option.empty());
        log.appendAsFollower(written(0), 0);
        copy.appendAsFollower(written(0), 0);
        log.appendAsFollower(written(1), 0);
        log.updateHighWatermark(2);
        say(manager);
        manager.shutdown(7);
        manager = opened(here, there);
        System.out.println(manager.readBrokerEpochFromCleanShutdownFiles().orElse(-1));
        manager.startup(CollectionConverters.asScala(Set.<String>of()).toSet(), one -> (Object) false);
        say(manager);
        manager.recoverAbandonedFutureLogs(1, metadata(arguments[1].equals("copy") ? ofCopy : ofLog));
        say(manager);
        System.exit(0);
    }

    private static Uuid formatted(Path directory) throws Exception {
        Uuid id = Uuid.randomUuid();
        Files.createDirectories(directory);
        String properties = "version=1\ncluster.id=" + Uuid.randomUuid() + "\nnode.id=1\ndirectory.id=" + id + "\n";
        Files.writeString(directory.resolve("meta.properties"), properties);
        return id;
    }

    private static LogManager opened(Path here, Path there) {
        Map<String, Object> given = new HashMap<>();
        given.put("process.roles", "broker");
        given.put("node.id", "1");
        given.put("controller.quorum.voters", "2@localhost:9093");
        given.put("controller.listener.names", "CONTROLLER");
        given.put("listeners", "PLAINTEXT://localhost:9092");
        given.put("listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT");
        given.put("log.dirs", here + "," + there);
        given.put("log.cleaner.enable", "false");
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        return LogManager$.MODULE$.apply(
                new KafkaConfig(given, false),
                CollectionConverters.asScala(List.<String>of()).toSeq(),
                resource -> new Properties(),
                scheduler,
                Time.SYSTEM,
                new BrokerTopicStats(),
                new LogDirFailureChannel(2));
    }

    private static MemoryRecords written(long offset) {
        return MemoryRecords.withRecords(offset, Compression.NONE, 0, new SimpleRecord(("r" + offset).getBytes()));
    }

    private static TopicsImage metadata(Uuid directory) {
        PartitionRegistration partition = new PartitionRegistration.Builder()
                .setReplicas(new int[] {1, 2})
                .setDirectories(new Uuid[] {directory, Uuid.randomUuid()})
                .setIsr(new int[] {2})
                .setLeader(2)
                .setLeaderEpoch(0)
                .setPartitionEpoch(0)
                .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
                .build();
        return TopicsImage.EMPTY.including(new TopicImage("orders", TOPIC, Map.of(0, partition)));
    }

    private static void say(LogManager manager) {
        System.out.println(found(manager, false) + ", " + found(manager, true));
    }

    private static String found(LogManager manager, boolean future) {
        scala.Option<UnifiedLog> log = manager.getLog(PARTITION, future);
        return log.isEmpty() ? "-" : log.get().parentDirFile().getName() + " " + log.get().logEndOffset();
    }
}
