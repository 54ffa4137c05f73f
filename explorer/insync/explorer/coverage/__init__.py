"""Internal: coverage of a model's source by its reachable states, for the verb `why`.

`counts` makes the conditions to count for guards, branches, assignments, fields, premises and properties; machine code
counts the states that meet them. `results` has the counts by source span, and `source_page` shows them as a page.
"""
