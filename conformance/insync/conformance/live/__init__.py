"""Internal: a real cluster of Kafka on this machine: its processes, their wire, and what a run of it shows.

`live_nodes` runs and watches processes, `live_cluster` puts a controller and brokers together, `live_quorum`
controllers alone. `proxies` see each frame and may hold it, `wire` decodes frames by the schemas in Kafka's jars,
`metadata_log` folds the controller's log, `metadata_frames` says what frames tell of a partition, and `broker_files`
reads the disk of a broker. `nodes` has the files of processes, `clients` Kafka's own clients, and `runs` recorded runs.
`operator` does what people do; `scenarios` are scripts of that. `levers` and `step_taking` take the steps of a trace
(`cluster_replay`). docs/adr/0012-real-brokers.md says why it is done so.
"""
