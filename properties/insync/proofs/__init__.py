"""Internal: proofs with z3, by bounded checks, by induction with lemmas, and by finding lemmas.

The modules `bounded`, `induction` and `inference` import z3; the lemmas themselves do not need it.
"""

from __future__ import annotations
