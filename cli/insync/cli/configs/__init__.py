"""Internal: what brokers and topics are configured with, read from Kafka's files and from what its tools print."""
