"""Internal: the module KRaft of Vanlightly/raft-tlaplus (KIP-595) to the letter, for comparison with TLC.

`voter` is what a server knows, `voter_log`, `transitions`, `elections` and `fetches` what it does, and
`kraft_published` has the module's network.
"""
