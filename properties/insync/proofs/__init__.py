"""Proofs with z3: bounded checks, induction with lemmas, and finding lemmas.

The modules `bounded`, `induction` and `inference` import z3; the lemmas themselves do not need it.
"""

from __future__ import annotations
