"""Internal: results as HTML, for notebooks: `html_of` has a page for each kind, `pieces` what these are made of."""
