"""Internal: losses of Kafka that anybody can bring about on a cluster of their own, as scripts."""
