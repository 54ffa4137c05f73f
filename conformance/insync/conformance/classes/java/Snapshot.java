package insync.harness;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import moved.ApiMessageAndVersion;
import moved.Batch;
import moved.ImageWriterOptions;
import moved.MetadataDelta;
import moved.MetadataImage;
import moved.MetadataProvenance;
import moved.OffsetAndEpoch;
import moved.RecordListWriter;
import moved.SnapshotReader;

/** A snapshot of the metadata for Kafka's MetadataLoader: records as bytes, as Kafka's writers make them. */
final class Snapshot implements SnapshotReader<ApiMessageAndVersion> {
    private static final int EPOCH = 1;

    private final long offset;
    private final long milliseconds;
    private final Iterator<Batch<ApiMessageAndVersion>> batches;

    /** The snapshot of all that is in some batches of the metadata log, the last of which ends at an offset. */
    Snapshot(List<List<ApiMessageAndVersion>> log, long offset, long milliseconds) {
        this.offset = offset;
        this.milliseconds = milliseconds;
        MetadataDelta all = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        log.forEach(batch -> batch.forEach(record -> all.replay(record.message())));
        MetadataProvenance provenance = Construct.inOrder(MetadataProvenance.class, offset, EPOCH, milliseconds, true);
        MetadataImage image = all.apply(provenance);
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).build());
        List<ApiMessageAndVersion> records = AsBytes.records(new ArrayList<>(writer.records()));
        batches = List.of(Batch.data(0, EPOCH, milliseconds, 100, records)).iterator();
    }

    @Override public OffsetAndEpoch snapshotId() {
        return new OffsetAndEpoch(offset + 1, EPOCH);
    }

    @Override public long lastContainedLogOffset() {
        return offset;
    }

    @Override public int lastContainedLogEpoch() {
        return EPOCH;
    }

    @Override public long lastContainedLogTimestamp() {
        return milliseconds;
    }

    @Override public boolean hasNext() {
        return batches.hasNext();
    }

    @Override public Batch<ApiMessageAndVersion> next() {
        return batches.next();
    }

    @Override public void close() {
    }
}
