"""Public: what operators ask about Kafka, answered by searches of the model `cluster`.

`ask` has the promises, the question and the matrix of settings; `disturbances` how many failures break a promise or
stop writes, and what would help; `exposure` joins several combinations of settings; `defects` searches an entry of the
catalogue with and without its fix.
"""

from __future__ import annotations

from insync.kafka_questions.ask import ask as ask

__all__ = ["ask"]
