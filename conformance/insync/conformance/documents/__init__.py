"""Internal: results on Kafka's classes and brokers as text and as JSON, a module for each command.

`jars`, `replay`, `bisect`, `claims`, `conform`, `cluster`, `patch` with `unit_tests`, and `runs` are of the commands of
`insync kafka`, and `catalogue` is of `replay --all`. `seen` has the record of an entry of the catalogue on Kafka, and
`outcomes` words for recorded runs. `json_types` has the types of JSON.
"""
