"""Internal: one step on Kafka's classes: its commands, what is compared after it, where Kafka differs by nature.

`cluster_correspondence` puts them together. `schedule` has the commands of each action; `isr_requests`,
`producer_steps`, `consumer_steps`, `directory_steps` and `checkpoint_steps` those that take several. `commands` gives
them, and `named_brokers` has the brokers that they name. `likeness` puts Kafka's state into the words of the model,
`comparison` compares both, and `pair` takes a step on both sides. `known_after` has the known differences after a step,
and `known_reasons` those that show while it is taken;
`gaps`, `directory_gaps`, `unassigned_gaps`, `deletion_gaps`, `isr_expansions` and `out_of_range` decide where they
apply. `forbidden` tries what the model forbids, and `going_round` whether Kafka stays in the loop of a run.
"""
