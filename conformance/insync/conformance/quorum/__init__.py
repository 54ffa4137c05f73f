"""Internal: Kafka's own Raft client beside the models of the quorum."""
