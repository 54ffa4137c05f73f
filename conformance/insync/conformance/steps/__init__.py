"""Internal: one step on Kafka's classes: its commands, what is compared after it, where Kafka differs by nature."""
