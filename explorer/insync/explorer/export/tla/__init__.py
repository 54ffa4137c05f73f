"""Internal: a model as a TLA+ module, from the graph to text, and back from the traces of other checkers.

`module` puts the module and its configurations together. Its parts are written by `actions` (operators of actions) and
`properties` (Init and properties), which share a `context`: names, bound variables, values of several cells. `reads`
makes the reads of an action those of the state before the step. `state` maps cells to paths in records and functions,
and `values` gives the values of one cell in TLA+. `translation` maps nodes to `terms` by a rule for each operation in
`rules`, and `printing` writes terms as text. `foreign_traces` reads the traces of TLC and Apalache.
"""

from __future__ import annotations
