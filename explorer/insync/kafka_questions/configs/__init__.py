"""Internal: Kafka's configuration, read from files that operators have, as settings of the model `cluster`."""
