"""Internal: the model `kraft`, the quorum behind the controller, put together of parts.

A part has the name of the Kafka class that it stands for, or of what several of them do, and reaches the others by
their names in `Kraft`. A rule is found by the method of Kafka that its docstring cites.

- `sorts`: servers, values, epochs, and how large a log can be; `state`: every field of the state, with its sentence;
  `quorum_model`: what all models of the quorum share.
- `options`: bounds, settings, and features: what is in force, decided in one place. `rules`: what a release does its
  own way, what no release does, and what all do alike, which entries of the catalogue take away.
- `replicated_log`, `voter_set`, `quorum_state`: a server's log, the voters by it, and the transitions of its state.
- `elections`, `pre_votes`, `fetching`, `restarts`, `reconfiguration`: the steps.
- `request_manager`: what is on its way, and what of it is forgotten. `part`: what all parts have in common.

Steps that change what a server is end with `Kraft.settle`: it forgets what the server needs no more, so that states
differ only where somebody can notice it. `Fetching.handle_fetch` changes only up to where a leader takes others to have
its log, so it does not call that. Most of the generated code is of this step: a copy for each fetch that there can be.

To try a change, find the step or the condition by the method of Kafka that it cites, and change it there. A subclass of
`Kraft` in a file of one's own does it as well, with parts of one's own: `elections = part(MyElections)`. No timeout has
a length: a server that waits may do so for any time, so another length is another condition of the step that ends it.

To keep both ways, add a line to a class of `rules`, which a part reads as `self.rules`: to the release's rules what
releases differ in, to the guards what all have, to the fixes what none has. An entry of the catalogue that takes a
guard away goes into `defects.voting`, and its name leaves `defects.left_out`. A rule that is on by default changes
counts: tests/kafka/quorum and tests/parity have them, and `make records` renews tests/digests.json.

Not there: snapshots (KafkaRaftClient.handleFetchSnapshotRequest), UpdateRaftVoter (handleUpdateVoterRequest), and the
timers, check-quorum's among them (LeaderState.timeUntilCheckQuorumExpires): `Elections.resign` may come at any time.

The published module of KIP-595 is `published.quorum`. It shares `sorts`, `quorum_model` and `grid` with this alone, so
a rule that changes here leaves it as TLC has judged it.
"""
