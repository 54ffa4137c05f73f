"""Internal: proofs by induction for all values of open bounds (parameterized verification: Apt and Kozen 1986).

`open_model` leaves bounds open, `terms` translates expressions, `transition_system` makes states and steps, and
`induction` calls z3 and concludes.
Importing this package imports z3. See docs/adr/0016-open-bounds.md.
"""

from __future__ import annotations

from insync.proofs.unbounded.induction import check_all_bounds

__all__ = ["check_all_bounds"]
