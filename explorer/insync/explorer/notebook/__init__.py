"""Internal: results as HTML, for notebooks.

`html_of` renders each kind of result, from the elements in `pieces`; `drawn` renders a trace as a picture.
"""
