"""Internal: what of the commands' output is neither of a verb nor of Kafka's classes.

`annotations` has annotations for GitHub and in SARIF, `refusals` has messages
for errors of the operating system, and `versions` the output of `insync --version`. `ask_report`, `ask_json`,
`availability_report`, `defects_report` and `finding_words` show the answers to Kafka's questions.
"""

from __future__ import annotations
