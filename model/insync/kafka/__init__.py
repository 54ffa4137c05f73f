"""Internal: the models of Kafka and its known defects; `find_model` gives the models.

Only the public vocabulary of `insync.model` is used here, as users imitate these models. `published` has the variants
up to Kafka 2.1 and KIP-497, `cluster` the present protocol, `quorum` the quorum behind the controller, `groups`
consumer groups, `defects` the catalogue. `releases` names what releases do their own way, which release changed what,
and what the fix of a finding changes; `placement` is where replicas of a new topic are put. `replica` has the replicas
of a partition, and `beside` what happens to the others in a rule about one of them. `cluster` and `quorum` share
`typed_state`, the classes that declare a state, and `live_rules`, what is in force and why.
"""

from __future__ import annotations
