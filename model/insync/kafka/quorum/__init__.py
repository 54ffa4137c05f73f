"""Internal: the quorum behind the controller, which elects a leader and replicates the metadata log by Raft.

`voter` is what a server knows, `voter_log`, `transitions`, `elections` and `fetches` what it does. `kraft_published`
has the network of the published module; `mail` one that forgets, for `kraft`, with `restarts`, `resignations` and
`prospects` (pre-votes). `kraft_996` has the elections of KIP-996 in `pre_votes`. `kraft_853` has voters that come and
go: `members`, `member_elections`, `member_fetches`, `reconfiguration` (KIP-853). `kraft_996_published` and
`kraft_853_published` also have what TLC counts states by.
"""
