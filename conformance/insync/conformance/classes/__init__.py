"""Internal: Kafka's own classes, one step at a time: the harness in `java`, its build, and its process."""
