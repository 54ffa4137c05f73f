"""Internal: the driver's part of a search on Spark.

`check`, `simulate` and `export` are the verbs. `warm_start` searches the first levels here. Then `search` plans jobs of
one or several levels, `jobs` runs them, and `ledger` adds up what they found. `manifest` and `lease` are the driver's
files in the run directory.

`session` finds or starts a SparkSession, `requirements` tests what is installed, and `ship` sends insync to workers.
"""

from __future__ import annotations
