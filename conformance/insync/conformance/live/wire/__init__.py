"""Internal: Kafka's protocol, as the schemas in Kafka's own jars describe it.

`message_schemas` reads the schemas, and `message_codec` writes and reads messages by them. `request_frames` has what
stands before a message, `record_batches` records on disk and on the wire, and `connection` a client's connection to a
broker.
"""
