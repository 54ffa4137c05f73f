package insync.harness;

import moved.MetadataVersion;

/** What this release of Kafka writes into its metadata. */
final class MetadataRelease {
    static final String ELR = "eligible.leader.replicas.version";

    private MetadataRelease() { }

    /** The newest metadata version that this release calls stable. */
    static MetadataVersion latest() {
        if (!Reflect.methods(MetadataVersion.class, "latestProduction", 0).isEmpty()) {
            return (MetadataVersion) Reflect.callStatic(MetadataVersion.class, "latestProduction");
        }
        return (MetadataVersion) Reflect.getStatic(MetadataVersion.class, "LATEST_PRODUCTION");
    }
}
