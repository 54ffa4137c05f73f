"""Internal: data that driver and executors exchange, as rows of Spark and as files of a run directory.

`packets` has the rows that Spark moves, and how candidates become packets; `code_bundle` has the code that the driver
hands to tasks. `run_folder` reads and writes files of a run directory on one of the `file_systems`.
"""

from __future__ import annotations
