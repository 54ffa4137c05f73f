package insync.harness;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import moved.Record;
import moved.RecordBatch;

/** The records of a broker's log. Its files are read each time, and parsed only where their bytes have changed. */
final class LogRecords {
    private byte[] content = {};
    private long start;
    private List<Map<String, Object>> records = List.of();

    /** Returns value, offset and epoch of each record from the log start offset on. */
    List<Map<String, Object>> of(Object log, long logStart) {
        byte[] now = Disk.content(log);
        if (logStart != start || !Arrays.equals(now, content)) {
            records = parsed(now, logStart);
            content = now;
            start = logStart;
        }
        return records;
    }

    private static List<Map<String, Object>> parsed(byte[] content, long start) {
        List<Map<String, Object>> records = new ArrayList<>();
        for (RecordBatch batch : Disk.batches(content)) {
            for (Record record : batch) {
                if (record.offset() < start) continue; // deleted, and still in its segment
                byte[] value = new byte[record.valueSize()];
                record.value().get(value);
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("record", new String(value));
                one.put("offset", record.offset());
                one.put("epoch", batch.partitionLeaderEpoch());
                records.add(one);
            }
        }
        return records;
    }
}
