"""Internal: what Kafka itself does with the steps of a model.

The jars of its releases are fetched and kept (`jars`), driven one step at a time (`classes`), and compared with the
model after each (`replay`). docs/guide/kafka.md is the guide.
"""
