"""Internal: proofs by induction for all values of open bounds; importing this package imports z3."""

from __future__ import annotations

from insync.proofs.unbounded.induction import check_all_bounds

__all__ = ["check_all_bounds"]
