"""A cluster of a release of Kafka: the protocol with crashes, fencing, settings and eligible leader replicas."""
