"""Internal: one step on Kafka's classes: its commands, what is compared after it, where Kafka differs by nature.

`schedule` has the commands of each action; `isr_requests`, `producer_steps`, `consumer_steps`, `directory_steps` and
`checkpoint_steps` those that take several. `likeness` puts Kafka's state into the words of the model, `comparison`
compares both, and `pair` takes a step on both sides. `gaps`, `directory_gaps`, `session_gaps` and `unassigned_gaps`
are the known differences, each under its own condition; `outside` is what the harness has not got. `forbidden` tries
what the model forbids, and `going_round` whether Kafka stays in the loop of a run.
"""
