"""Internal: a cluster of a release of Kafka, with crashes, fencing, settings and eligible leader replicas."""
