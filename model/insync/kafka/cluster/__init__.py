"""Internal: a cluster of a release of Kafka, with crashes, fencing, settings and eligible leader replicas.

`model` puts the actors together: `controller`, `leader`, `follower`, `broker`, `client`, `consumer` and the others,
each in a file with the Kafka classes that it stands for, over the state in `state`. docs/guide/changing-cluster.md
lays them beside Kafka's classes.
"""
