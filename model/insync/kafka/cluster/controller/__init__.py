"""Internal: what the controller decides, each part in a file with the Kafka classes that it stands for."""
