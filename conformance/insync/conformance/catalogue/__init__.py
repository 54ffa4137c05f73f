"""Internal: the catalogue of defects on versions of Kafka: its traces, what came of them, and what is on record.

`entry_traces` has the shortest trace of an entry under the rules of a release, and `rule_traces` traces for rules
without an entry. `catalogue_runs` runs entries on versions, `bisection` finds where that changes, and
`catalogue_record` keeps the outcome. `claim_evidence` says whether a change was seen on both sides of it, `reached` in
which rules the releases differ, and `brokers_table` how often brokers showed an entry. `vocabulary` has the names in
records that the model has changed since.
"""
