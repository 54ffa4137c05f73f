"""Internal: a cluster of a release of Kafka, with crashes, fencing, settings and eligible leader replicas.

`model` puts the parts together: what the `controller` decides, what a `broker` does, and what `clients` are told, each
`part` in a file with the Kafka classes that it stands for. `configuration` has the settings and budgets, beside
`presets`, `former_names` and `remarks`; `features` is what is in force under them. `state` and
`broker_state` are the state, by `typed_state` and `indices`, and `metadata_image` what a broker believes of it. `steps`
has what a step says of itself; `grid`, `drawing`, `demands` and `guard_words` show states, steps, traces and guards.
docs/guide/changing-cluster.md lays the parts beside Kafka's classes.
"""
