"""Internal: the command `insync`, the only part of insync that prints, reads options and ends the process.

`start` and `main` are the entry point, and `group` has the commands by name; they are in `commands/`, and their groups
of options in `options/`. `terminal` writes to the terminal and has the exit codes, `progress` shows how far a search
is, and handles Ctrl-C during one. `faults` explains exceptions, `annotations` shows results to builds (GitHub,
SARIF), `versions` the versions of insync and its tools. `completion` is what shells offer, `rerun` is `--watch`, and
`exploring` is the prompt of `insync explore`.
"""

from __future__ import annotations
