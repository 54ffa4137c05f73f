package insync.harness;

import java.io.File;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import moved.DirectoryEventHandler;
import moved.Uuid;

/** The directories of a broker, and what it has to tell the controller of them. */
final class Directories {
    private final int count;
    private final List<Uuid> ids = new ArrayList<>();
    /** The places of those that cannot be read. */
    private final Set<Integer> failed = new TreeSet<>();
    /** The places of those that are not in log.dirs any more. */
    private final Set<Integer> gone = new TreeSet<>();
    /** Those that have failed since the start, of which a heartbeat tells. */
    private final List<Uuid> toTell = new ArrayList<>();
    /** What tells the controller where the replica is, null of a broker with one directory, or that is down. */
    Assignments assignments;
    private Uuid last;

    Directories(int broker, int count) {
        this.count = count;
        for (int place = 0; place < count; place++) ids.add(new Uuid(77L + place, 1000 + broker));
    }

    /** Makes all of them, as `kafka-storage format` does. */
    void prepare(File base, int broker) {
        for (int place = 0; place < count; place++) Disk.prepare(places(base).get(place), broker, ids.get(place));
    }

    /** Where they are, within the folder of a broker; one alone is that folder. */
    List<File> places(File base) {
        if (count == 1) return List.of(base);
        List<File> all = new ArrayList<>();
        for (int place = 0; place < count; place++) all.add(new File(base, "d" + place));
        return all;
    }

    /** Those in log.dirs. */
    List<File> configured(File base) {
        List<File> all = new ArrayList<>(places(base));
        gone.forEach(place -> all.remove(places(base).get(place)));
        return all;
    }

    /** Those in log.dirs that cannot be read at a start. */
    List<File> unreadable(File base) {
        return failed.stream().filter(place -> !gone.contains(place)).map(places(base)::get).toList();
    }

    /** The ids of those that can be read. */
    List<Uuid> live() {
        List<Uuid> all = new ArrayList<>(ids);
        failed.forEach(place -> all.remove(ids.get(place)));
        gone.forEach(place -> all.remove(ids.get(place)));
        return all;
    }

    boolean several() {
        return count > 1;
    }

    /** A broker starts. */
    void start(BrokerNode broker) {
        toTell.clear();
        if (several()) assignments = new Assignments(broker);
    }

    /** A broker ends. */
    void end() {
        if (assignments != null) assignments.close();
        assignments = null;
    }

    /** What the parts of a broker tell of its directories. */
    DirectoryEventHandler handler() {
        Class<?>[] types = {DirectoryEventHandler.class};
        return (DirectoryEventHandler) Proxy.newProxyInstance(types[0].getClassLoader(), types, (proxy, method, given) -> {
            switch (method.getName()) {
                case "handleAssignment" -> assignments.onAssignment(given);
                case "handleFailure" -> {
                    toTell.add((Uuid) given[0]);
                    failed.add(ids.indexOf((Uuid) given[0]));
                }
                default -> throw new IllegalStateException("no broker of the harness does " + method);
            }
            return null;
        });
    }

    // ---------------------------------------------------------------------------------------------- to the controller

    /** A heartbeat tells of all that have failed since the start. */
    void report(BrokerNode broker) {
        broker.world.controller.directoriesOffline(broker.id, List.copyOf(toTell));
    }

    /** Whether a heartbeat would tell of a failed one. */
    boolean tells() {
        return !toTell.isEmpty();
    }

    /**
     * What waits to be told: that the replica is where the log is, where its copy is, or elsewhere; null for nothing.
     *
     * Of a replica that is none any more nothing counts: AssignmentsManager drops it before it sends, and before 3.9 the
     * controller refuses it, in 3.7.0 again and again (KAFKA-16886, KAFKA-17190).
     */
    String waiting(BrokerNode broker, Object log, Object copy) {
        Uuid ready = broker.isReplica() ? assignments.ready(broker.world.controller.topicId, broker.world.partition) : null;
        if (ready == null) return null;
        if (ready.equals(of(log, broker.base()))) return "log";
        return copy != null && ready.equals(ids.get(placeOf(copy, broker.base()))) ? "copy" : "elsewhere";
    }

    // ------------------------------------------------------------------------------------------------------- failures

    /** The directory with the log, or in which it was last, is taken out of log.dirs of a broker that is down. */
    void takeOut() {
        gone.add(ids.indexOf(last));
    }

    /** A directory that has failed can be read again. */
    void repair() {
        failed.clear();
    }

    /** The id of the directory of a log, which is noted; where there is none, of the directory in which it was last. */
    Uuid of(Object log, File base) {
        if (log != null) last = ids.get(placeOf(log, base));
        return last;
    }

    /** The place of the directory of a log. */
    int placeOf(Object log, File base) {
        String parent = (String) Reflect.call(log, "parentDir");
        return places(base).stream().map(File::getAbsolutePath).toList().indexOf(parent);
    }

    /** The path of a directory in which a log is not. */
    String other(Object log, File base) {
        return places(base).get((placeOf(log, base) + 1) % count).getAbsolutePath();
    }
}
