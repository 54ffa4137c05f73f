"""Internal: conditions and numbers as a hash-consed graph.

`graph` has the nodes, the closed set of operations, and `fold`, the pass over an expression. `semantics` has the
meaning of each operation on plain values, `simplify` the rules by which nodes are made, and `intervals` the analysis
that shows that an assignment fits its field. `store` is the symbolic state of an action while it is traced, and
`lifted` has actions for all values of their parameters. `source` records the source spans of guards, branches,
assignments and premises.
"""
