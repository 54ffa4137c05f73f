"""Internal: what Kafka itself does with the steps of a model.

The jars of its releases are fetched and kept (`jars`), driven one step at a time (`classes`), and compared with the
model after each (`replay`, with `steps`; `slow_alone` makes a trace that Kafka can take). `given_trace` finds the trace
that is meant. `correspondence` has what the cluster and the quorum share. `comparing` takes many steps on both sides,
`quorum` does the same for Kafka's Raft client, `catalogue` runs the defects on every version, and `patches` puts fixes
into Kafka's sources. `live` runs real brokers, on which `cluster_replay` takes the steps of a trace. `documents` shows
results. `pytest_kafka` and `kafka_machine` are for tests, `own_folder` is a folder of a process, and `pinning`,
`cluster_pinning`, `quorum_pinning` and `unit_test_pinning` write the lists of jars. docs/guide/kafka.md is the guide.
"""
