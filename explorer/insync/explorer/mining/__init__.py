"""Internal: mining of lemmas, by counterexample-guided synthesis over a model's own conditions.

`source_conditions` reads the conditions in the text of a model's methods, and `grammar` adds those of its schema.
`clauses` makes candidates of these atoms, and finds the candidates that no state of a small instance refutes.
`synthesis` chooses candidates by the counterexamples to induction of z3. See docs/adr/0017-mined-lemmas.md.
"""
