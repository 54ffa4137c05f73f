"""Internal: results as text, as JSON and as HTML for a notebook, a module for each verb.

`document` says what each of them has. `text`, `html` and `traces` have what several share, and `models`
shows models with their bounds and settings.
"""
