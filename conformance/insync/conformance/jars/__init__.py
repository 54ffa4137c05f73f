"""Internal: the jars of Kafka's releases: which they are, where they come from, and where they are kept."""
