"""Internal: the driver's part of a search on Spark.

`check`, `simulate` and `export` are the verbs. `warm_start` searches the first levels here. Then `search` plans jobs of
one or several levels and adds up what they found, and `jobs` runs them. `lease` keeps a second driver out of the run
directory.

`session` finds or starts a SparkSession, `workers` starts its Python workers meanwhile, `requirements` tests what is
installed, and `ship` sends insync to workers.
"""

from __future__ import annotations
