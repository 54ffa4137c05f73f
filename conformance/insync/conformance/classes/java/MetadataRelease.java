package insync.harness;

import moved.MetadataVersion;

/** What this release of Kafka writes into its metadata. */
final class MetadataRelease {
    static final String ELR = "eligible.leader.replicas.version";

    private static volatile boolean unstable;

    private MetadataRelease() { }

    /** Whether new clusters of this release keep eligible leader replicas. */
    static boolean elrByDefault() {
        Class<?> feature = Reflect.classOrNull("org.apache.kafka.server.common.Feature"); // since 4.0
        if (feature == null) return false;
        Object replicas = Reflect.getStatic(feature, "ELIGIBLE_LEADER_REPLICAS_VERSION");
        return ((Number) Reflect.call(replicas, "defaultLevel", stable())).intValue() > 0;
    }

    /** Lets {@link #latest} be the newest of all where eligible leader replicas are wanted and no stable one has them. */
    static void choose(boolean elr) {
        boolean known = Reflect.methods(MetadataVersion.class, "isElrSupported", 0).isEmpty()
            || (boolean) Reflect.call(stable(), "isElrSupported");
        unstable = elr && !known;
    }

    /** The metadata version of the cluster: the newest that this release calls stable, if that will do. */
    static MetadataVersion latest() {
        return unstable ? (MetadataVersion) Reflect.callStatic(MetadataVersion.class, "latestTesting") : stable();
    }

    private static MetadataVersion stable() {
        if (!Reflect.methods(MetadataVersion.class, "latestProduction", 0).isEmpty()) {
            return (MetadataVersion) Reflect.callStatic(MetadataVersion.class, "latestProduction");
        }
        return (MetadataVersion) Reflect.getStatic(MetadataVersion.class, "LATEST_PRODUCTION");
    }
}
