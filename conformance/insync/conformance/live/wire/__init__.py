"""Internal: Kafka's protocol, as the schemas in Kafka's own jars describe it."""
