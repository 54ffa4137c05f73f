"""Internal: fixes of Kafka as patches, and Kafka's released jars with one of them in."""
