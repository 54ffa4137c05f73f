"""Internal: the quorum behind the controller, which elects a leader and replicates the metadata log by Raft.

What a server knows and does is that of `published.quorum`. `mail` is a network that forgets, for `kraft`, with
`restarts`, `resignations` and `prospects` (pre-votes). `kraft_853` has voters that come and go: `members`,
`member_elections`, `member_fetches`, `reconfiguration` (KIP-853).
"""
