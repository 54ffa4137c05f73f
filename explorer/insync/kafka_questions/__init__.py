"""Public: what operators ask about Kafka, answered by searches of the model `cluster`.

`ask` has the answer for one cluster: `disturbances` are searched by name, `causes` says what is behind a broken
promise, `availability` when writes stop, and `liveness` what always happens in the end. `question` has the promises and
the limits. `configs` reads configuration files, and `cluster_settings` joins them with the command line. `defects`
searches an entry of the catalogue, `verification` many of them with their fixes, and `symptoms` finds entries by what
was seen. `controllers` says which releases have both controllers. `documents` shows answers as text and as JSON.
"""

from __future__ import annotations

from insync.kafka_questions.ask import ask as ask

__all__ = ["ask"]
