"""Internal: a real cluster of Kafka on this machine: its processes, their wire, and what a run of it shows."""
