"""Engines and properties put to the test: do engines agree, would properties notice a broken protocol."""

from __future__ import annotations
