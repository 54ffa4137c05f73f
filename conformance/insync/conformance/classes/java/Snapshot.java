package insync.harness;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import moved.ApiMessageAndVersion;
import moved.ByteBufferAccessor;
import moved.ImageWriterOptions;
import moved.MetadataDelta;
import moved.MetadataImage;
import moved.MetadataProvenance;
import moved.MetadataRecordSerde;
import moved.ObjectSerializationCache;
import moved.RecordListWriter;
import moved.SnapshotManifest;

/** A snapshot of the metadata as a broker loads it over what it has: records as bytes, as Kafka's writers make them. */
final class Snapshot {
    private static final MetadataRecordSerde SERDE = new MetadataRecordSerde();

    private final MetadataProvenance provenance;
    private final List<ApiMessageAndVersion> records = new ArrayList<>();

    /** The snapshot of all that is in some batches of the metadata log, the last of which ends at an offset. */
    Snapshot(List<List<ApiMessageAndVersion>> batches, long offset, long milliseconds) {
        provenance = Construct.inOrder(MetadataProvenance.class, offset, 1, milliseconds, true);
        MetadataDelta all = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        batches.forEach(batch -> batch.forEach(record -> all.replay(record.message())));
        RecordListWriter writer = new RecordListWriter();
        MetadataImage image = all.apply(provenance);
        image.write(writer, new ImageWriterOptions.Builder(image).build());
        writer.records().forEach(record -> records.add(read(record)));
    }

    /** What it changes in what a broker has (MetadataLoader.loadSnapshot). */
    MetadataDelta over(MetadataImage image) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        records.forEach(record -> delta.replay(record.message()));
        delta.finishSnapshot();
        return delta;
    }

    /** What the broker has then. */
    MetadataImage with(MetadataDelta delta) {
        return delta.apply(provenance);
    }

    SnapshotManifest manifest() {
        return new SnapshotManifest(provenance, 0L);
    }

    private static ApiMessageAndVersion read(ApiMessageAndVersion written) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        int size = SERDE.recordSize(written, cache);
        ByteBuffer buffer = ByteBuffer.allocate(size);
        SERDE.write(written, cache, new ByteBufferAccessor(buffer));
        return SERDE.read(new ByteBufferAccessor(buffer.flip()), size);
    }
}
