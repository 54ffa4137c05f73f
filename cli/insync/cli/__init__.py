"""Internal: the command `insync`, the only part of insync that prints, reads options and ends the process.

`start` and `main` are the entry point, `group` has the commands by name, and each command is a file in `commands/`.
`options/` has groups of options, `show/` the reports and JSON objects of results. `terminal` writes to the terminal and
has the exit codes, `progress` shows how far a search is, `interrupt` handles Ctrl-C during one. `faults` explains
exceptions. `completion` is what shells offer, and `rerun` is `--watch`. `exploring` is the prompt of `insync explore`.
`brokers_record` records runs on real brokers.
"""

from __future__ import annotations
