"""Internal: output of commands that shows no result.

`annotations` has annotations for GitHub and in SARIF, `refusals` messages for errors of the operating system, and
`versions` the output of `insync --version`.
"""

from __future__ import annotations
