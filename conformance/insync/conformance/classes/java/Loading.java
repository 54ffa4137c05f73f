package insync.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import moved.ApiMessageAndVersion;
import moved.Batch;
import moved.FaultHandler;
import moved.LeaderAndEpoch;
import moved.LoaderManifest;
import moved.MemoryBatchReader;
import moved.MetadataDelta;
import moved.MetadataImage;
import moved.MetadataLoader;
import moved.MetadataPublisher;

/**
 * Kafka's own MetadataLoader: it makes images and deltas of what is committed, for a broker's publisher.
 *
 * It has a thread, which is waited for. A fault is noted and passed over, as a broker logs it and goes on.
 */
final class Loading implements FaultHandler {
    /** What a broker does with new metadata. */
    interface Publisher {
        void publish(MetadataDelta delta, MetadataImage newest, LoaderManifest manifest);
    }

    private final MetadataLoader loader;
    private final MetadataPublisher publisher;
    private final List<RuntimeException> faults = new ArrayList<>();
    private long highWatermark;
    private boolean published;

    Loading(int broker, StillClock clock, Publisher publisher) {
        loader = new MetadataLoader.Builder().setNodeId(broker).setTime(clock).setFaultHandler(this)
            .setHighWaterMarkAccessor(() -> OptionalLong.of(highWatermark)).build();
        this.publisher = new MetadataPublisher() {
            @Override public String name() {
                return "broker";
            }

            @Override public void onMetadataUpdate(MetadataDelta delta, MetadataImage newest, LoaderManifest manifest) {
                publisher.publish(delta, newest, manifest);
            }
        };
        loader.handleLeaderChange(new LeaderAndEpoch(OptionalInt.of(ControllerNode.NODE_ID), 1));
    }

    /** Has one commit with some batches loaded and published; the first time with all that was committed before. */
    void commit(List<Batch<ApiMessageAndVersion>> batches) {
        if (batches.isEmpty()) return;
        highWatermark = batches.get(batches.size() - 1).lastOffset() + 1;
        loader.handleCommit(MemoryBatchReader.of(batches, reader -> { }));
        publish();
    }

    /** Has a snapshot loaded over what the broker has, and published. */
    void load(Snapshot snapshot) {
        highWatermark = snapshot.offset + 1;
        loader.handleLoadSnapshot(snapshot.reader());
        publish();
    }

    private void publish() {
        settle();
        if (!published) {
            published = true;
            loader.installPublishers(List.of(publisher));
            settle();
        }
        if (faults.isEmpty()) return;
        RuntimeException first = faults.get(0);
        faults.clear();
        throw first;
    }

    private void settle() {
        Reflect.call(loader, "waitForAllEventsToBeHandled");
    }

    @Override public synchronized RuntimeException handleFault(String message, Throwable cause) {
        RuntimeException fault = new IllegalStateException(message, cause);
        faults.add(fault);
        return fault;
    }

    void close() {
        Reflect.call(loader, "close");
    }
}
