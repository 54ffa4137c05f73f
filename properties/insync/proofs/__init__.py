"""Internal: proofs with z3.

`bounded` looks for violations up to a depth. `k_induction` proves that conditions hold in every reachable state;
`obligations` are its questions about steps. `houdini` finds the largest inductive subset of candidates. `equivariance`
compares parts of a model under permutations of members, by normal form and, with `sameness`, by z3. `results` has the
verdicts, and `proof_file` their file format. `smt` has a model at fixed bounds in z3, and `unbounded` proves for all
values of open bounds. All but `equivariance`, `results` and `proof_file` import z3.
"""

from __future__ import annotations
