"""Internal: the properties of Kafka's models, and the lemmas that proofs of them use."""

from __future__ import annotations
