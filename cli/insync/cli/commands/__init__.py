"""Internal: the commands: options, the call of the library's verb, the report.

`searches` has `check`, `simulate`, `liveness` and `why`; `proofs` has `prove`; `comparisons` has `diff`, `agree` and
`mutate`; `traces` has `replay`, `report`, `explore` and `export`; `models` has `list`; `ask`, `defects`, `describe` and
`spark` have themselves. `kafka` is the group `insync kafka`, and the other files of it are `kafka_conform`,
`kafka_replay` (with `bisect`, `claims` and `patch`) and `kafka_cluster` (with `scenario`, `record` and `validate`). A
file is imported when one of its commands runs.
"""

from __future__ import annotations
