"""Internal: results as text and as JSON.

A file `..._report` has the text of one command, and `..._json` its JSON. `report` and `statistics` have the text of a
search, `as_json` its JSON, `annotations` its annotations for GitHub and in SARIF. `models` and `choices` show models
with their bounds and settings. `trace_files` and `pages` write traces. `figures` formats numbers, `outcomes` and
`finding_words` have words for results on Kafka and for findings, and `seen_on_kafka` the record of an entry on Kafka.
`warned` formats warnings, `refusals` errors of the operating system, `versions` the output of `insync --version`.
"""

from __future__ import annotations
