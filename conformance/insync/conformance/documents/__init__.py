"""Internal: results on Kafka's classes and brokers as text and as JSON, a module for each command.

`seen` has the record of an entry of the catalogue on Kafka, and `outcomes` words for recorded runs.
"""
