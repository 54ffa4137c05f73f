package insync.harness;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The cluster to which commands go, one at a time.
 *
 * Who opens the same one twice will do so again. So the next is made meanwhile, and the former one is thrown away
 * meanwhile, both by one other thread; no cluster is ever touched by two threads at once.
 */
final class Clusters {
    private static final long PATIENCE = 10L;

    private final File[] places;
    private final ExecutorService aside = Executors.newSingleThreadExecutor();
    private Cluster open;
    private JsonNode asked;
    private Future<Cluster> next;
    private int made;

    Clusters(File root) {
        places = new File[] {new File(root, "cluster-0"), new File(root, "cluster-1")};
    }

    /** The cluster that is open. */
    Cluster now() {
        if (open == null) throw new IllegalStateException("no cluster is open");
        return open;
    }

    /** Does what a command says; returns the answer of Kafka, "NONE" where it has no fault. */
    String take(JsonNode command) {
        if (!command.get("command").asText().equals("open")) return now().take(command);
        boolean again = command.equals(asked);
        if (!again) forgetNext();
        Cluster former = open;
        open = null;
        asked = command;
        if (former != null) aside.execute(former::close);
        Future<Cluster> coming = next != null ? next : aside.submit(() -> make(command));
        open = result(coming);
        next = again ? aside.submit(() -> make(command)) : null;
        return "NONE";
    }

    private Cluster make(JsonNode command) {
        File place = places[made++ % places.length];
        Disk.delete(place); // where one could not be made
        return new Cluster(place, command);
    }

    private void forgetNext() {
        if (next != null) result(next).close();
        next = null;
    }

    private static Cluster result(Future<Cluster> coming) {
        try {
            return coming.get();
        } catch (ExecutionException failed) {
            throw Reflect.unchecked(failed.getCause());
        } catch (InterruptedException never) {
            throw new IllegalStateException(never);
        }
    }

    /** Ends what is done meanwhile. */
    void end() throws InterruptedException {
        aside.shutdown();
        aside.awaitTermination(PATIENCE, TimeUnit.SECONDS);
    }
}
