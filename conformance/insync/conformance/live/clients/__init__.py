"""Internal: clients of Kafka's own, run as processes beside a cluster."""
