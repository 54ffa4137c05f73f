"""Internal: the catalogue of defects on versions of Kafka: its traces, what came of them, and what is on record."""
