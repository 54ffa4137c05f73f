"""Internal: the domains of fields, how their values lie in the cells of a state, and symbolic values.

`domain` is the base of all domains, with the parts of a domain and its cells (`Domain.parts`, `Domain.leaves`).
`scalars` has domains of one cell, `composite` records, arrays, options and absent fields, `containers` sequences, bags
and sets. `layout` packs the cells of a state into words, and `sorted_arrays`
changes the codes of a container. `sorts` has what parameters range over, `bounds` the bounds and settings of a model,
and `open_bounds` bounds that are left open. `values` are the symbolic values that an author of a model handles;
`symbolic` is their base, with the messages about Python that does not work on them.
"""
