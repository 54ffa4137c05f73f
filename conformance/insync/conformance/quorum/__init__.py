"""Internal: Kafka's own Raft client beside the model of the quorum.

`beside_kafka` has the bounds for each release, and `kraft_beside` says how the model and Kafka correspond: which
command a step is (`quorum_steps`), and which facts are compared (`quorum_facts`). `quorum_harness` runs Kafka's
clients, `quorum_seen` is what they show, and `quorum_self_check` takes every command once. `conform_quorum` compares
many steps: `quorum_pair` takes them on both sides, and the walks are those of `comparing`. The Java is in
`classes/quorum_java`, in Kafka's package, as what it needs is visible there alone.
"""
