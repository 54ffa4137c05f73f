"""Internal: generators of LLVM IR, which make the text of all machine code.

`builder` writes IR with structured control flow, `memory` reads and writes packed states, and `lowering` turns nodes
of the expression graph into instructions. `masks` evaluates conditions on a batch of states, and `transitions` takes
steps. `expanding`, `conditions` and `walking` are the kernels of a program. `hash_table`, `quotient_table`, `collapse`
and `external_sort` are those of the stores. With symmetry, `canonical` makes representatives: `member_orders` and
`sorting_networks` order members, `containers` orders bags and sets.
"""

from __future__ import annotations
