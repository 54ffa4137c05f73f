"""Internal: what a broker does with the partition, each part in a file with the Kafka classes that it stands for."""
