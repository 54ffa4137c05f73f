"""Internal: the driver's part of a search on Spark.

`check`, `simulate` and `export` are the verbs, and `prepare` makes Spark start faster. `warm_start` searches the first
levels here. Then `search` plans jobs of one or several levels, `jobs` runs them, and `ledger` adds up what they found.
`manifest` and `lease` are the driver's files in the run directory; `releasing` frees the tables of executors.

`session` finds or starts a SparkSession: `own_session` with its JVM in `jvm`, which `class_archive` starts faster.
`requirements` tests what is installed, and `ship` sends insync to the workers.
"""

from __future__ import annotations
