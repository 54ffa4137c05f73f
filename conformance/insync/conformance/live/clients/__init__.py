"""Internal: clients of Kafka's own, run as processes beside a cluster.

`reading_consumer` is Kafka's consumer, which reads a topic from its beginning.
"""
