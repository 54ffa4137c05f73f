package insync.harness;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import moved.ApiMessage;
import moved.ApiMessageAndVersion;
import moved.Batch;
import moved.BeginTransactionRecord;
import moved.EndTransactionRecord;
import moved.ImageWriterOptions;
import moved.MetadataDelta;
import moved.MetadataImage;
import moved.MetadataProvenance;
import moved.RecordListWriter;
import moved.SnapshotReader;

/** A snapshot of the metadata for Kafka's MetadataLoader: records as bytes, as Kafka's writers make them. */
final class Snapshot {
    private static final int EPOCH = ControllerLog.EPOCH;

    /** The offset of the last record of the metadata log that it stands for. */
    final long offset;
    private final long milliseconds;
    private final Iterator<Batch<ApiMessageAndVersion>> batches;

    /** The snapshot of all that is in the first batches of the metadata log. */
    Snapshot(List<Batch<ApiMessageAndVersion>> log) {
        Batch<ApiMessageAndVersion> last = log.get(log.size() - 1);
        offset = last.lastOffset();
        milliseconds = last.appendTimestamp();
        MetadataDelta all = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        log.forEach(batch -> batch.records().forEach(record -> replay(all, record.message())));
        MetadataProvenance provenance = Construct.inOrder(MetadataProvenance.class, offset, EPOCH, milliseconds, true);
        MetadataImage image = all.apply(provenance);
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).build());
        List<ApiMessageAndVersion> records = AsBytes.records(new ArrayList<>(writer.records()));
        batches = List.of(Batch.data(0, EPOCH, milliseconds, 100, records)).iterator();
    }

    /** Of the first transaction, which is over, its records alone count. */
    private static void replay(MetadataDelta all, ApiMessage record) {
        if (!(record instanceof BeginTransactionRecord || record instanceof EndTransactionRecord)) all.replay(record);
    }

    /** What MetadataLoader reads it by. A proxy, as the type of the id has moved between packages. */
    @SuppressWarnings("unchecked")
    SnapshotReader<ApiMessageAndVersion> reader() {
        ClassLoader loader = SnapshotReader.class.getClassLoader();
        Class<?>[] types = {SnapshotReader.class};
        InvocationHandler read = (proxy, method, given) -> switch (method.getName()) {
            case "snapshotId" -> Construct.inOrder(method.getReturnType(), offset + 1, EPOCH);
            case "lastContainedLogOffset" -> offset;
            case "lastContainedLogEpoch" -> EPOCH;
            case "lastContainedLogTimestamp" -> milliseconds;
            case "hasNext" -> batches.hasNext();
            case "next" -> batches.next();
            case "close" -> null;
            default -> throw new Reflect.NoSuchElement("SnapshotReader." + method.getName());
        };
        return (SnapshotReader<ApiMessageAndVersion>) Proxy.newProxyInstance(loader, types, read);
    }
}
