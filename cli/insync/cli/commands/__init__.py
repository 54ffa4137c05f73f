"""Internal: the commands, one file each: options, the call of the library's verb, the report.

The files of `insync kafka` begin with `kafka_`. A command is imported when it runs.
"""

from __future__ import annotations
