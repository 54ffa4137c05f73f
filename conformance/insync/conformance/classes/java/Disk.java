package insync.harness;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import moved.FileRecords;
import moved.MemoryRecords;
import moved.RecordBatch;
import moved.TopicPartition;
import moved.Uuid;

/** The directories of brokers: what is in them at first, and what a crash leaves. */
final class Disk {
    private static final Set<String> LEFT_BEHIND = Set.of(".kafka_cleanshutdown", ".lock");

    private Disk() { }

    /** Makes a directory as `kafka-storage format` does. */
    static void prepare(File directory, int brokerId, Uuid directoryId) {
        if (!directory.mkdirs()) throw new IllegalStateException("cannot make " + directory);
        try (PrintWriter properties = new PrintWriter(new File(directory, "meta.properties"))) {
            properties.println("version=1");
            properties.println("cluster.id=" + ControllerNode.CLUSTER);
            properties.println("node.id=" + brokerId);
            properties.println("directory.id=" + directoryId);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Copies what is on disk at a crash: not the mark of a clean stop, and no replica that is being deleted. */
    static void copyWithoutCleanMark(File from, File to) {
        if (!to.isDirectory() && !to.mkdirs()) throw new IllegalStateException("cannot make " + to);
        for (File file : listed(from)) {
            File copy = new File(to, file.getName());
            if (LEFT_BEHIND.contains(file.getName()) || file.getName().endsWith("-delete")) continue;
            if (file.isDirectory()) {
                copyWithoutCleanMark(file, copy);
                continue;
            }
            try {
                Files.copy(file.toPath(), copy.toPath());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }

    /** Cuts the one segment of a log in a directory, and that of its copy, at the first batch from an offset on. */
    static void cut(File directory, TopicPartition partition, long spared) {
        for (File log : listed(directory)) {
            if (!isCopy(log, partition) && !log.getName().equals(partition.toString())) continue;
            List<File> segments = Arrays.stream(listed(log)).filter(file -> file.getName().endsWith(".log")).toList();
            if (segments.size() != 1) throw new IllegalStateException("a log of one segment is expected: " + segments);
            cut(segments.get(0), spared);
        }
    }

    private static void cut(File segment, long spared) {
        long size = 0;
        try {
            for (RecordBatch batch : batches(Files.readAllBytes(segment.toPath()))) {
                if (batch.baseOffset() >= spared) break;
                size += batch.sizeInBytes();
            }
            try (RandomAccessFile file = new RandomAccessFile(segment, "rw")) {
                file.setLength(size);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /**
     * Puts another offset for a partition into a checkpoint, where the directory has the log.
     *
     * Where it has the copy of a log it puts it in place of a larger one: that was not written later.
     */
    static void rewrite(File checkpoint, TopicPartition partition, long offset) {
        boolean log = new File(checkpoint.getParentFile(), partition.toString()).isDirectory();
        boolean copy = Arrays.stream(listed(checkpoint.getParentFile())).anyMatch(file -> isCopy(file, partition));
        if (!log && !(copy && checkpoint.isFile())) return;
        String its = partition.topic() + " " + partition.partition() + " ";
        try {
            List<String> lines = Files.readAllLines(checkpoint.toPath());
            lines.replaceAll(line -> line.startsWith(its) && (log || Long.parseLong(line.substring(its.length())) > offset)
                ? its + offset : line);
            if (log && !lines.contains(its + offset)) {
                throw new IllegalStateException(checkpoint + " has no offset of " + partition);
            }
            Files.write(checkpoint.toPath(), lines);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static boolean isCopy(File directory, TopicPartition partition) {
        return directory.getName().startsWith(partition + ".") && directory.getName().endsWith("-future");
    }

    static Iterable<? extends RecordBatch> batches(byte[] content) {
        return MemoryRecords.readableRecords(ByteBuffer.wrap(content)).batches();
    }

    /** The bytes of the batches of a log, in order, as its files have them now. */
    static byte[] content(Object log) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Object segment : Plain.list(Reflect.call(log, "logSegments"))) {
            FileRecords file = (FileRecords) Reflect.call(segment, "log");
            ByteBuffer content = ByteBuffer.allocate(file.sizeInBytes());
            try {
                file.readInto(content, 0);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            all.write(content.array(), 0, content.capacity());
        }
        return all.toByteArray();
    }

    /** Deletes a directory, or as much of it as can be. */
    static void delete(File directory) {
        for (File file : listed(directory)) delete(file);
        directory.delete();
    }

    private static File[] listed(File directory) {
        File[] files = directory.listFiles();
        return files == null ? new File[0] : files;
    }
}
