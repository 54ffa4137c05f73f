"""Internal: the models of Kafka and its known defects; `find_model` gives the models."""

from __future__ import annotations
