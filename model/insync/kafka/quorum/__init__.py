"""Internal: the quorum behind the controller, which elects a leader and replicates the metadata log by Raft."""
