"""Internal: Kafka's own Raft client beside the models of the quorum.

`beside_kafka` has the model for each release, and a `correspondence` says how the two correspond: `kraft_beside` for
voters that stay, with `quorum_steps` and `quorum_facts`; `members_beside` for voters that come and go, with
`member_steps`, `member_facts` and `late_answers`, and `pre_vote_steps` where pre-votes are part of a timeout.
`quorum_harness` runs Kafka's clients, `quorum_seen` is what they show, with `pre_vote_facts`, and `quorum_self_check`
takes every command once. `conform_quorum` compares many steps: `quorum_pair` takes them on both sides, and the walks
are those of `comparing`. The Java is in `classes/quorum_java`, in Kafka's package, as what it needs is visible there
alone.
"""
