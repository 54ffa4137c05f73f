"""Internal: a cluster of a release of Kafka, with crashes, fencing, settings and eligible leader replicas.

`model` puts the parts together: what the `controller` decides, what a `broker` does, and what `clients` are told, each
part in a file with the Kafka classes that it stands for. `configuration` has the settings and budgets, `features` what
is in force under them, `state` and `broker_state` the state. docs/guide/changing-cluster.md lays the parts beside
Kafka's classes.
"""
